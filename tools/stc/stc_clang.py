#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""stc-clang and stc-clang++: clang for NPC kernels.

Takes clang's options (-O0..-O3, -g, -D, -I, -o, -c, -S, -E, -std=...) and compiles for the cores of
an NPC cluster: RV32IMAFC with half floats. npurt.h is included by itself. Link with stc-ld.lld.
"""

import importlib.util
import os
import shutil
import sys

VERSION = "@PROJECT_VERSION@"
HERE = os.path.dirname(os.path.realpath(__file__))
PREFIX = os.path.dirname(HERE)

# Parameters travel in integer registers (ilp32), so that the host can pass any word of four bytes
# without knowing whether the kernel takes it for a float.
TARGET = ["--target=riscv32-unknown-elf", "-march=rv32imafc_zfh"]
DEVICE = [
    "-mabi=ilp32", "-mno-relax",
    "-msmall-data-limit=0", "-ffreestanding", "-nostdlibinc", "-fno-pic", "-fno-common",
    "-fno-exceptions", "-fno-rtti", "-fno-math-errno",
    "-fno-threadsafe-statics", "-fno-asynchronous-unwind-tables", "-fno-stack-protector",
]  # fmt: skip
# The clang of PyPI's ziglang has its own words for the target, and checks every operation unasked.
ZIG_TARGET = ["--target=riscv32-freestanding-none", "-mcpu=generic_rv32+m+a+f+c+zfh",
              "-fno-sanitize=undefined"]


def find_clang(plus):
    """clang 19 of the right language, or None."""
    for name in ("clang++-19", "clang-19") if plus else ("clang-19",):
        found = shutil.which(name)
        if found:
            return found
    for folder in ("/usr/lib/llvm-19/bin",):
        found = os.path.join(folder, "clang++" if plus else "clang")
        if os.path.exists(found):
            return found
    return None


def find_zig():
    """The program of the package ziglang of this Python, or None."""
    found = importlib.util.find_spec("ziglang")
    path = os.path.join(os.path.dirname(found.origin), "zig") if found and found.origin else ""
    return path if os.access(path, os.X_OK) else None


def compiler(plus):
    """The words that start a clang for the cores, or None."""
    clang = find_clang(plus)
    if clang is not None:
        return [clang, *TARGET]
    zig = find_zig()
    return zig and [zig, "c++" if plus else "cc", *ZIG_TARGET]


def device_arguments(arguments):
    """The options for clang; an error message for options that make no sense here."""
    kept = []
    for argument in arguments:
        if argument.startswith("--target="):
            target = argument.partition("=")[2]
            if not target.startswith("riscv32"):
                sys.exit(f"stc-clang: the target is {target}; kernels are compiled with "
                         "--target=riscv32npu")
        elif argument.startswith("-shc-") or argument == "--shc-device-only":
            # Single-source files: this compiles their device half. It holds for files behind it.
            kept = ["-x", "c++", *kept]
        elif argument.startswith(("-march=", "-mabi=")):
            print(f"stc-clang: {argument} is ignored: the cores fix it", file=sys.stderr)
        else:
            kept.append(argument)
    return kept


def main():
    """Runs clang in place of this process."""
    plus = os.path.basename(sys.argv[0]).endswith("++")
    start = compiler(plus)
    if start is None:
        sys.exit("stc-clang: clang 19 was not found; install the package clang-19, or ziglang with "
                 "pip")
    arguments = device_arguments(sys.argv[1:])
    if arguments == ["--version"]:
        print(f"{os.path.basename(sys.argv[0])} of AnyNPU {VERSION}, by", flush=True)
        os.execv(start[0], [*start, "--version"])
    include = os.path.join(PREFIX, "riscv32npu", "include")
    command = [*start, *DEVICE, "-isystem", include, "-include", "npurt.h"]
    if plus and not any(a.startswith("-std=") for a in arguments):
        command.append("-std=c++17")
    if not any(a.startswith("-g") for a in arguments):
        command.append("-g")  # for checks of parameters and lines of call stacks; -g0: neither
    os.execv(start[0], command + arguments)


if __name__ == "__main__":
    main()
