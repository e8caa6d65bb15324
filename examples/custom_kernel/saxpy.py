# SPDX-License-Identifier: Apache-2.0
"""Compiles saxpy.cc, launches it from pyACL on a stream and compares with numpy."""
import os
import struct
import subprocess
import tempfile

import numpy as np

import acl

HERE = os.path.dirname(os.path.abspath(__file__))
LIBRARY = "/usr/local/hpe/riscv32npu/lib/libnpurt_hld.a"
CORES, TO_DEVICE, TO_HOST = 8, 1, 2


def check(ret, what):
    if ret != 0:
        raise SystemExit(f"{what} failed with {ret}: {acl.get_recent_err_msg()}")


def checked(result, what):
    check(result[-1], what)
    return result[0]


def compiled(folder):
    """The kernel's object; -g lets the launch check the types of the arguments."""
    for command in (["stc-clang++", "--target=riscv32npu", "-O2", "-g", "-c", f"{HERE}/saxpy.cc",
                     "-o", "saxpy.o"],
                    ["stc-ld.lld", "-flavor", "gnu", "saxpy.o", LIBRARY, "-r", "-o",
                     "saxpy-fat.o"]):
        subprocess.run(command, cwd=folder, check=True)
    return os.path.join(folder, "saxpy-fat.o")


def to_device(array):
    address = checked(acl.rt.malloc(array.nbytes, 0), "malloc")
    check(acl.rt.memcpy(address, array.nbytes, acl.util.numpy_to_ptr(array), array.nbytes,
                        TO_DEVICE), "memcpy")
    return address


def main():
    check(acl.init(), "init")
    check(acl.rt.set_device(0), "set_device")
    stream = checked(acl.rt.create_stream(), "create_stream")
    with tempfile.TemporaryDirectory() as folder:
        binary = checked(acl.rt.binary_load_from_file(compiled(folder), None), "load")
    kernel = checked(acl.rt.binary_get_function(binary, "saxpy"), "get_function")

    random = np.random.default_rng(0)
    x, y = (random.random(100_000, dtype=np.float32) for _ in range(2))
    on_x, on_y = to_device(x), to_device(y)
    args = checked(acl.rt.kernel_args_init(kernel), "kernel_args_init")
    # Addresses of 8 bytes, then numbers of 4: as the kernel's parameters.
    values = [struct.pack("Q", on_x), struct.pack("Q", on_y), struct.pack("i", x.size),
              struct.pack("f", 2.5)]
    for value in values:
        checked(acl.rt.kernel_args_append(args, acl.util.bytes_to_ptr(value), len(value)), "append")
    check(acl.rt.kernel_args_finalize(args), "kernel_args_finalize")
    check(acl.rt.launch_kernel_with_config(kernel, CORES, stream, None, args, None), "launch")
    check(acl.rt.synchronize_stream(stream), "synchronize_stream")

    found = np.empty_like(y)
    check(acl.rt.memcpy(acl.util.numpy_to_ptr(found), y.nbytes, on_y, y.nbytes, TO_HOST), "memcpy")
    print(f"largest difference from numpy: {abs(found - (2.5 * x + y)).max():.2g}")

    check(acl.rt.binary_unload(binary), "binary_unload")
    for address in (on_x, on_y):
        check(acl.rt.free(address), "free")
    check(acl.rt.destroy_stream(stream), "destroy_stream")
    check(acl.rt.reset_device(0), "reset_device")
    check(acl.finalize(), "finalize")


if __name__ == "__main__":
    main()
