# SPDX-License-Identifier: Apache-2.0
"""Compiles product.cc, multiplies matrices on a cluster of eight NPCs, compares with numpy, and
prints what the units did. Run it after `eval "$(anynpu env)"`:  python examples/hpe/product.py"""
import os
import subprocess
import tempfile

import numpy as np

import hpe.hpert.api as hpe
import hpe.profiler.api as prof

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "product.cc")
LIBRARY = "/usr/local/hpe/riscv32npu/lib/libnpurt_hld.a"


def build():
    """The device program as bytes; -g lets the run-time check parameters and show lines."""
    with tempfile.TemporaryDirectory() as folder:
        for command in (["stc-clang++", "--target=riscv32npu", "-O2", "-g", "-c", SOURCE, "-o",
                         "product.o"],
                        ["stc-ld.lld", "-flavor", "gnu", "product.o", LIBRARY, "-r", "-o",
                         "product-fatbin.o"]):
            subprocess.run(command, cwd=folder, check=True)
        with open(os.path.join(folder, "product-fatbin.o"), "rb") as file:
            return file.read()


def on_device(array):
    memory = hpe.device_mem(array.nbytes)
    memory.copy_from_host(array)
    return memory


def main():
    random = np.random.default_rng(1)
    m, k, n = 100, 48, 64
    a = random.standard_normal((m, k)).astype(np.float16)
    b = random.standard_normal((k, n)).astype(np.float16)
    module = hpe.module(build())
    there, other = on_device(a), on_device(b)
    product, largest = hpe.device_mem(4 * m * n), hpe.device_mem(4)
    prof.init()
    prof.enable()
    stream = hpe.stream()
    module.launch_kernel("product", [product, there, other, m, k, n, largest], stream)
    stream.synchronize()
    prof.disable()
    got, most = np.empty((m, n), np.float32), np.empty(1, np.float32)
    product.copy_to_host(got)
    largest.copy_to_host(most)
    want = a.astype(np.float64) @ b.astype(np.float64)
    print(f"largest difference from numpy: {abs(got - want).max():.2g}")
    print(f"largest element: {most[0]:.4f} of {got.max():.4f}")
    for kernel in prof.get_perf_datas():
        for core, events in enumerate(kernel.npc):
            print(f"{kernel.name} NPC {core}: {events['MME_INST']} matrix instructions in "
                  f"{events['MME_CYCLE']} modelled cycles, {events['SYN_INST']} sync")
    prof.release()
    try:
        module.launch_kernel("product", [product, there, other, m, k, 2.5, largest])
    except hpe.CruntimeException as error:
        print(error)


if __name__ == "__main__":
    main()
