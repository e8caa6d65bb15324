# SPDX-License-Identifier: Apache-2.0
"""acl.util: addresses of bytes and arrays, bytes and arrays over addresses."""
import ctypes
import mmap
import subprocess
import sys

import numpy
import pytest

from acl import util

# number, type: as pyACL lists them
NUMPY_TYPES = [(0, "bool"), (1, "int8"), (2, "uint8"), (3, "int16"), (4, "uint16"), (5, "int32"),
               (6, "uint32"), (7, "int64"), (8, "uint64"), (11, "float32"), (12, "float64"),
               (23, "float16")]  # fmt: skip


def test_bytes_to_ptr_is_the_storage_of_the_object():
    data = bytes(range(64))
    address = util.bytes_to_ptr(data)
    assert ctypes.string_at(address, 64) == data
    ctypes.memset(address, 7, 64)  # programs copy results into bytes objects
    assert data == b"\x07" * 64


def test_bytes_and_back():
    data = b"0123456789"
    address = util.bytes_to_ptr(data)
    assert util.ptr_to_bytes(address, len(data)) == data
    assert util.ptr_to_bytes(address + 3, 4) == b"3456"
    assert util.ptr_to_bytes(address, 0) == b""
    assert util.ptr_to_bytes(util.bytes_to_ptr(bytearray(data)), 10) == data


def test_large_copy_is_complete():
    array = numpy.arange(3 << 18, dtype=numpy.int64)
    assert util.ptr_to_bytes(util.numpy_to_ptr(array), array.nbytes) == array.tobytes()


@pytest.mark.parametrize("address, size", [(0, 1), (16, 8), (-1, 1), (1 << 62, 4096), (0, -1)])
def test_memory_that_cannot_be_read_is_an_error_not_a_crash(address, size):
    with pytest.raises(ValueError, match="cannot be read"):
        util.ptr_to_bytes(address, size)
    if size > 0:
        with pytest.raises(ValueError, match="cannot be read"):
            util.ptr_to_numpy(address, (size,), 2)


def test_the_error_states_the_address_and_the_size():
    with pytest.raises(ValueError) as error:
        util.ptr_to_bytes(0x1230, 77)
    assert "the 77 bytes at 0x1230 cannot be read" in str(error.value)


def test_reading_past_the_end_of_a_mapping_is_an_error():
    pages = mmap.mmap(-1, 2 * mmap.PAGESIZE)
    address = ctypes.addressof(ctypes.c_char.from_buffer(pages))
    assert len(util.ptr_to_bytes(address, 2 * mmap.PAGESIZE)) == 2 * mmap.PAGESIZE
    with pytest.raises(ValueError):
        util.ptr_to_bytes(address, 1 << 44)


@pytest.mark.parametrize("number, name", NUMPY_TYPES)
def test_ptr_to_numpy_shares_the_memory(number, name):
    array = numpy.ones((2, 3), dtype=name)
    view = util.ptr_to_numpy(util.numpy_to_ptr(array), (2, 3), number)
    assert view.dtype == array.dtype and view.shape == (2, 3)
    view[1, 2] = 0
    assert not array[1, 2] and array[0, 0]


def test_ptr_to_numpy_takes_a_list_an_int_and_an_empty_shape():
    array = numpy.arange(6, dtype=numpy.float32)
    address = util.numpy_to_ptr(array)
    assert util.ptr_to_numpy(address, [3, 2], 11).shape == (3, 2)
    assert util.ptr_to_numpy(address, 6, 11).tolist() == array.tolist()
    assert util.ptr_to_numpy(address, (), 11) == 0
    assert util.ptr_to_numpy(address, (0, 4), 11).shape == (0, 4)


@pytest.mark.parametrize("shape, number", [((2, -1), 11), ((1 << 40, 1 << 40), 11), ((2,), 13),
                                           ((2,), 99), ((1 << 61,), 12)])
def test_ptr_to_numpy_refuses_bad_shapes_and_types(shape, number):
    address = util.numpy_to_ptr(numpy.zeros(8))
    with pytest.raises(ValueError):
        util.ptr_to_numpy(address, shape, number)


def test_numpy_to_ptr_warns_of_arrays_that_are_not_contiguous():
    array = numpy.zeros((4, 6))
    assert util.numpy_to_ptr(array) == array.ctypes.data
    with pytest.warns(RuntimeWarning, match="not C-contiguous"):
        assert util.numpy_to_ptr(array.T) == array.ctypes.data
    array.setflags(write=False)
    assert util.numpy_to_ptr(array) == array.ctypes.data
    dates = numpy.zeros(2, dtype="datetime64[s]")
    assert util.numpy_to_ptr(dates) == dates.ctypes.data


def test_numpy_contiguous_to_ptr_keeps_or_copies():
    array = numpy.arange(12).reshape(3, 4)
    address, same = util.numpy_contiguous_to_ptr(array)
    assert same is array and address == array.ctypes.data
    address, copy = util.numpy_contiguous_to_ptr(array[:, ::2])
    assert address == copy.ctypes.data and copy.flags.c_contiguous
    assert copy.tolist() == array[:, ::2].tolist()


@pytest.mark.parametrize("value", ["text", 5, None, [1, 2], b"bytes"])
def test_numpy_functions_take_arrays_alone(value):
    for function in (util.numpy_to_ptr, util.numpy_contiguous_to_ptr):
        with pytest.raises(TypeError, match="expected a numpy array"):
            function(value)


def test_no_reference_is_lost():
    array, data = numpy.zeros(4), b"x" * 100
    counts = sys.getrefcount(array), sys.getrefcount(data)
    for _ in range(100):
        util.numpy_to_ptr(array)
        util.numpy_contiguous_to_ptr(array)
        util.bytes_to_ptr(data)
        util.ptr_to_numpy(util.numpy_to_ptr(array), (4,), 12)
    assert (sys.getrefcount(array), sys.getrefcount(data)) == counts


def test_numpy_is_needed_only_by_the_functions_that_use_it():
    program = """
import sys
sys.modules["numpy"] = None
import acl
assert acl.util.ptr_to_bytes(acl.util.bytes_to_ptr(b"abc"), 3) == b"abc"
try:
    acl.util.ptr_to_numpy(acl.util.bytes_to_ptr(b"abc"), (3,), 2)
except ImportError:
    pass
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=300)
