# SPDX-License-Identifier: Apache-2.0
"""Described and unpinned copies, reduction, cache operations; batches (in C only)."""
import ctypes
import os

import numpy as np
import pytest

import acl

PARAM_INVALID = 107000
UNALIGNED = 107008
FLOAT, FLOAT16, INT8, INT32, INT64, INT16, BF16 = 0, 1, 2, 3, 9, 6, 27
SUM, MAX, MIN, EQUAL = 10, 11, 12, 13
INSIDE_DEVICE = 6

pytestmark = pytest.mark.usefixtures("device_0")


def put(array):
    block, ret = acl.rt.malloc(array.nbytes, 0)
    assert ret == 0
    assert acl.rt.memcpy(block, array.nbytes, array.ctypes.data, array.nbytes, 1) == 0
    return block


def get(block, like):
    out = np.zeros_like(like)
    assert acl.rt.memcpy(out.ctypes.data, out.nbytes, block, out.nbytes, 2) == 0
    return out


def reduce(a, b, kind, number):
    dst, src = put(a), put(b)
    assert acl.rt.reduce_async(dst, src, a.nbytes, kind, number, 0, 0) == 0
    assert acl.rt.synchronize_stream(0) == 0
    out = get(dst, a)
    assert acl.rt.free(dst) == 0 and acl.rt.free(src) == 0
    return out


@pytest.mark.parametrize("dtype, number", [
    (np.float32, FLOAT), (np.float16, FLOAT16), (np.int8, INT8), (np.int16, INT16),
    (np.int32, INT32)])
@pytest.mark.parametrize("kind, numpy_kind", [(SUM, np.add), (MAX, np.maximum), (MIN, np.minimum),
                                              (EQUAL, np.equal)])
def test_reduction_is_that_of_numpy(dtype, number, kind, numpy_kind):
    rng = np.random.default_rng(kind)
    a, b = (rng.integers(-100, 100, 1001).astype(dtype) for _ in range(2))
    with np.errstate(over="ignore"):
        expected = numpy_kind(a, b).astype(dtype)
    assert (reduce(a, b, kind, number) == expected).all()


def test_bfloat16_sums_round_to_nearest():
    a = (np.arange(8, dtype=np.float32).view(np.uint32) >> 16).astype(np.uint16)
    total = reduce(a, a, SUM, BF16)
    assert ((total.astype(np.uint32) << 16).view(np.float32) == 2 * np.arange(8)).all()


def test_reduction_refuses_what_it_does_not_do():
    block = put(np.zeros(16, dtype=np.float32))
    assert acl.rt.reduce_async(block, block, 64, 9, FLOAT, 0, 0) == PARAM_INVALID
    assert acl.rt.reduce_async(block, block, 64, SUM, INT64, 0, 0) == PARAM_INVALID
    assert acl.rt.reduce_async(block, block, 63, SUM, FLOAT, 0, 0) == PARAM_INVALID
    assert acl.rt.reduce_async(block + 2, block, 32, SUM, FLOAT, 0, 0) == UNALIGNED
    assert acl.rt.reduce_async(0, block, 64, SUM, FLOAT, 0, 0) == PARAM_INVALID
    assert acl.rt.reduce_async(block, block, 1 << 40, SUM, FLOAT, 0, 0) == PARAM_INVALID
    assert acl.rt.free(block) == 0


def test_a_described_copy_runs_with_what_the_description_says_then():
    size, ret = acl.rt.get_memcpy_desc_size(INSIDE_DEVICE)
    assert ret == 0 and size > 0
    desc, _ = acl.rt.malloc(size, 0)
    data = np.arange(32, dtype=np.uint8)
    src, dst = put(data), put(np.zeros_like(data))
    got, ret = acl.rt.set_memcpy_desc(desc, INSIDE_DEVICE, src, dst, 32, 0)
    assert (got, ret) == (desc, 0)
    assert acl.rt.memcpy_async_with_desc(desc, INSIDE_DEVICE, 0) == 0
    assert acl.rt.synchronize_stream(0) == 0
    assert (get(dst, data) == data).all()
    assert acl.rt.memset(desc, size, 0, size) == 0
    assert acl.rt.memcpy_async_with_desc(desc, INSIDE_DEVICE, 0) == 0
    assert acl.rt.synchronize_stream(0) == PARAM_INVALID
    assert acl.rt.get_memcpy_desc_size(1)[1] == PARAM_INVALID
    assert acl.rt.set_memcpy_desc(desc, INSIDE_DEVICE, src, dst, 0, 0)[1] == PARAM_INVALID
    assert acl.rt.memcpy_async_with_desc(0, INSIDE_DEVICE, 0) == PARAM_INVALID
    for block in (desc, src, dst):
        assert acl.rt.free(block) == 0


def test_unpinned_memory_may_be_used_again_at_once():
    stream, _ = acl.rt.create_stream()
    data = np.full(100, 3, dtype=np.uint8)
    block = put(np.zeros_like(data))
    notify, _ = acl.rt.create_notify(0)
    assert acl.rt.wait_and_reset_notify(notify, stream, 0) == 0  # holds the copy back
    assert acl.rt.memcpy_async_with_condition(block, 100, data.ctypes.data, 100, 1, stream) == 0
    data[:] = 9
    assert acl.rt.record_notify(notify, 0) == 0
    assert acl.rt.synchronize_stream(stream) == 0
    assert (get(block, data) == 3).all()
    ret = acl.rt.memcpy_async_with_condition(block, 10, data.ctypes.data, 100, 1, stream)
    assert ret == PARAM_INVALID
    assert acl.rt.destroy_stream(stream) == 0
    assert acl.rt.destroy_notify(notify) == 0
    assert acl.rt.free(block) == 0


def test_cache_operations_run_in_stream_order():
    block = put(np.zeros(4096, dtype=np.uint8))
    for kind in range(4):
        assert acl.rt.cmo_async(block, 4096, kind, 0) == 0
    assert acl.rt.synchronize_stream(0) == 0
    assert acl.rt.cmo_async(block, 4096, 4, 0) == PARAM_INVALID
    assert acl.rt.cmo_async(block, 0, 0, 0) == PARAM_INVALID
    assert acl.rt.cmo_async(block, 1 << 40, 0, 0) == PARAM_INVALID
    assert acl.rt.free(block) == 0


class Location(ctypes.Structure):
    _fields_ = [("id", ctypes.c_uint32), ("type", ctypes.c_int)]


class BatchAttribute(ctypes.Structure):
    _fields_ = [("dst", Location), ("src", Location), ("rsv", ctypes.c_uint8 * 16)]


def batch(function, copies, attributes, indexes):
    """A function that pyACL does not have: the code and the index of the copy to blame."""
    library = ctypes.CDLL(os.path.join(os.environ["ANYNPU_BUILD_DIR"], "lib", "libascendcl.so"))
    pointers, sizes = ctypes.c_void_p * len(copies), ctypes.c_size_t * len(copies)
    failed = ctypes.c_size_t(7)
    ret = getattr(library, function)(
        pointers(*[c[0] for c in copies]), sizes(*[c[1] for c in copies]),
        pointers(*[c[2] for c in copies]), sizes(*[c[3] for c in copies]),
        ctypes.c_size_t(len(copies)), (BatchAttribute * len(attributes))(*attributes),
        (ctypes.c_size_t * len(indexes))(*indexes), ctypes.c_size_t(len(indexes)),
        ctypes.byref(failed), *([None] if function.endswith("Async") else []))
    assert acl.rt.synchronize_stream(0) == 0
    return ret, failed.value


@pytest.mark.parametrize("function", ["aclrtMemcpyBatch", "aclrtMemcpyBatchAsync"])
def test_a_batch_copies_one_way_and_names_the_copy_whose_place_is_wrong(function):
    data = np.arange(64, dtype=np.uint8)
    back = np.zeros_like(data)
    block = put(back)
    host, card = Location(0, 0), Location(0, 1)
    up, down = BatchAttribute(dst=card, src=host), BatchAttribute(dst=host, src=card)
    copies = [(block, 32, data.ctypes.data, 32), (block + 32, 32, data.ctypes.data + 32, 32),
              (back.ctypes.data, 64, block, 64)]
    assert batch(function, copies[:2], [up, up], [0, 1])[0] == 0
    assert batch(function, copies[2:], [down], [0])[0] == 0
    assert (back == data).all()
    nobody = ctypes.c_size_t(-1).value
    assert batch(function, copies, [up, down], [0, 9]) == (PARAM_INVALID, nobody)
    assert batch(function, copies, [up, up], [0, 2]) == (PARAM_INVALID, 2)
    assert batch(function, copies, [up, down], [0, 2]) == (PARAM_INVALID, 2)  # one way a batch
    copies[1] = (block + 32, 8, data.ctypes.data + 32, 32)
    assert batch(function, copies[:2], [up], [0]) == (PARAM_INVALID, nobody)
    assert acl.rt.free(block) == 0
