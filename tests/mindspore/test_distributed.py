# SPDX-License-Identifier: Apache-2.0
"""Processes that msrun starts, over HCCL."""
import os
import subprocess
import sys

import pytest

PROGRAM = """
import mindspore as ms, numpy as np, sys
from mindspore import Tensor, mint, nn, ops
from mindspore.communication import init, get_rank, get_group_size
ms.set_device("Ascend")
init("hccl")
rank, size = get_rank(), get_group_size()
x = Tensor(np.full((3, 4), rank + 1, np.float32))
total = ops.AllReduce()(x).asnumpy()
assert (total == size * (size + 1) / 2).all(), total
gathered = ops.AllGather()(x).asnumpy()
assert gathered.shape == (3 * size, 4) and gathered[-1, 0] == size, gathered
part = ops.ReduceScatter()(Tensor(np.arange(size * 2, dtype=np.float32))).asnumpy()
assert (part == size * np.arange(rank * 2, rank * 2 + 2)).all(), part
sent = ops.Broadcast(0)((Tensor(np.full(4, rank + 7, np.float32)),))[0].asnumpy()
assert (sent == 7).all(), sent
from mindspore.mint import distributed as dist
y = Tensor(np.full(5, rank, np.float32))
dist.all_reduce(y)
assert (y.asnumpy() == size * (size - 1) / 2).all(), y
dist.barrier()
net = nn.Dense(4, 2, weight_init="ones", bias_init="zeros")
update = nn.SGD(net.trainable_params(), 0.1)
slopes = ms.value_and_grad(lambda a: net(a).sum(), None, update.parameters)
mean = nn.DistributedGradReducer(update.parameters, True, size)
loss, gradients = slopes(x)
update(mean(gradients))
open(f"{sys.argv[1]}/rank{rank}", "w").write(repr(net.weight.asnumpy().tolist()))
"""


@pytest.mark.parametrize("count", [2, 4])
def test_collectives_and_a_step_of_data_parallel_training(tmp_path, count):
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    folder = os.path.dirname(sys.executable)  # msrun starts the python of the path
    environment = {**os.environ, "PATH": folder + os.pathsep + os.environ["PATH"]}
    port = str(20000 + os.getpid() % 20000 + count)
    done = subprocess.run([os.path.join(folder, "msrun"), f"--worker_num={count}",
                           f"--local_worker_num={count}", "--join=True",
                           f"--master_port={port}", f"--log_dir={tmp_path}/logs", str(path),
                           str(tmp_path)],
                          capture_output=True, text=True, timeout=600, cwd=tmp_path,
                          env=environment)
    logs = "".join(p.read_text(errors="replace")[-3000:]
                   for p in sorted(tmp_path.glob("logs/worker_*.log")))
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:] + logs
    weights = {(tmp_path / f"rank{rank}").read_text() for rank in range(count)}
    assert len(weights) == 1, "every process has the same parameters after the step"
