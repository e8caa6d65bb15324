# SPDX-License-Identifier: Apache-2.0
"""Guide 7.10: the callback that hears of failed tasks; allocators of streams; groups of cores."""
import ctypes
import threading

import numpy as np
import pytest

import acl

PARAM_INVALID = 107000
INVALID_HANDLE = 107017
UNKNOWN = 0xFFFFFFFF


@pytest.fixture(autouse=True)
def device():
    assert acl.init() == 0
    assert acl.rt.set_device(1) == 0
    yield
    assert acl.rt.reset_device(1) == 0
    assert acl.finalize() == 0


def fail_on(stream):
    """A host to host copy is accepted and fails when the stream comes to it."""
    data = np.zeros(8, dtype=np.uint8)
    assert acl.rt.memcpy_async(data.ctypes.data, 4, data.ctypes.data + 4, 4, 0, stream) == 0
    return acl.rt.synchronize_stream(stream)


def test_the_callback_hears_of_a_failed_task_with_its_ids():
    heard = []

    def listen(info):
        heard.append((info, acl.rt.get_device_id_from_exception_info(info),
                      acl.rt.get_stream_id_from_exception_info(info),
                      acl.rt.get_task_id_from_exception_info(info),
                      acl.rt.get_thread_id_from_exception_info(info),
                      acl.rt.get_error_code_from_exception_info(info)))

    stream, _ = acl.rt.create_stream()
    block, _ = acl.rt.malloc(64, 0)
    assert acl.rt.set_exception_info_callback(listen) == 0
    assert acl.rt.memset_async(block, 64, 0, 64, stream) == 0
    ret = fail_on(stream)
    assert ret != 0
    (info, device_id, stream_id, task, thread, code), = heard
    assert (device_id, task, thread, code) == (1, 2, threading.get_native_id(), ret)
    assert stream_id == acl.rt.stream_get_id(stream)[0]
    # The information ends with the callback.
    assert acl.rt.get_task_id_from_exception_info(info) == UNKNOWN
    assert acl.rt.get_device_id_from_exception_info(0) == UNKNOWN
    assert acl.rt.set_exception_info_callback(None) == 0
    assert fail_on(stream) != 0
    assert len(heard) == 1
    assert acl.rt.free(block) == 0 and acl.rt.destroy_stream(stream) == 0


def test_a_stream_takes_its_memory_from_the_allocator_it_was_given():
    blocks, log = {}, []

    def alloc(allocator, size):
        buffer = ctypes.create_string_buffer(size)
        address = ctypes.addressof(buffer)
        blocks[address] = buffer
        log.append(("alloc", allocator, size))
        return address

    def free(allocator, block):
        log.append(("free", allocator))
        del blocks[block]

    desc = acl.rt.allocator_create_desc()
    assert desc != 0
    stream, _ = acl.rt.create_stream()
    assert acl.rt.allocator_register(stream, desc) == PARAM_INVALID  # no functions yet
    assert acl.rt.allocator_set_obj_to_desc(desc, 77) == 0
    assert acl.rt.allocator_set_alloc_func_to_desc(desc, alloc) == 0
    assert acl.rt.allocator_set_free_func_to_desc(desc, free) == 0
    assert acl.rt.allocator_set_alloc_advise_func_to_desc(desc, lambda a, s, at: alloc(a, s)) == 0
    assert acl.rt.allocator_set_get_addr_from_block_func_to_desc(desc, lambda block: block) == 0
    assert acl.rt.allocator_register(stream, desc) == 0
    data = np.full(100, 6, dtype=np.uint8)
    target, _ = acl.rt.malloc(100, 0)
    assert acl.rt.memcpy_async_with_condition(target, 100, data.ctypes.data, 100, 1, stream) == 0
    assert acl.rt.synchronize_stream(stream) == 0
    assert log == [("alloc", 77, 100), ("free", 77)] and not blocks
    assert acl.rt.allocator_unregister(stream) == 0
    assert acl.rt.allocator_unregister(stream) == 0  # none is no failure
    assert acl.rt.allocator_destroy_desc(desc) == 0
    assert acl.rt.allocator_destroy_desc(desc) == INVALID_HANDLE
    assert acl.rt.free(target) == 0 and acl.rt.destroy_stream(stream) == 0


def test_a_device_is_one_group_of_its_cores():
    assert acl.rt.get_group_count() == (1, 0)
    info = acl.rt.create_group_info()
    assert info != 0
    assert acl.rt.get_group_info_detail(info, 0, 0)[1] == PARAM_INVALID  # not filled yet
    assert acl.rt.get_all_group_info(info) == 0
    cores, ret = acl.rt.get_group_info_detail(info, 0, 0)
    assert ret == 0 and cores[0] >= 1
    assert acl.rt.get_group_info_detail(info, 0, 5) == ([0], 0)
    assert acl.rt.get_group_info_detail(info, 1, 0)[1] == PARAM_INVALID
    assert acl.rt.get_group_info_detail(info, 0, 6)[1] == PARAM_INVALID
    assert acl.rt.set_group(0) == 0 and acl.rt.set_group(1) == PARAM_INVALID
    assert acl.rt.destroy_group_info(info) == 0
    assert acl.rt.destroy_group_info(info) == INVALID_HANDLE
    assert acl.rt.get_all_group_info(info) == INVALID_HANDLE
