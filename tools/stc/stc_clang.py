#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""stc-clang and stc-clang++: clang for NPC kernels.

Takes clang's options (-O0..-O3, -g, -D, -I, -o, -c, -S, -E, -std=...) and compiles for the cores of
an NPC cluster: RV32IMAFC with half floats. npurt.h is included by itself. Link with stc-ld.lld.
"""

import os
import shutil
import sys

VERSION = "@PROJECT_VERSION@"
HERE = os.path.dirname(os.path.realpath(__file__))
PREFIX = os.path.dirname(HERE)

# Parameters travel in integer registers (ilp32), so that the host can pass any word of four bytes
# without knowing whether the kernel takes it for a float.
DEVICE = [
    "--target=riscv32-unknown-elf", "-march=rv32imafc_zfh", "-mabi=ilp32", "-mno-relax",
    "-msmall-data-limit=0", "-ffreestanding", "-nostdlibinc", "-fno-pic", "-fno-common",
    "-fno-exceptions", "-fno-rtti", "-fno-math-errno",
    "-fno-threadsafe-statics", "-fno-asynchronous-unwind-tables", "-fno-stack-protector",
]  # fmt: skip


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
    clang = find_clang(plus)
    if clang is None:
        sys.exit("stc-clang: clang 19 was not found; install the package clang-19")
    arguments = device_arguments(sys.argv[1:])
    if arguments == ["--version"]:
        print(f"{os.path.basename(sys.argv[0])} of AnyNPU {VERSION}, by", flush=True)
        os.execv(clang, [clang, "--target=riscv32-unknown-elf", "--version"])
    include = os.path.join(PREFIX, "riscv32npu", "include")
    command = [clang, *DEVICE, "-isystem", include, "-include", "npurt.h"]
    if plus and not any(a.startswith("-std=") for a in arguments):
        command.append("-std=c++17")
    if not any(a.startswith("-g") for a in arguments):
        command.append("-g")  # for checks of parameters and lines of call stacks; -g0: neither
    os.execv(clang, command + arguments)


if __name__ == "__main__":
    main()
