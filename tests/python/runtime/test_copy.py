# SPDX-License-Identifier: Apache-2.0
"""Copies: the four kinds and by address, at once and queued, rows of pictures, strict mode."""
import os

import pytest
from program import run

import acl

PARAM_INVALID, UNALIGNED = 107000, 107008
H2H, H2D, D2H, D2D, BY_ADDRESS = range(5)
SIZE = 10000

pytestmark = pytest.mark.usefixtures("device_0")


@pytest.fixture
def places():
    """Two blocks of host and two of device memory; the first of each holds random data."""
    data = os.urandom(SIZE)
    blocks = {}
    for name in ("host_a", "host_b"):
        blocks[name], _ = acl.rt.malloc_host(SIZE)
    for name in ("device_a", "device_b"):
        blocks[name], _ = acl.rt.malloc(SIZE, 0)
    for name, block in blocks.items():
        acl.rt.memset(block, SIZE, 0, SIZE)
        if name.endswith("_a"):
            assert acl.rt.memcpy(block, SIZE, acl.util.bytes_to_ptr(data), SIZE, BY_ADDRESS) == 0
    blocks["data"] = data
    yield blocks
    for name in ("host_a", "host_b"):
        assert acl.rt.free_host(blocks[name]) == 0
    for name in ("device_a", "device_b"):
        assert acl.rt.free(blocks[name]) == 0


KINDS = [("host_b", "host_a", H2H), ("device_b", "host_a", H2D), ("host_b", "device_a", D2H),
         ("device_b", "device_a", D2D), ("host_b", "device_a", BY_ADDRESS),
         ("device_b", "host_a", BY_ADDRESS)]


@pytest.mark.parametrize("to, source, kind", KINDS)
def test_synchronous_copies(places, to, source, kind):
    assert acl.rt.memcpy(places[to], SIZE, places[source], SIZE, kind) == 0
    assert acl.util.ptr_to_bytes(places[to], SIZE) == places["data"]


@pytest.mark.parametrize("to, source, kind", KINDS[1:])
def test_asynchronous_copies(places, to, source, kind):
    stream, _ = acl.rt.create_stream()
    assert acl.rt.memcpy_async(places[to], SIZE, places[source], SIZE, kind, stream) == 0
    assert acl.rt.synchronize_stream(stream) == 0
    assert acl.util.ptr_to_bytes(places[to], SIZE) == places["data"]
    assert acl.rt.destroy_stream(stream) == 0


@pytest.mark.parametrize("kind", [H2H, H2D, D2H, D2D])
def test_a_wrong_kind_copies_by_address(places, kind):
    assert acl.rt.memcpy(places["host_b"], SIZE, places["device_a"], SIZE, kind) == 0
    assert acl.util.ptr_to_bytes(places["host_b"], SIZE) == places["data"]


def test_interior_pointers(places):
    assert acl.rt.memcpy(places["device_b"] + 100, 50, places["host_a"] + 7, 50, H2D) == 0
    copied = acl.util.ptr_to_bytes(places["device_b"], SIZE)
    assert copied == bytes(100) + places["data"][7:57] + bytes(SIZE - 150)


def test_bytes_objects_are_source_and_destination(places):
    target = bytes(SIZE)
    assert acl.rt.memcpy(acl.util.bytes_to_ptr(target), SIZE, places["device_a"], SIZE, D2H) == 0
    assert target == places["data"]


def test_arguments_are_checked(places):
    to, source = places["device_b"], places["host_a"]
    assert acl.rt.memcpy(to, 10, source, 11, H2D) == PARAM_INVALID, "no room"
    assert "room" in acl.get_recent_err_msg()
    assert acl.rt.memcpy(to, SIZE, source, SIZE, 9) == PARAM_INVALID
    assert acl.rt.memcpy(0, SIZE, source, SIZE, H2D) == PARAM_INVALID
    assert acl.rt.memcpy(to, SIZE, 0, SIZE, H2D) == PARAM_INVALID
    assert acl.rt.memcpy(to, 1 << 30, source, 1 << 30, H2D) == PARAM_INVALID, "past the end"
    assert acl.rt.memcpy(to, SIZE, 4096, SIZE, H2D) == PARAM_INVALID, "never allocated"
    assert acl.rt.memcpy_async(to, 1 << 30, source, 1 << 30, H2D, 0) == PARAM_INVALID
    assert acl.rt.memcpy(to, 0, source, 0, H2D) == 0
    assert acl.util.ptr_to_bytes(to, SIZE) == bytes(SIZE), "nothing was copied"


def test_overlapping_ranges_are_moved(places):
    memory = places["device_a"]
    assert acl.rt.memcpy(memory + 64, SIZE - 64, memory, SIZE - 64, D2D) == 0
    assert acl.util.ptr_to_bytes(memory + 64, SIZE - 64) == places["data"][:SIZE - 64]


@pytest.mark.parametrize("queued", [False, True])
def test_rows_are_copied_between_pitches(places, queued):
    arguments = [places["device_b"], 32, places["host_a"], 100, 20, 30, H2D]
    if queued:
        stream, _ = acl.rt.create_stream()
        assert acl.rt.memcpy2d_async(*arguments, stream) == 0
        assert acl.rt.synchronize_stream(stream) == acl.rt.destroy_stream(stream) == 0
    else:
        assert acl.rt.memcpy2d(*arguments) == 0
    copied = acl.util.ptr_to_bytes(places["device_b"], SIZE)
    for row in range(30):
        assert copied[row * 32:row * 32 + 20] == places["data"][row * 100:row * 100 + 20]
        assert copied[row * 32 + 20:row * 32 + 32] == bytes(12), "between the rows: untouched"


def test_rows_are_checked(places):
    to, source = places["device_b"], places["host_a"]
    assert acl.rt.memcpy2d(to, 16, source, 100, 20, 2, H2D) == PARAM_INVALID, "pitch under width"
    assert acl.rt.memcpy2d(to, 100, source, 100, 100, 200, H2D) == PARAM_INVALID, "too many rows"
    assert acl.rt.memcpy2d(to, 1 << 62, source, 1 << 62, 8, 1 << 40, H2D) == PARAM_INVALID
    assert acl.rt.memcpy2d(to, 100, source, 100, 0, 5, H2D) == 0
    assert acl.rt.memcpy2d(to, 100, source, 100, 5, 0, H2D) == 0


def test_unaligned_asynchronous_copies_are_accepted_by_default(places):
    assert acl.rt.memcpy_async(places["device_b"] + 3, 100, places["host_a"] + 5, 100, H2D, 0) == 0
    assert acl.rt.synchronize_stream(0) == 0
    assert acl.util.ptr_to_bytes(places["device_b"] + 3, 100) == places["data"][5:105]


def test_strict_mode_refuses_unaligned_asynchronous_copies_and_wrong_kinds():
    codes = run("""
        import acl
        acl.init()
        acl.rt.set_device(0)
        host, _ = acl.rt.malloc_host(256)
        device, _ = acl.rt.malloc(256, 0)
        print(acl.rt.memcpy_async(device + 3, 64, host, 64, 1, 0))
        print("64" in acl.get_recent_err_msg())
        print(acl.rt.memcpy_async(device, 64, host + 8, 64, 1, 0))
        print(acl.rt.memcpy_async(device, 64, host + 64, 64, 1, 0), acl.rt.synchronize_stream(0))
        print(acl.rt.memcpy(device + 3, 64, host + 5, 64, 1))
        print(acl.rt.memcpy(device, 64, host, 64, 2))
        """, ANYNPU_STRICT="1")
    assert codes == [str(UNALIGNED), "True", str(UNALIGNED), "0", "0", "0", str(PARAM_INVALID)]
