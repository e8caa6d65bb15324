# SPDX-License-Identifier: Apache-2.0
"""Devices: counting uses, default context and stream, run modes, waiting, peers, utilisation."""
import pytest
from held_stream import HeldStream
from program import run

import acl

PARAM_INVALID, INVALID_DEVICE, CONTEXT_NULL, INVALID_HANDLE = 107000, 107001, 107002, 107017
SYNC_TIMEOUT, UNINITIALIZED = 507046, 100001


def test_a_device_stays_in_use_until_every_set_has_its_reset(initialised):
    assert acl.rt.set_device(0) == acl.rt.set_device(0) == 0
    assert acl.rt.reset_device(0) == 0
    assert acl.rt.get_device() == (0, 0), "one use is left"
    assert acl.rt.reset_device(0) == 0
    assert acl.rt.get_device()[1] == CONTEXT_NULL
    assert acl.rt.reset_device(0) == INVALID_DEVICE, "one reset too many"
    assert "reset" in acl.get_recent_err_msg()


def test_forced_reset_ends_all_uses_at_once(initialised):
    for _ in range(3):
        assert acl.rt.set_device(1) == 0
    assert acl.rt.reset_device_force(1) == 0
    assert acl.rt.get_device()[1] == CONTEXT_NULL
    assert acl.rt.reset_device(1) != 0


def test_memory_of_a_device_is_gone_after_its_last_reset(initialised):
    acl.rt.set_device(0)
    memory, _ = acl.rt.malloc(64, 0)
    acl.rt.reset_device(0)
    acl.rt.set_device(0)
    assert acl.rt.memset(memory, 64, 0, 64) == PARAM_INVALID
    assert acl.rt.free(memory) == PARAM_INVALID
    acl.rt.reset_device(0)


@pytest.mark.parametrize("device", [-1, 8, 1 << 20])
def test_a_device_that_is_not_there_is_named(initialised, device):
    assert acl.rt.set_device(device) == INVALID_DEVICE
    assert f"device {device} does not exist; expected 0 to 7" in acl.get_recent_err_msg()
    assert acl.rt.create_context(device) == (0, INVALID_DEVICE)


def test_set_device_switches_between_devices(initialised):
    for device in (0, 3, 0):
        assert acl.rt.set_device(device) == 0
        assert acl.rt.get_device() == (device, 0)
    for device in (0, 3, 0):
        assert acl.rt.reset_device(device) == 0


def test_the_default_context_is_there_after_set_device_and_cannot_be_destroyed(device_0):
    context, ret = acl.rt.get_context()
    assert ret == 0 and context != 0
    assert acl.rt.set_context(context) == 0
    assert acl.rt.destroy_context(context) == PARAM_INVALID
    assert "default context" in acl.get_recent_err_msg()
    assert acl.rt.get_context() == (context, 0), "still there"


def test_repeated_set_device_keeps_the_default_context(device_0):
    context, _ = acl.rt.get_context()
    assert acl.rt.set_device(0) == 0
    assert acl.rt.get_context() == (context, 0)


def test_the_default_stream_is_0_and_cannot_be_destroyed(device_0):
    memory, _ = acl.rt.malloc(64, 0)
    assert acl.rt.memset_async(memory, 64, 5, 64, 0) == 0
    assert acl.rt.synchronize_stream(0) == 0
    assert acl.rt.stream_query(0) == (0, 0)
    assert acl.rt.destroy_stream(0) != 0
    assert "default stream" in acl.get_recent_err_msg()
    default, ret = acl.rt.ctx_get_current_default_stream()
    assert ret == 0 and acl.rt.stream_get_id(default) == acl.rt.stream_get_id(0)
    assert acl.rt.destroy_stream(default) != 0
    assert acl.rt.free(memory) == 0


def test_calls_need_a_device(initialised):
    assert acl.rt.malloc(64, 0) == (0, CONTEXT_NULL)
    assert acl.rt.create_stream() == (0, CONTEXT_NULL)
    assert acl.rt.create_event() == (0, CONTEXT_NULL)
    assert acl.rt.synchronize_device() == CONTEXT_NULL
    assert acl.rt.synchronize_stream(0) == CONTEXT_NULL
    assert "set_device" in acl.get_recent_err_msg()


def test_primary_context_state(initialised):
    assert acl.rt.get_primary_ctx_state(2) == (0, 0, 0)
    acl.rt.set_device(2)
    assert acl.rt.get_primary_ctx_state(2) == (1, 0, 0)
    acl.rt.reset_device(2)
    assert acl.rt.get_primary_ctx_state(2) == (0, 0, 0)


def test_run_mode_is_host_and_known_before_init():
    assert acl.rt.get_run_mode() == (1, 0)


def test_run_mode_device_gives_device_memory_from_malloc_host():
    assert run("""
        import acl
        print(*acl.rt.get_run_mode())
        acl.init()
        acl.rt.set_device(0)
        before = acl.rt.get_mem_info(1)[0]
        pointer, ret = acl.rt.malloc_host(1 << 20)
        print(ret, before - acl.rt.get_mem_info(1)[0] >= 1 << 20)
        print(acl.rt.memset(pointer, 1 << 20, 1, 1 << 20), acl.rt.free_host(pointer))
        print(acl.rt.get_mem_info(1)[0] == before)
        """, ANYNPU_RUN_MODE="device") == ["0", "0", "0", "True", "0", "0", "True"]


def test_synchronize_device_waits_for_all_streams_of_all_contexts(device_0):
    with HeldStream() as held:
        other, _ = acl.rt.create_context(0)
        assert acl.rt.synchronize_device_with_timeout(20) == SYNC_TIMEOUT
        held.open()
        assert acl.rt.synchronize_device() == 0
        assert acl.rt.stream_query(held.handle) == (0, 0)
        assert acl.rt.destroy_context(other) == 0


def test_synchronize_device_does_not_wait_for_other_devices(device_0):
    with HeldStream():
        context, _ = acl.rt.create_context(1)
        assert acl.rt.synchronize_device() == 0
        assert acl.rt.destroy_context(context) == 0


def test_abort_drops_the_queued_work_of_a_device(device_0):
    memory, _ = acl.rt.malloc(64, 0)
    acl.rt.memset(memory, 64, 1, 64)
    with HeldStream() as held:
        assert acl.rt.memset_async(memory, 64, 2, 64, held.handle) == 0
        assert acl.rt.device_task_abort(0, 1000) == 0
    assert acl.util.ptr_to_bytes(memory, 64) == b"\1" * 64


def test_memory_info_counts_allocations(device_0):
    free, total, ret = acl.rt.get_mem_info(1)
    assert ret == 0 and 0 < free <= total
    memory, _ = acl.rt.malloc(1 << 20, 0)
    assert acl.rt.get_mem_info(1)[0] <= free - (1 << 20)
    acl.rt.free(memory)
    assert acl.rt.get_mem_info(1) == (free, total, 0)
    assert acl.rt.get_mem_info(99)[2] == PARAM_INVALID


def test_utilisation_is_a_share_that_rises_with_work(device_0):
    acl.rt.get_device_utilization_rate(0)  # starts the window
    size = 32 << 20
    memory, _ = acl.rt.malloc(size, 0)
    for value in range(8):
        acl.rt.memset_async(memory, size, value, size, 0)
    acl.rt.synchronize_stream(0)
    busy, ret = acl.rt.get_device_utilization_rate(0)
    assert ret == 0 and 0 < busy["cube_utilization"] <= 100
    assert 0 <= busy["memory_utilization"] <= 100
    assert list(busy) == ["cube_utilization", "vector_utilization", "aicpu_utilization",
                          "memory_utilization", "utilization_extend"]
    idle, _ = acl.rt.get_device_utilization_rate(7)
    assert idle["cube_utilization"] == 0
    acl.rt.free(memory)


def test_peer_access_and_copies_between_devices(device_0):
    assert acl.rt.device_can_access_peer(0, 1) == (1, 0)
    assert acl.rt.device_can_access_peer(0, 0) == (0, 0)
    assert acl.rt.device_enable_peer_access(1, 0) == 0
    assert acl.rt.device_peer_access_status(0, 1) == (1, 0)
    on_0, _ = acl.rt.malloc(4096, 0)
    acl.rt.memset(on_0, 4096, 7, 4096)
    assert acl.rt.set_device(1) == 0
    on_1, _ = acl.rt.malloc(4096, 0)
    assert acl.rt.memcpy(on_1, 4096, on_0, 4096, 3) == 0
    assert acl.util.ptr_to_bytes(on_1, 4096) == b"\7" * 4096
    acl.rt.memset(on_0, 4096, 8, 4096)
    stream, _ = acl.rt.create_stream()
    assert acl.rt.memcpy_async(on_1, 4096, on_0, 4096, 3, stream) == 0
    assert acl.rt.synchronize_stream(stream) == 0
    assert acl.util.ptr_to_bytes(on_1, 4096) == b"\x08" * 4096
    assert acl.rt.destroy_stream(stream) == 0
    assert acl.rt.reset_device(1) == 0
    assert acl.rt.set_device(0) == 0
    assert acl.rt.device_disable_peer_access(1) == 0
    assert acl.rt.device_peer_access_status(0, 1) == (0, 0)
    assert acl.rt.device_disable_peer_access(1) != 0, "not enabled"
    assert acl.rt.device_enable_peer_access(0, 0) != 0, "a device is no peer of itself"


def test_system_parameters_are_kept_per_context_and_per_process(device_0):
    assert acl.rt.ctx_get_sys_param_opt(0)[1] != 0, "never set"
    assert acl.rt.ctx_set_sys_param_opt(0, 1) == 0
    assert acl.rt.ctx_get_sys_param_opt(0) == (1, 0)
    assert acl.rt.set_sys_param_opt(1, 1) == 0
    assert acl.rt.get_sys_param_opt(1) == (1, 0)
    context, _ = acl.rt.create_context(0)
    assert acl.rt.ctx_get_sys_param_opt(0)[1] != 0, "another context"
    assert acl.rt.destroy_context(context) == 0


def test_init_after_finalize_starts_anew():
    for _ in range(3):
        assert acl.init() == 0
        assert acl.rt.set_device(0) == 0
        memory, ret = acl.rt.malloc(64, 0)
        stream, _ = acl.rt.create_stream()
        assert ret == 0 and acl.rt.memset_async(memory, 64, 0, 64, stream) == 0
        assert acl.finalize() == 0
        assert acl.rt.set_device(0) == UNINITIALIZED
        assert acl.rt.synchronize_stream(stream) == UNINITIALIZED
