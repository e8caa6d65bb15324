# SPDX-License-Identifier: Apache-2.0
"""Host memory made known to devices; what there is to know about an address."""
import numpy as np
import pytest

import acl

PARAM_INVALID = 107000
INVALID_DEVICE = 107001
NOT_SUPPORTED = 207000
ALREADY_REGISTERED = 507910
NOT_REGISTERED = 507911
MAPPED, IO_MEMORY = 0, 4
V2_MAPPED = 2
HOST, DEVICE, UNREGISTERED = 0, 1, 2


@pytest.fixture(autouse=True)
def device():
    assert acl.init() == 0
    assert acl.rt.set_device(1) == 0
    yield
    assert acl.rt.reset_device(1) == 0
    assert acl.finalize() == 0


def test_registered_memory_has_a_device_address_that_copies_take():
    data = np.arange(1000, dtype=np.uint8)
    address = data.ctypes.data
    seen, ret = acl.rt.host_register(address, data.nbytes, MAPPED)
    assert ret == 0
    assert acl.rt.host_get_device_pointer(address + 10, 0) == (seen + 10, 0)
    block, _ = acl.rt.malloc(1000, 0)
    assert acl.rt.memcpy(block, 1000, seen, 1000, 3) == 0
    back = np.zeros_like(data)
    assert acl.rt.memcpy(back.ctypes.data, 1000, block, 1000, 2) == 0
    assert (back == data).all()
    assert acl.rt.free(block) == 0
    assert acl.rt.host_register(address, 10, MAPPED)[1] == ALREADY_REGISTERED
    assert acl.rt.host_register_v2(address + 5, 10, V2_MAPPED) == ALREADY_REGISTERED
    assert acl.rt.host_unregister(address) == 0
    assert acl.rt.host_unregister(address) == NOT_REGISTERED
    assert acl.rt.host_get_device_pointer(address, 0)[1] == NOT_REGISTERED
    assert acl.rt.host_register_v2(address, 1000, V2_MAPPED) == 0
    assert acl.rt.host_unregister(address) == 0


def test_wrong_registrations_are_refused():
    data = np.zeros(100, dtype=np.uint8)
    address = data.ctypes.data
    assert acl.rt.host_register(0, 100, MAPPED)[1] == PARAM_INVALID
    assert acl.rt.host_register(4096, 100, MAPPED)[1] == PARAM_INVALID
    assert acl.rt.host_register(address, 0, MAPPED)[1] == PARAM_INVALID
    assert acl.rt.host_register(address, 100, 77)[1] == PARAM_INVALID
    assert acl.rt.host_register(address, 100, IO_MEMORY)[1] == NOT_SUPPORTED
    assert acl.rt.host_register_v2(address, 100, 0) == PARAM_INVALID
    assert acl.rt.host_register(address, 1 << 46, MAPPED)[1] == PARAM_INVALID


def place_of(address):
    attributes, ret = acl.rt.pointer_get_attributes(address)
    assert ret == 0
    return attributes["location"]["type"], attributes["location"]["id"]


def test_an_address_tells_where_it_is():
    data = np.zeros(8, dtype=np.uint8)
    block, _ = acl.rt.malloc(100, 0)
    pinned, _ = acl.rt.malloc_host(100)
    assert place_of(block + 50) == (DEVICE, 1)
    assert place_of(pinned)[0] == HOST
    assert place_of(data.ctypes.data)[0] == UNREGISTERED
    assert acl.rt.free(block) == 0 and acl.rt.free_host(pinned) == 0
    assert place_of(block)[0] == UNREGISTERED
    assert acl.rt.pointer_get_attributes(0)[1] == PARAM_INVALID


def test_flush_and_invalidate_check_their_range():
    block, _ = acl.rt.malloc(100, 0)
    for call in (acl.rt.mem_flush, acl.rt.mem_invalidate):
        assert call(block, 100) == 0
        assert call(block, 0) == PARAM_INVALID
        assert call(block, 1 << 40) == PARAM_INVALID
        assert call(0, 100) == PARAM_INVALID
    assert acl.rt.free(block) == 0


def test_memory_has_no_faults_to_report_or_repair():
    assert acl.rt.get_mem_uce_info(1) == ([], 0)
    assert acl.rt.get_mem_uce_info(4096)[1] == INVALID_DEVICE
    assert acl.rt.mem_uce_repair(1, []) == 0
