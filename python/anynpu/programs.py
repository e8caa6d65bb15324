# SPDX-License-Identifier: Apache-2.0
"""Start points of the compiled programs that an installed package carries in anynpu/bin."""
import os
import sys

from . import paths


def start(name, interpreter=None):
    """Runs the program in place of this process; `interpreter` runs it if it is a script."""
    path = os.path.join(paths.program_folder(), name)
    try:
        if interpreter:
            os.execv(interpreter, [interpreter, path, *sys.argv[1:]])
        os.execv(path, [name, *sys.argv[1:]])
    except OSError as error:
        print(f"{name}: cannot start {path}: {error.strerror}; reinstall the package anynpu",
              file=sys.stderr)
        return 1


def atc():
    return start("atc")


def stc_clang():
    return start("stc-clang", sys.executable)


def stc_clang_cpp():
    return start("stc-clang++", sys.executable)


def stc_ld():
    return start("stc-ld.lld", sys.executable)
