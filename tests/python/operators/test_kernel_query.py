# SPDX-License-Identifier: Apache-2.0
"""Functions of acl/rt/kernel_query.h, which pyACL does not have, through ctypes."""
import ctypes
import os
import shutil
import struct

import numpy as np
import pytest
from hpe_programs import compile_kernels
from single_op import check

import acl

pytestmark = [
    pytest.mark.skipif(shutil.which("clang-19") is None, reason="clang-19 is not installed"),
    pytest.mark.usefixtures("device_0"),
]

KERNELS = """
#include <npurt.h>
extern "C" {
int bias = 5;
__global__ void scale(float* in, float* out, int count, float factor) {
  for (int i = CoreID; i < count; i += CoreNum) out[i] = in[i] * factor;
}
__global__ void add_bias(int* out) { if (CoreID == 0) *out = bias; }
__global__ void trap(int* out) { *(volatile int*)0 = 1; }
}
"""
SYMBOL_NOT_FOUND, AICORE_EXCEPTION, PARAM_INVALID = 107042, 507015, 107000
FEATURE_NOT_SUPPORT = 207000
POINTER = ctypes.c_void_p


@pytest.fixture(scope="module")
def library():
    return ctypes.CDLL(os.path.join(os.environ["ANYNPU_BUILD_DIR"], "lib", "libascendcl.so"))


@pytest.fixture(scope="module")
def objects(tmp_path_factory):
    folder = str(tmp_path_factory.mktemp("kernels"))
    return {name: compile_kernels(KERNELS, folder, name, options)
            for name, options in (("plain", "-O2 -g0"), ("debug", "-O2 -g"))}


@pytest.fixture
def binary(objects):
    loaded, ret = acl.rt.binary_load_from_file(objects["debug"], None)
    check(ret)
    yield loaded
    check(acl.rt.binary_unload(loaded))


def function(binary, name):
    found, ret = acl.rt.binary_get_function(binary, name)
    check(ret)
    return POINTER(found)


def device_array(values):
    array = np.array(values)
    address, ret = acl.rt.malloc(array.nbytes, 2)
    check(ret)
    check(acl.rt.memcpy(address, array.nbytes, acl.util.numpy_to_ptr(array), array.nbytes, 1))
    return address


def read(address, like):
    out = np.empty_like(like)
    check(acl.rt.memcpy(acl.util.numpy_to_ptr(out), out.nbytes, address, out.nbytes, 2))
    return out


def test_a_function_knows_its_binary_its_size_and_its_parameters(library, binary):
    scale = function(binary, "scale")
    owner, first, second = POINTER(), ctypes.c_size_t(), ctypes.c_size_t()
    assert library.aclrtFunctionGetBinary(scale, ctypes.byref(owner)) == 0
    assert owner.value == binary
    assert library.aclrtGetFunctionSize(scale, ctypes.byref(first), ctypes.byref(second)) == 0
    assert first.value > 0
    assert library.aclrtFunctionGetParamCount(scale, ctypes.byref(first)) == 0
    assert first.value == 4
    places = []
    for i in range(4):
        assert library.aclrtFunctionGetParamInfo(scale, ctypes.c_size_t(i), ctypes.byref(first),
                                                 ctypes.byref(second)) == 0
        places.append((first.value, second.value))
    assert places == [(0, 8), (8, 8), (16, 4), (20, 4)]
    assert library.aclrtFunctionGetParamInfo(scale, ctypes.c_size_t(4), ctypes.byref(first),
                                             ctypes.byref(second)) == PARAM_INVALID
    value = ctypes.c_int64(9)
    assert library.aclrtGetFunctionAttribute(scale, 1, ctypes.byref(value)) == 0
    assert value.value == 0  # a kernel of AI cores
    assert library.aclrtGetFunctionAttribute(scale, 4, ctypes.byref(value)) == PARAM_INVALID
    assert library.aclrtFunctionGetAvailDynUbufPerBlock(scale, 0, ctypes.byref(first)) == 0
    assert first.value == 0


def test_arguments_one_by_one(library, binary, objects):
    values = np.arange(8, dtype=np.float32)
    source, target = device_array(values), device_array(np.zeros_like(values))
    cells = [POINTER(source), POINTER(target), ctypes.c_int(8), ctypes.c_float(3)]
    args = (POINTER * 4)(*[ctypes.addressof(cell) for cell in cells])
    scale = function(binary, "scale")
    assert library.aclrtLaunchKernelWithArgsArray(scale, 4, None, None, args) == 0
    cells[3].value = 100  # taken over at the call
    check(acl.rt.synchronize_stream(0))
    assert (read(target, values) == values * 3).all()
    plain, ret = acl.rt.binary_load_from_file(objects["plain"], None)
    check(ret)
    assert library.aclrtLaunchKernelWithArgsArray(function(plain, "scale"), 4, None, None,
                                                  args) == FEATURE_NOT_SUPPORT
    assert "-g" in acl.get_recent_err_msg()
    check(acl.rt.binary_unload(plain))
    for block in (source, target):
        check(acl.rt.free(block))


def test_arguments_in_device_memory_are_read_when_the_kernel_runs(library, binary):
    values = np.arange(8, dtype=np.float32)
    source, target = device_array(values), device_array(np.zeros_like(values))
    piece = struct.pack("QQif", source, target, 8, 2.0)
    args = device_array(np.zeros(len(piece), dtype=np.uint8))
    host, ret = acl.rt.malloc_host(len(piece))
    check(ret)
    ctypes.memmove(host, piece, len(piece))
    check(acl.rt.memcpy_async(args, len(piece), host, len(piece), 1, 0))
    assert library.aclrtLaunchKernelV2(function(binary, "scale"), 4, POINTER(args),
                                       ctypes.c_size_t(len(piece)), None, None) == 0
    check(acl.rt.synchronize_stream(0))
    assert (read(target, values) == values * 2).all()
    assert library.aclrtLaunchKernelV2(function(binary, "scale"), 4, POINTER(host),
                                       ctypes.c_size_t(len(piece)), None, None) == PARAM_INVALID
    check(acl.rt.free_host(host))
    for block in (source, target, args):
        check(acl.rt.free(block))


def test_a_variable_of_the_object_is_memory(library, binary):
    address, size = POINTER(), ctypes.c_size_t()
    bias = POINTER(binary)
    assert library.aclrtBinaryGetGlobal(bias, b"bias", ctypes.byref(address),
                                        ctypes.byref(size)) == 0
    assert size.value == 4
    new = np.array([41], dtype=np.int32)
    check(acl.rt.memcpy(address.value, 4, acl.util.numpy_to_ptr(new), 4, 1))
    out = device_array(np.zeros(1, dtype=np.int32))
    cell = POINTER(out)
    args = (POINTER * 1)(ctypes.addressof(cell))
    assert library.aclrtLaunchKernelWithArgsArray(function(binary, "add_bias"), 1, None, None,
                                                  args) == 0
    check(acl.rt.synchronize_stream(0))
    assert read(out, new)[0] == 41
    assert library.aclrtBinaryGetGlobal(bias, b"nothing", ctypes.byref(address),
                                        None) == SYMBOL_NOT_FOUND
    assert library.aclrtBinaryGetGlobal(bias, b"bias", None, None) == PARAM_INVALID
    assert library.aclrtBinaryGetDevAddress(bias, ctypes.byref(address), ctypes.byref(size)) == 0
    assert address.value and size.value > 0
    check(acl.rt.free(out))


def test_a_kernel_that_fails_is_told_to_its_binary(library, binary):
    told = []
    trap = function(binary, "trap")
    out = device_array(np.zeros(1, dtype=np.int32))
    context, _ = acl.rt.get_context()

    @ctypes.CFUNCTYPE(None, POINTER, POINTER)
    def note(info, data):
        acl.rt.set_context(context)  # any thread may call
        found, args, length = POINTER(), POINTER(), ctypes.c_uint32()
        library.aclrtGetFuncHandleFromExceptionInfo(POINTER(info), ctypes.byref(found))
        library.aclrtGetArgsFromExceptionInfo(POINTER(info), ctypes.byref(args),
                                              ctypes.byref(length))
        told.append((data, found.value, length.value, read(args.value, np.zeros(1, np.uint64))[0]))

    assert library.aclrtBinarySetExceptionCallback(POINTER(binary), note, POINTER(77)) == 0
    cell = POINTER(out)
    args = (POINTER * 1)(ctypes.addressof(cell))
    assert library.aclrtLaunchKernelWithArgsArray(trap, 1, None, None, args) == 0
    assert acl.rt.synchronize_stream(0) == AICORE_EXCEPTION
    assert told == [(77, trap.value, 8, out)]
    fault = (ctypes.c_uint8 * 4096)()
    assert library.aclrtGetErrorVerbose(0, fault) == 0
    assert struct.unpack_from("BBxxi", bytes(fault[:8])) == (0, 1, 3)
    assert library.aclrtRepairError(0, fault) == 0
    assert library.aclrtGetErrorVerbose(0, fault) == 0
    assert struct.unpack_from("BBxxi", bytes(fault[:8])) == (0, 0, 0)
    assert library.aclrtBinarySetExceptionCallback(POINTER(binary), None, None) == 0
    check(acl.rt.free(out))
