# SPDX-License-Identifier: Apache-2.0
"""Good values for the kernel functions of acl.rt: an object with one function `name` that returns
at once, written by hand, so that no toolchain is needed."""

import atexit
import os
import struct
import tempfile

from misuse.models import NO_VALUE

DESTROY = {"aclrtBinary": "destroy_binary", "aclrtBinHandle": "binary_unload",
           "aclrtFuncHandle": None, "aclrtArgsHandle": None, "aclrtParamHandle": None}
RETURN = struct.pack("<I", 0x00008067)  # jalr x0, 0(ra)


def object_bytes(code=RETURN, name=b"name"):
    """A relocatable RV32 ELF with one global function."""
    strings = b"\0" + name + b"\0"
    names = b"\0.text\0.symtab\0.strtab\0.shstrtab\0"
    symbols = bytes(16) + struct.pack("<IIIBBH", 1, 0, len(code), 0x12, 0, 1)
    parts, offsets, at = [code, symbols, strings, names], [], 52
    for part in parts:
        at += -at % 4
        offsets.append(at)
        at += len(part)
    table = at + -at % 4
    ident = b"\x7fELF\x01\x01\x01" + bytes(9)
    out = ident + struct.pack("<HHIIIIIHHHHHH", 1, 243, 1, 0, 0, table, 0, 52, 0, 0, 40, 5, 4)
    for part, offset in zip(parts, offsets):
        out += bytes(offset - len(out)) + part
    out += bytes(table - len(out))
    sections = [(0,) * 10, (1, 1, 6, 0, offsets[0], len(code), 0, 0, 4, 0),
                (7, 2, 0, 0, offsets[1], len(symbols), 3, 1, 4, 16),
                (15, 3, 0, 0, offsets[2], len(strings), 0, 0, 1, 0),
                (23, 3, 0, 0, offsets[3], len(names), 0, 0, 1, 0)]
    return out + b"".join(struct.pack("<10I", *section) for section in sections)


def object_path():
    handle, path = tempfile.mkstemp(suffix=".o", prefix="misuse_")
    atexit.register(lambda: os.path.exists(path) and os.unlink(path))
    with os.fdopen(handle, "wb") as file:
        file.write(object_bytes())
    return path


def make(maker, kind):
    rt, data = maker.acl.rt, object_bytes()
    if kind == "aclrtBinary":
        return rt.create_binary(maker.acl.util.bytes_to_ptr(data), len(data))
    loaded = rt.binary_load_from_data(maker.acl.util.bytes_to_ptr(data), len(data), None)[0]
    if kind == "aclrtBinHandle":
        return loaded
    func = rt.binary_get_function(loaded, "name")[0]
    if kind == "aclrtFuncHandle":
        maker.kept.append((func, loaded))
        return func
    args = rt.kernel_args_init(func)[0]
    if kind == "aclrtArgsHandle":
        maker.kept.append((args, loaded))
        return args
    return rt.kernel_args_append_place_holder(args)[0]


def destroy(maker, kind, value):
    """Functions and lists of arguments end with their binary."""
    if DESTROY[kind]:
        return getattr(maker.acl.rt, DESTROY[kind])(value)
    for handle, loaded in (k for k in maker.kept if isinstance(k, tuple)):
        if handle == value:
            maker.acl.rt.binary_unload(loaded)


def good(maker, function, argument):
    """The value of one argument, or NO_VALUE."""
    short, name, rt = function.name.rpartition(".")[2], argument.name, maker.acl.rt
    if not function.name.startswith("acl.rt."):
        return NO_VALUE
    if short in ("create_binary", "binary_load_from_data"):
        if name in ("data", "mem_addr"):
            return maker.acl.util.bytes_to_ptr(object_bytes())
        if name in ("data_len", "length"):
            return len(object_bytes())
    if name == "bin_path":
        return object_path()
    if name in ("args_size", "host_args_size"):
        return 8
    if short == "get_function_name" and name == "max_len":
        return 64
    if short == "kernel_args_init_by_user_mem" and name == "args_handle":
        return maker.host_block(64)
    if short == "kernel_args_append" and name == "param_size":
        return 8
    # One list for all arguments of a call.
    if short in ("kernel_args_get_place_holder_buffer", "kernel_args_para_update",
                 "launch_kernel_with_config") and name in ("args_handle", "param_handle",
                                                           "func_handle"):
        if not hasattr(maker, "kernel_call") or maker.kernel_call[0] != function.name:
            func = make(maker, "aclrtFuncHandle")
            args = rt.kernel_args_init(func)[0]
            if short == "kernel_args_para_update":
                param = rt.kernel_args_append(args, maker.host_block(64), 64)[0]
            elif short == "launch_kernel_with_config":
                rt.kernel_args_finalize(args)
                param = 0
            else:
                param = rt.kernel_args_append_place_holder(args)[0]
            maker.kernel_call = (function.name, {"func_handle": func, "args_handle": args,
                                                 "param_handle": param})
        return maker.kernel_call[1][name]
    return NO_VALUE
