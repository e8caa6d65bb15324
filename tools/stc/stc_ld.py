#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""stc-ld.lld: joins objects of NPC kernels and the run-time library into one object to load.

    stc-ld.lld -flavor gnu copy.o /usr/local/hpe/riscv32npu/lib/libnpurt_hld.a -r -o copy-fatbin.o

Takes ld.lld's options. Paths below /usr/local/hpe that do not exist mean this installation.
"""

import importlib.util
import os
import shutil
import sys

VERSION = "@PROJECT_VERSION@"
PREFIX = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
DOCUMENTED_PREFIX = "/usr/local/hpe/"


def resolve(argument):
    """A path as the documents print it, in this installation."""
    if argument.startswith(DOCUMENTED_PREFIX) and not os.path.exists(argument):
        return os.path.join(PREFIX, argument[len(DOCUMENTED_PREFIX):])
    return argument


def linker():
    """The words that start ld.lld, of the system or of PyPI's ziglang; None: there is none."""
    found = shutil.which("ld.lld-19") or shutil.which("ld.lld")
    if found:
        return [found]
    package = importlib.util.find_spec("ziglang")
    zig = os.path.join(os.path.dirname(package.origin), "zig") if package and package.origin else ""
    return [zig, "ld.lld"] if os.access(zig, os.X_OK) else None


def main():
    """Runs ld.lld in place of this process."""
    start = linker()
    if start is None:
        sys.exit("stc-ld.lld: ld.lld was not found; install the package lld-19, or ziglang with "
                 "pip")
    arguments = sys.argv[1:]
    if arguments[:1] == ["-flavor"]:
        if arguments[1:2] != ["gnu"]:
            sys.exit(f"stc-ld.lld: flavor is {' '.join(arguments[1:2])}, expected gnu")
        arguments = arguments[2:]
    if arguments == ["--version"]:
        print(f"stc-ld.lld of AnyNPU {VERSION}, by", flush=True)
    os.execv(start[0], [*start, *map(resolve, arguments)])


if __name__ == "__main__":
    main()
