# SPDX-License-Identifier: Apache-2.0
"""Addresses without memory, memory without addresses, and bringing the two together."""
import numpy as np
import pytest

import acl

PARAM_INVALID = 107000
INVALID_DEVICE = 107001
INVALID_HANDLE = 107017
UNALIGNED = 107008
OUT_OF_MEMORY = 207001
HBM_NORMAL, HBM_HUGE = 5, 4
PAGE = 4096
MIB = 1 << 20

pytestmark = pytest.mark.usefixtures("device_0")


def prop(attribute=HBM_NORMAL, device=0, place=1):
    return {"handleType": 0, "allocationType": 0, "memAttr": attribute,
            "location": {"id": device, "type": place}, "reserve": 0}


def test_mapped_memory_is_used_like_any_other():
    address, ret = acl.rt.reserve_mem_address(4 * PAGE, 0, 0, 0)
    assert ret == 0
    handle, ret = acl.rt.malloc_physical(2 * PAGE, prop(), 0)
    assert ret == 0
    assert acl.rt.map_mem(address + PAGE, 2 * PAGE, 0, handle, 0) == 0
    data = np.arange(100, dtype=np.uint8)
    back = np.zeros_like(data)
    inside = address + PAGE + 50
    assert acl.rt.memcpy(inside, 100, data.ctypes.data, 100, 1) == 0
    assert acl.rt.memcpy(back.ctypes.data, 100, inside, 100, 2) == 0
    assert (back == data).all()
    # Not beside it, and not past its end.
    assert acl.rt.memset(address, PAGE, 0, 1) == PARAM_INVALID
    assert "reserved" in acl.get_recent_err_msg()
    assert acl.rt.memset(inside, 4 * PAGE, 0, 3 * PAGE) == PARAM_INVALID
    assert acl.rt.release_mem_address(address) == PARAM_INVALID  # unmap first
    assert acl.rt.unmap_mem(address + PAGE) == 0
    assert acl.rt.memset(inside, 1, 0, 1) == PARAM_INVALID
    assert acl.rt.release_mem_address(address) == 0
    assert acl.rt.free_physical(handle) == 0


def test_physical_memory_counts_against_the_device():
    free_before = acl.rt.get_mem_info(1)[0]
    handle, ret = acl.rt.malloc_physical(3 * MIB, prop(HBM_HUGE), 0)
    assert ret == 0
    assert acl.rt.get_mem_info(1)[0] == free_before - 4 * MIB  # rounded up to 2 MiB
    assert acl.rt.free_physical(handle) == 0
    assert acl.rt.get_mem_info(1)[0] == free_before
    assert acl.rt.malloc_physical(1 << 45, prop(), 0)[1] == OUT_OF_MEMORY


def test_one_memory_at_two_addresses():
    handle, _ = acl.rt.malloc_physical(PAGE, prop(), 0)
    address, _ = acl.rt.reserve_mem_address(2 * PAGE, 0, 0, 0)
    assert acl.rt.map_mem(address, PAGE, 0, handle, 0) == 0
    assert acl.rt.map_mem(address + PAGE, PAGE, 0, handle, 0) == 0
    assert acl.rt.memset(address, PAGE, 7, PAGE) == 0
    byte = np.zeros(1, dtype=np.uint8)
    assert acl.rt.memcpy(byte.ctypes.data, 1, address + PAGE + 9, 1, 2) == 0
    assert byte[0] == 7
    assert acl.rt.unmap_mem(address) == 0
    assert acl.rt.unmap_mem(address + PAGE) == 0
    assert acl.rt.release_mem_address(address) == 0
    assert acl.rt.free_physical(handle) == 0


def test_granularity_follows_the_page_size():
    assert acl.rt.mem_get_allocation_granularity(prop(HBM_NORMAL), 0) == (PAGE, 0)
    assert acl.rt.mem_get_allocation_granularity(prop(HBM_NORMAL), 1) == (2 * MIB, 0)
    assert acl.rt.mem_get_allocation_granularity(prop(HBM_HUGE), 0) == (2 * MIB, 0)
    assert acl.rt.mem_get_allocation_granularity(prop(HBM_HUGE), 9)[1] == PARAM_INVALID


def test_wrong_arguments_give_their_codes():
    assert acl.rt.reserve_mem_address(0, 0, 0, 0)[1] == PARAM_INVALID
    assert acl.rt.reserve_mem_address(PAGE, 3, 0, 0)[1] == PARAM_INVALID
    assert acl.rt.reserve_mem_address(PAGE, 0, 0, 8)[1] == PARAM_INVALID
    assert acl.rt.malloc_physical(0, prop(), 0)[1] == PARAM_INVALID
    assert acl.rt.malloc_physical(PAGE, prop(), 1)[1] == PARAM_INVALID
    assert acl.rt.malloc_physical(PAGE, prop(device=4096), 0)[1] == INVALID_DEVICE
    assert acl.rt.malloc_physical(PAGE, prop(attribute=99), 0)[1] == PARAM_INVALID
    assert acl.rt.malloc_physical(PAGE, prop(place=2), 0)[1] == PARAM_INVALID
    assert acl.rt.release_mem_address(0) == PARAM_INVALID
    assert acl.rt.unmap_mem(PAGE) == PARAM_INVALID
    assert acl.rt.free_physical(0) == INVALID_HANDLE
    stream, _ = acl.rt.create_stream()
    assert acl.rt.free_physical(stream) == INVALID_HANDLE
    address, _ = acl.rt.reserve_mem_address(PAGE, 0, 0, 0)
    handle, _ = acl.rt.malloc_physical(PAGE, prop(), 0)
    assert acl.rt.map_mem(address, PAGE, 0, stream, 0) == INVALID_HANDLE
    assert acl.rt.map_mem(address + 1, PAGE, 0, handle, 0) == UNALIGNED
    assert acl.rt.map_mem(address, 2 * PAGE, 0, handle, 0) == PARAM_INVALID
    assert acl.rt.map_mem(address, PAGE, 0, handle, 5) == PARAM_INVALID
    assert acl.rt.map_mem(0, PAGE, 0, handle, 0) == PARAM_INVALID
    assert acl.rt.free_physical(handle) == 0
    assert acl.rt.free_physical(handle) == INVALID_HANDLE
    assert acl.rt.release_mem_address(address) == 0
    assert acl.rt.destroy_stream(stream) == 0
