# SPDX-License-Identifier: Apache-2.0
"""torch.distributed over hccl: collectives, and DistributedDataParallel with 2 and 4 processes."""
import functools
import json
import os
import socket
import subprocess
import sys

import pytest

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "distributed_program.py")


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


@functools.lru_cache(None)
def results_of(size):
    """What each process of a group prints, by rank."""
    group = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port()), "WORLD_SIZE": str(size)}
    processes = [subprocess.Popen([sys.executable, PROGRAM], text=True, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE,
                                  env={**os.environ, **group, "RANK": str(rank),
                                       "LOCAL_RANK": str(rank), "OMP_NUM_THREADS": "1"})
                 for rank in range(size)]
    found = []
    try:
        for process in processes:
            out, errors = process.communicate(timeout=300)
            assert process.returncode == 0, errors[-3000:]
            found.append(json.loads(out.splitlines()[-1]))
    finally:
        for process in processes:
            process.kill()
    return sorted(found, key=lambda result: result["rank"])


@pytest.mark.parametrize("size", [2, 4])
def test_training_together_equals_one_process_with_the_joint_batch(size):
    expected = results_of(1)[0]["losses"]
    for result in results_of(size):
        assert result["losses"] == pytest.approx(expected, rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("size", [2, 4])
def test_collectives(size):
    for rank, result in enumerate(results_of(size)):
        found = result["collectives"]
        assert found["sum"] == [size * (size + 1) / 2] * 5
        assert found["max"] == [size] * 3
        assert found["broadcast"] == [size - 1] * 2
        assert found["gather"] == [float(r) for r in range(size) for _ in range(2)]
        assert found["reduce_scatter"] == [size * 2. * rank, size * (2. * rank + 1)]
        assert found["all_to_all"] == [10. * other + rank for other in range(size)]
    assert results_of(size)[1]["collectives"]["received"] == [0, 1, 2, 3]
