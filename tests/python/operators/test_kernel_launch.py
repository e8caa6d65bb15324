# SPDX-License-Identifier: Apache-2.0
"""acl.rt: objects of the device toolchain loaded as binaries, their functions launched as kernels
with arguments in one piece, one by one, and in the program's own memory."""
import ctypes
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
struct Tiling { int count; float factor; };
extern "C" {
__global__ void scale(float* in, float* out, int count, float factor) {
  for (int i = CoreID; i < count; i += CoreNum) out[i] = in[i] * factor;
}
__global__ void tiled(float* in, float* out, struct Tiling* tiling) {
  for (int i = CoreID; i < tiling->count; i += CoreNum) out[i] = in[i] * tiling->factor;
}
__global__ void number(int* out) { out[CoreID] = CoreNum; }
__global__ void meet(int* out) { sync(); out[CoreID] = 1; }
__global__ void behind_null(int* nothing, int* out, int value) {
  if (CoreID == 0) *out = nothing ? -1 : value;
}
__global__ void forever(int* out) { for (volatile int x = 0;; x = x + 1) {} }
__global__ void trap(int* out) { *(volatile int*)0 = 1; }
}
"""


@pytest.fixture(scope="module")
def objects(tmp_path_factory):
    """Paths of the kernels, without and with debug information."""
    folder = str(tmp_path_factory.mktemp("kernels"))
    return {name: compile_kernels(KERNELS, folder, name, options)
            for name, options in (("plain", "-O2 -g0"), ("debug", "-O2 -g"))}


def function(objects, name, form="plain"):
    binary, ret = acl.rt.binary_load_from_file(objects[form], None)
    check(ret)
    found, ret = acl.rt.binary_get_function(binary, name)
    check(ret)
    return found


class Memory:
    """Device memory with the contents of an array."""

    def __init__(self, array):
        self.like = np.array(array)
        self.address, ret = acl.rt.malloc(self.like.nbytes, 2)
        check(ret)
        check(acl.rt.memcpy(self.address, self.like.nbytes, acl.util.numpy_to_ptr(self.like),
                            self.like.nbytes, 1))

    def read(self):
        out = np.empty_like(self.like)
        check(acl.rt.memcpy(acl.util.numpy_to_ptr(out), out.nbytes, self.address, out.nbytes, 2))
        return out


def at(data):
    """The address of bytes or of an array that the caller keeps."""
    return acl.util.bytes_to_ptr(data) if isinstance(data, bytes) else acl.util.numpy_to_ptr(data)


def launch_piece(func, piece, blocks=4):
    check(acl.rt.launch_kernel(func, blocks, at(piece), len(piece), 0))
    return acl.rt.synchronize_stream(0)


def arguments(func, *values):
    """A finalised list; bytes are appended, ('tiling', bytes) is data behind a place holder."""
    args, ret = acl.rt.kernel_args_init(func)
    check(ret)
    params = []
    for value in values:
        if isinstance(value, tuple):
            param, ret = acl.rt.kernel_args_append_place_holder(args)
            check(ret)
            buffer, ret = acl.rt.kernel_args_get_place_holder_buffer(args, param, len(value[1]))
            check(ret)
            ctypes.memmove(buffer, value[1], len(value[1]))
        else:
            param, ret = acl.rt.kernel_args_append(args, at(value), len(value))
            check(ret)
        params.append(param)
    check(acl.rt.kernel_args_finalize(args))
    return args, params


def address(memory, offset=0):
    return struct.pack("<Q", memory.address + offset)


X = np.arange(100, dtype=np.float32)


@pytest.mark.parametrize("form", ["plain", "debug"])
def test_arguments_in_one_piece(objects, form):
    source, target = Memory(X), Memory(X * 0)
    piece = address(source) + address(target) + struct.pack("<if", 100, 2.5)
    assert launch_piece(function(objects, "scale", form), piece) == 0
    np.testing.assert_array_equal(target.read(), X * 2.5)
    np.testing.assert_array_equal(source.read(), X)


@pytest.mark.parametrize("blocks", [1, 8, 9, 23, 1000])
def test_more_blocks_than_cores_take_turns(objects, blocks):
    out = Memory(np.zeros(blocks + 1, np.int32))
    assert launch_piece(function(objects, "number"), address(out), blocks) == 0
    assert out.read().tolist() == [blocks] * blocks + [0]


def test_blocks_that_take_turns_cannot_meet(objects, capfd):
    out = Memory(np.zeros(9, np.int32))
    assert launch_piece(function(objects, "meet"), address(out), 8) == 0
    assert launch_piece(function(objects, "meet"), address(out), 9) == 507015
    assert "sync() in a launch of 9 blocks" in capfd.readouterr().err


def test_arguments_in_device_memory(objects):
    source, target = Memory(X), Memory(X * 0)
    piece = address(source) + address(target) + struct.pack("<if", 100, 3)
    on_device = Memory(np.frombuffer(piece, np.uint8))
    check(acl.rt.launch_kernel(function(objects, "scale"), 8, on_device.address, len(piece), 0))
    check(acl.rt.synchronize_stream(0))
    np.testing.assert_array_equal(target.read(), X * 3)


def test_arguments_one_by_one(objects):
    source, target = Memory(X), Memory(X * 0)
    func = function(objects, "scale")
    args, params = arguments(func, address(source), address(target), struct.pack("<i", 100),
                             struct.pack("<f", 4))
    check(acl.rt.launch_kernel_with_config(func, 3, 0, None, args, None))
    check(acl.rt.kernel_args_para_update(args, params[3], at(struct.pack("<f", 0.5)), 4))
    check(acl.rt.launch_kernel_with_config(func, 3, 0, None, args, None))
    check(acl.rt.synchronize_stream(0))
    np.testing.assert_array_equal(target.read(), X / 2)


@pytest.mark.parametrize("tiling", [("place holder", struct.pack("<if", 100, 6)),
                                    struct.pack("<if", 100, 6) + bytes(8)])
def test_a_kernel_reads_its_tiling_data_by_address(objects, tiling):
    source, target = Memory(X), Memory(X * 0)
    func = function(objects, "tiled")
    args, _ = arguments(func, address(source), address(target), tiling)
    check(acl.rt.launch_kernel_with_config(func, 8, 0, None, args, None))
    check(acl.rt.synchronize_stream(0))
    np.testing.assert_array_equal(target.read(), X * 6)


@pytest.mark.parametrize("form", ["plain", "debug"])
def test_host_arguments_with_data_behind_them(objects, form):
    source, target = Memory(X), Memory(X * 0)
    host = address(source) + address(target) + bytes(8) + struct.pack("<if", 100, 7)
    check(acl.rt.launch_kernel_with_host_args(
        function(objects, "tiled", form), 8, 0, None, at(host), len(host),
        [{"addrOffset": 16, "dataOffset": 24}], 1))
    check(acl.rt.synchronize_stream(0))
    np.testing.assert_array_equal(target.read(), X * 7)


def test_a_list_in_memory_of_the_program(objects):
    source, target = Memory(X), Memory(X * 0)
    func = function(objects, "scale")
    handle = np.zeros(acl.rt.kernel_args_get_handle_mem_size(func)[0], np.uint8)
    room = np.zeros(acl.rt.kernel_args_get_mem_size(func, 24)[0], np.uint8)
    args = at(handle)
    check(acl.rt.kernel_args_init_by_user_mem(func, args, at(room), room.nbytes))
    for value in (address(source), address(target), struct.pack("<i", 100), struct.pack("<f", 9)):
        check(acl.rt.kernel_args_append(args, at(value), len(value))[1])
    check(acl.rt.kernel_args_finalize(args))
    check(acl.rt.launch_kernel_with_config(func, 8, 0, None, args, None))
    check(acl.rt.synchronize_stream(0))
    np.testing.assert_array_equal(target.read(), X * 9)


def test_addresses_inside_one_allocation(objects):
    both = Memory(np.concatenate([X, X * 0]))
    func = function(objects, "scale")
    piece = address(both) + address(both, X.nbytes) + struct.pack("<if", 100, 2)
    assert launch_piece(func, piece) == 0
    np.testing.assert_array_equal(both.read(), np.concatenate([X, X * 2]))


def test_bytes_that_the_kernel_leaves_alone_stay_as_others_wrote_them(objects):
    """Two streams work on two halves of one allocation at the same time."""
    pool = Memory(np.zeros(1 << 16, np.float32))
    half = pool.like.nbytes // 2
    ones = Memory(np.ones(1 << 15, np.float32))
    func = function(objects, "scale")
    other, ret = acl.rt.create_stream()
    check(ret)
    for _ in range(20):
        piece = address(ones) + address(pool) + struct.pack("<if", 1 << 15, 5)
        check(acl.rt.launch_kernel(func, 8, at(piece), len(piece), 0))
        check(acl.rt.memcpy_async(pool.address + half, half, ones.address, half, 3, other))
        check(acl.rt.synchronize_stream(0))
        check(acl.rt.synchronize_stream(other))
        np.testing.assert_array_equal(pool.read(), np.repeat(np.float32([5, 1]), 1 << 15))
        check(acl.rt.memset(pool.address, pool.like.nbytes, 0, pool.like.nbytes))
    check(acl.rt.destroy_stream(other))


def test_a_null_address_needs_to_know_the_parameters(objects):
    out = Memory(np.zeros(1, np.int32))
    piece = bytes(8) + address(out) + struct.pack("<i", 42)
    assert acl.rt.launch_kernel(function(objects, "behind_null"), 1, at(piece), 20, 0) == 107000
    assert "-g" in acl.get_recent_err_msg()
    assert launch_piece(function(objects, "behind_null", "debug"), piece) == 0
    assert out.read() == [42]
    func = function(objects, "behind_null")
    args, _ = arguments(func, bytes(8), address(out), struct.pack("<i", 43))
    check(acl.rt.launch_kernel_with_config(func, 1, 0, None, args, None))
    check(acl.rt.synchronize_stream(0))
    assert out.read() == [43]


def test_a_binary_by_its_three_ways(objects):
    with open(objects["plain"], "rb") as file:
        data = file.read()
    binary = acl.rt.create_binary(at(data), len(data))
    assert binary > 0
    options = {"options": [{"type": 1, "value": {"isLazyLoad": 1}},
                           {"type": 2, "value": {"magic": 1129660997}}], "numOpt": 2}
    for loaded, ret in (acl.rt.binary_load(binary), acl.rt.binary_load_from_data(
            at(data), len(data), options), acl.rt.binary_load_from_file(objects["plain"], options)):
        check(ret)
        func, ret = acl.rt.binary_get_function(loaded, "scale")
        check(ret)
        assert acl.rt.binary_get_function(loaded, "scale") == (func, 0)
        assert acl.rt.get_function_name(func, 6) == ("scale", 0)
        assert acl.rt.get_function_name(func, 5)[1] == 107000
        aic, aiv, ret = acl.rt.get_function_addr(func)
        assert (aic == aiv, aic > 0, ret) == (True, True, 0)
        check(acl.rt.binary_unload(loaded))
        assert acl.rt.get_function_name(func, 6)[1] == 107017
    check(acl.rt.destroy_binary(binary))
    assert acl.rt.destroy_binary(binary) == 107017


def test_a_launch_in_flight_keeps_what_it_uses(objects):
    source, target = Memory(X), Memory(X * 0)
    binary, _ = acl.rt.binary_load_from_file(objects["plain"], None)
    func, _ = acl.rt.binary_get_function(binary, "scale")
    piece = address(source) + address(target) + struct.pack("<if", 100, 2)
    check(acl.rt.launch_kernel(func, 8, at(piece), len(piece), 0))
    check(acl.rt.binary_unload(binary))
    check(acl.rt.free(source.address))
    check(acl.rt.synchronize_stream(0))
    np.testing.assert_array_equal(target.read(), X * 2)


def test_a_time_limit_ends_a_kernel(objects):
    out = Memory(np.zeros(1, np.int32))
    func = function(objects, "forever")
    args, _ = arguments(func, address(out))
    limit = {"attrs": [{"id": 8, "value": {"timeoutUs": {"timeoutLow": 20000, "timeoutHigh": 0}}}],
             "numAttrs": 1}
    check(acl.rt.launch_kernel_with_config(func, 8, 0, limit, args, None))
    assert acl.rt.synchronize_stream(0) == 507014
    assert "20000" in acl.get_recent_err_msg()


def test_a_trap_is_an_exception_with_the_name_of_the_kernel(objects, capfd):
    out = Memory(np.zeros(1, np.int32))
    told = []

    def callback(info):
        ids = (acl.rt.get_device_id_from_exception_info(info),
               acl.rt.get_stream_id_from_exception_info(info),
               acl.rt.get_task_id_from_exception_info(info))
        told.append((acl.mdl.create_and_get_op_desc(*ids, 256)[0],
                     acl.rt.get_error_code_from_exception_info(info)))

    check(acl.rt.set_exception_info_callback(callback))
    assert launch_piece(function(objects, "trap"), address(out)) == 507015
    acl.rt.set_exception_info_callback(None)
    assert told == [("trap", 507015)]
    assert "trap" in capfd.readouterr().err


@pytest.mark.parametrize("attrs, words", [
    ([{"id": 4, "value": {"blockDimOffset": 1}}], "blockDimOffset is 1"),
    ([{"id": 1, "value": {"schemMode": 3}}], "schemMode is 3"),
    ([{"id": 12, "value": {}}], "id 12")])
def test_attributes_of_a_launch_are_checked(objects, attrs, words):
    func = function(objects, "trap")
    args, _ = arguments(func)
    config = {"attrs": attrs, "numAttrs": 1}
    assert acl.rt.launch_kernel_with_config(func, 1, 0, config, args, None) == 107000
    assert words in acl.get_recent_err_msg()


def test_attributes_that_change_nothing_here_are_taken(objects):
    source, target = Memory(X), Memory(X * 0)
    func = function(objects, "scale")
    args, _ = arguments(func, address(source), address(target), struct.pack("<i", 100),
                        struct.pack("<f", 2))
    attrs = [{"id": 1, "value": {"schemMode": 1}}, {"id": 3, "value": {"engineType": 1}},
             {"id": 5, "value": {"isBlockTaskPrefetch": 1}}, {"id": 7, "value": {"timeout": 60}},
             {"id": 9, "value": {"enableProfiling": 1}}]
    check(acl.rt.launch_kernel_with_config(func, 8, 0, {"attrs": attrs, "numAttrs": len(attrs)},
                                           args, None))
    check(acl.rt.synchronize_stream(0))
    np.testing.assert_array_equal(target.read(), X * 2)


def test_what_a_list_does_not_take_is_told(objects):
    func, other = function(objects, "scale"), function(objects, "tiled")
    args, ret = acl.rt.kernel_args_init(func)
    check(ret)
    value = np.zeros(8, np.uint8)
    param, ret = acl.rt.kernel_args_append(args, at(value), 8)
    check(ret)
    holder, ret = acl.rt.kernel_args_append_place_holder(args)
    check(ret)

    def refused(code, words):
        assert code == 107000
        assert words in acl.get_recent_err_msg()

    refused(acl.rt.launch_kernel_with_config(func, 1, 0, None, args, None), "not finalised")
    refused(acl.rt.kernel_args_finalize(args), "argument 1 is a place holder")
    refused(acl.rt.kernel_args_get_place_holder_buffer(args, param, 8)[1], "no place holder")
    refused(acl.rt.kernel_args_para_update(args, param, at(value), 4), "has 8 bytes")
    check(acl.rt.kernel_args_get_place_holder_buffer(args, holder, 8)[1])
    refused(acl.rt.kernel_args_para_update(args, holder, at(value), 8), "write to its buffer")
    check(acl.rt.kernel_args_finalize(args))
    refused(acl.rt.kernel_args_append(args, at(value), 8)[1], "finalised")
    refused(acl.rt.launch_kernel_with_config(other, 1, 0, None, args, None), "'scale'")
    for blocks in (0, 65536):
        refused(acl.rt.launch_kernel_with_config(func, blocks, 0, None, args, None),
                f"blockDim is {blocks}; expected 1 to 65535")
    second, _ = acl.rt.kernel_args_init(func)
    assert acl.rt.kernel_args_para_update(second, param, at(value), 8) == 107017
    assert "another list" in acl.get_recent_err_msg()


def test_numbers_that_are_no_address_and_no_word_are_refused(objects):
    func = function(objects, "trap")
    args, _ = arguments(func, struct.pack("<Q", 0x123456789ABCDEF0))
    assert acl.rt.launch_kernel_with_config(func, 1, 0, None, args, None) == 107000
    assert "no address of device memory" in acl.get_recent_err_msg()


def test_arguments_of_another_size_than_the_parameters(objects):
    source = Memory(X)
    func = function(objects, "scale", "debug")
    for piece in (address(source), address(source) * 4, b""):
        assert acl.rt.launch_kernel(func, 1, at(piece) if piece else 0, len(piece), 0) == 107000
        assert "in (8), out (8), count (4), factor (4)" in acl.get_recent_err_msg()


def test_lists_end_after_a_thousand_newer_ones(objects):
    func = function(objects, "scale")
    first, _ = acl.rt.kernel_args_init(func)
    lists = [acl.rt.kernel_args_init(func)[0] for _ in range(1100)]
    assert acl.rt.kernel_args_finalize(first) == 107017
    assert acl.rt.kernel_args_finalize(lists[-1]) == 0


def test_bytes_that_are_no_object_are_refused(objects, tmp_path):
    with open(objects["plain"], "rb") as file:
        good = file.read()
    for data in (b"\x7fELF" + bytes(100), bytes(64), good[:300]):
        assert acl.rt.binary_load_from_data(at(data), len(data), None)[1] != 0
        assert acl.get_recent_err_msg()
    assert acl.rt.binary_load_from_file(str(tmp_path / "absent.o"), None)[1] == 107009
    loaded, _ = acl.rt.binary_load_from_file(objects["plain"], None)
    assert acl.rt.binary_get_function(loaded, "absent")[1] == 507027
    assert "scale" in acl.get_recent_err_msg()


def test_kernels_of_the_ai_cpu_are_refused(objects):
    loaded, _ = acl.rt.binary_load_from_file(objects["plain"], None)
    assert acl.rt.register_cpu_func(loaded, "scale", "scale")[1] == 207000
    options = {"options": [{"type": 3, "value": {"cpuKernelMode": 0}}], "numOpt": 1}
    assert acl.rt.binary_load_from_file(objects["plain"], options)[1] == 207000
