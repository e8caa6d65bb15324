# SPDX-License-Identifier: Apache-2.0
"""HcclAllReduce between two processes against gloo's all_reduce through torch, in turns: one number
for latency, 64 MiB for bandwidth. torch is that of `make test-torch` (.venv-torch)."""

import os
import socket
import subprocess
import tempfile

from harness import ratio_of, value_of

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
ROOT = os.path.dirname(HERE)
TORCH = os.path.join(ROOT, ".venv-torch", "bin", "python")
PAIRS = 21


class Two:
    """Two rank processes that answer lines "BYTES TIMES" with seconds."""

    def __init__(self, ranks):
        self.ranks = ranks

    def seconds(self, size, times):
        for rank in self.ranks:
            rank.stdin.write(f"{size} {times}\n")
            rank.stdin.flush()
        return max(float(rank.stdout.readline()) for rank in self.ranks)

    def end(self):
        for rank in self.ranks:
            rank.stdin.close()
        for rank in self.ranks:
            rank.wait(30)


def start(*command, **env):
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                            env={**os.environ, **env})


def hccl_ranks(build, folder):
    program = os.path.join(folder, "rank")
    subprocess.run(["gcc", "-std=gnu11", "-O2", os.path.join(HERE, "hccl", "rank.c"), "-o", program,
                    f"-I{build}/include", f"-L{build}/lib", "-lhccl", "-lascendcl",
                    f"-Wl,-rpath,{os.path.abspath(build)}/lib"], check=True)
    first, second = start(program, "0"), start(program, "1")
    second.stdin.write(first.stdout.readline())
    second.stdin.flush()
    return Two([first, second])


def gloo_ranks():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    return Two([start(TORCH, os.path.join(HERE, "hccl", "gloo_rank.py"), str(rank), str(port),
                      TORCH_DEVICE_BACKEND_AUTOLOAD="0") for rank in (0, 1)])


def rows(report):
    with tempfile.TemporaryDirectory() as folder:
        ours = hccl_ranks(report.build, folder)
        cases = (("8 bytes", 8, 200, 1.0), ("64 MiB", 64 << 20, 1, 1.25))
        if not os.path.exists(TORCH):
            for name, size, times, _ in cases:
                report.add(f"hccl: AllReduce of {name}, two processes", None, "us",
                           value_of(lambda s=size, t=times: ours.seconds(s, t) * 1e6))
            report.skip("hccl: AllReduce against gloo", "no .venv-torch; run make test-torch")
            ours.end()
            return
        gloo = gloo_ranks()
        for name, size, times, limit in cases:
            measured = ratio_of(lambda s=size, t=times: ours.seconds(s, t),
                                lambda s=size, t=times: gloo.seconds(s, t), PAIRS)
            own = value_of(lambda s=size, t=times: ours.seconds(s, t) * 1e6, 5)
            report.add(f"hccl: AllReduce of {name}, two processes", limit, "x gloo", measured,
                       f"{own.median:.1f} us")
        ours.end()
        gloo.end()
