# SPDX-License-Identifier: Apache-2.0
"""`anynpu bundle`: several offline models in one file, through the core (src/compile/c_entry.h)."""
import ctypes
import os
import sys

from . import paths


def call(function, *arguments):
    """The exit code; an error message goes to standard error."""
    message = ctypes.create_string_buffer(4096)
    if function(*arguments, message, ctypes.c_size_t(len(message))) == 0:
        return 0
    print("anynpu bundle:", message.value.decode(errors="replace"), file=sys.stderr)
    return 1


def main(args):
    core = ctypes.CDLL(paths.library())
    files = [os.fsencode(path) for path in args.files]
    if not args.list:
        return call(core.anynpu_bundle, (ctypes.c_char_p * len(files))(*files),
                    ctypes.c_size_t(len(files)), os.fsencode(args.output))
    if len(files) > 1:
        print(f"anynpu bundle: --list takes one bundle, {len(files)} files are given",
              file=sys.stderr)
        return 2
    show = ctypes.CFUNCTYPE(None, ctypes.c_char_p)(
        lambda line: print(line.decode(errors="replace")))
    return call(core.anynpu_bundle_list, files[0], show)
