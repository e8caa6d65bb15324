# SPDX-License-Identifier: Apache-2.0
"""The HPE host side: an empty kernel, loading a module, copies against numpy's."""

import os
import subprocess
import tempfile
import time

import numpy as np
from harness import ns_per_call, ratio_of, value_of

import hpe.hpert.api as hpe

SOURCE = """extern "C" {
void nothing() {}
void fill(int *out, int num) { for (int i = CoreID; i < num; i += CoreNum) out[i] = i; }
}
"""
BYTES = 64 << 20


def compile_module(build):
    """The bytes of a small device program; None without the device compiler."""
    tools = os.path.join(build, "bin")
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "small.cc"), "w") as file:
            file.write(SOURCE)
        commands = [
            [os.path.join(tools, "stc-clang++"), "--target=riscv32npu", "-O2", "-c", "small.cc"],
            [os.path.join(tools, "stc-ld.lld"), "-flavor", "gnu", "small.o",
             "/usr/local/hpe/riscv32npu/lib/libnpurt_hld.a", "-r", "-o", "small-fatbin.o"],
        ]
        for command in commands:
            if subprocess.run(command, cwd=folder, capture_output=True).returncode != 0:
                return None
        with open(os.path.join(folder, "small-fatbin.o"), "rb") as file:
            return file.read()


def milliseconds(body):
    begin = time.perf_counter()
    body()
    return (time.perf_counter() - begin) * 1e3


def rows(report):
    image = compile_module(os.path.abspath(report.build))
    if image is None:
        report.skip("HPE host side", "clang 19 is missing")
        return
    hpe.synchronize()  # the cluster is made
    with tempfile.TemporaryDirectory() as folder:  # an empty cache
        before = os.environ.get("ASCEND_CACHE_PATH")
        os.environ["ASCEND_CACHE_PATH"] = folder
        report.add("HPE: first load of a small module, LLVM opened and kernels translated", 100,
                   "ms", milliseconds(lambda: hpe.module(image)))
        if before is None:
            del os.environ["ASCEND_CACHE_PATH"]
        else:
            os.environ["ASCEND_CACHE_PATH"] = before
    report.add("HPE: load of a small module again", 10, "ms",
               value_of(lambda: milliseconds(lambda: hpe.module(image))))
    module = hpe.module(image)

    def launch():
        module.launch_kernel("nothing")
        hpe.synchronize()

    report.add("HPE: launch and synchronize of an empty kernel, 8 NPCs, from Python", 25, "us",
               value_of(lambda: ns_per_call(500, launch) / 1e3))
    host, other = hpe.host_mem((BYTES,), np.uint8), np.ones(BYTES, np.uint8)
    host[:] = 1
    memory = hpe.device_mem(BYTES)
    memory.copy_from_host(host)
    for what, copy in (("to", memory.copy_from_host), ("from", memory.copy_to_host)):
        measured = ratio_of(lambda copy=copy: ns_per_call(1, copy, host),
                            lambda: ns_per_call(1, np.copyto, other, host), pairs=21)
        report.add(f"HPE: 64 MiB copy {what} the device, against numpy", 1.1, "x", measured)
