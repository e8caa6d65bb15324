# SPDX-License-Identifier: Apache-2.0
"""Streams: order, waiting, asking, dropping work, limits."""
import pytest
from held_stream import HeldStream, opened_during
from program import run

import acl

PARAM_INVALID, INVALID_HANDLE, STREAM_ABORT, NO_STREAM, NOT_SUPPORTED, SYNC_TIMEOUT = \
    107000, 107017, 107023, 207008, 207000, 507046
COMPLETE, NOT_READY = 0, 1

pytestmark = pytest.mark.usefixtures("device_0")


@pytest.fixture
def stream():
    handle, ret = acl.rt.create_stream()
    assert ret == 0 and handle != 0
    yield handle
    acl.rt.destroy_stream(handle)


@pytest.fixture
def memory():
    address, ret = acl.rt.malloc(4096, 0)
    assert ret == 0 and acl.rt.memset(address, 4096, 0, 4096) == 0
    yield address
    acl.rt.free(address)


def test_the_work_of_a_stream_is_done_in_order(stream, memory):
    for value in range(200):
        assert acl.rt.memset_async(memory, 4096, value, 4096, stream) == 0
        assert acl.rt.memset_async(memory, 4096, 255, 1, stream) == 0
    assert acl.rt.synchronize_stream(stream) == 0
    assert acl.util.ptr_to_bytes(memory, 4096) == b"\xff" + bytes([199]) * 4095


def test_streams_work_independently_of_each_other(stream, memory):
    with HeldStream():
        assert acl.rt.memset_async(memory, 64, 3, 64, stream) == 0
        assert acl.rt.synchronize_stream(stream) == 0, "the held stream does not hold this one"
        assert acl.util.ptr_to_bytes(memory, 64) == b"\3" * 64


def test_query_tells_whether_work_is_left(stream, memory):
    assert acl.rt.stream_query(stream) == (COMPLETE, 0)
    with HeldStream() as held:
        acl.rt.memset_async(memory, 64, 1, 64, held.handle)
        assert acl.rt.stream_query(held.handle) == (NOT_READY, 0)
        held.open()
        assert acl.rt.synchronize_stream(held.handle) == 0
        assert acl.rt.stream_query(held.handle) == (COMPLETE, 0)


def test_synchronize_with_a_timeout_gives_up_and_can_be_repeated(memory):
    with HeldStream() as held:
        acl.rt.memset_async(memory, 64, 1, 64, held.handle)
        assert acl.rt.synchronize_stream_with_timeout(held.handle, 10) == SYNC_TIMEOUT
        assert acl.rt.synchronize_stream_with_timeout(held.handle, 0) == SYNC_TIMEOUT
        held.open()
        assert acl.rt.synchronize_stream_with_timeout(held.handle, 300000) == 0
        assert acl.rt.synchronize_stream_with_timeout(held.handle, -1) == 0
        assert acl.rt.synchronize_stream_with_timeout(held.handle, -2) == PARAM_INVALID


def test_destroying_a_stream_finishes_its_queued_work(memory):
    stream, _ = acl.rt.create_stream()
    for value in range(100):
        acl.rt.memset_async(memory, 4096, value, 4096, stream)
    assert acl.rt.destroy_stream(stream) == 0
    assert acl.util.ptr_to_bytes(memory, 4096) == bytes([99]) * 4096


def test_destroying_a_held_stream_waits_for_what_holds_it(memory):
    in_time = False
    while not in_time:
        with HeldStream() as held:
            acl.rt.memset_async(memory, 64, 4, 64, held.handle)
            in_time = opened_during(held, acl.rt.destroy_stream, held.handle)
    assert acl.util.ptr_to_bytes(memory, 64) == b"\4" * 64


def test_forced_destruction_drops_queued_work(memory):
    with HeldStream() as held:
        acl.rt.memset_async(memory, 64, 4, 64, held.handle)
        assert acl.rt.destroy_stream_force(held.handle) == 0
        assert acl.util.ptr_to_bytes(memory, 64) == bytes(64)


def test_abort_drops_queued_work_and_the_stream_stays_usable(memory):
    with HeldStream() as held:
        acl.rt.memset_async(memory, 64, 4, 64, held.handle)
        assert acl.rt.stream_abort(held.handle) == 0
        held.open()
        assert acl.rt.synchronize_stream(held.handle) == STREAM_ABORT
        assert "aborted" in acl.get_recent_err_msg()
        assert acl.util.ptr_to_bytes(memory, 64) == bytes(64)
        acl.rt.memset_async(memory, 64, 5, 64, held.handle)
        assert acl.rt.synchronize_stream(held.handle) == 0
        assert acl.util.ptr_to_bytes(memory, 64) == b"\5" * 64


def test_a_destroyed_stream_is_refused_everywhere(stream, memory):
    assert acl.rt.destroy_stream(stream) == 0
    for call, *arguments in ((acl.rt.synchronize_stream, stream), (acl.rt.destroy_stream, stream),
                             (acl.rt.stream_abort, stream),
                             (acl.rt.memset_async, memory, 64, 0, 64, stream)):
        assert call(*arguments) == INVALID_HANDLE
        assert "destroyed" in acl.get_recent_err_msg()
    assert acl.rt.stream_query(stream)[1] == INVALID_HANDLE


def test_a_stream_is_not_an_event_or_a_context(stream):
    assert acl.rt.destroy_event(stream) == INVALID_HANDLE
    assert acl.rt.set_context(stream) == INVALID_HANDLE
    assert acl.rt.synchronize_stream(stream) == 0


def test_priority_and_flags_are_kept():
    stream, ret = acl.rt.create_stream_with_config(3, 0x3)
    assert ret == 0
    assert acl.rt.stream_get_priority(stream) == (3, 0)
    assert acl.rt.stream_get_flags(stream) == (3, 0)
    assert acl.rt.destroy_stream(stream) == 0
    least, greatest, ret = acl.rt.device_get_stream_priority_range()
    assert (least, greatest, ret) == (7, 0, 0)
    assert acl.rt.create_stream_with_config(8, 0) == (0, PARAM_INVALID)
    plain, ret = acl.rt.create_stream_with_config(0, 1 << 20)
    assert ret == 0, "unknown flags give an ordinary stream"
    assert acl.rt.stream_get_flags(plain) == (0, 0)
    assert acl.rt.destroy_stream(plain) == 0


def test_ids_of_streams_differ(stream):
    other, _ = acl.rt.create_stream()
    ids = {acl.rt.stream_get_id(handle)[0] for handle in (0, stream, other)}
    assert len(ids) == 3
    assert acl.rt.destroy_stream(other) == 0


def test_available_streams_go_down_and_up(stream):
    before, ret = acl.rt.get_stream_available_num()
    assert ret == 0
    other, _ = acl.rt.create_stream()
    assert acl.rt.get_stream_available_num()[0] == before - 1
    acl.rt.destroy_stream(other)
    assert acl.rt.get_stream_available_num()[0] == before


def test_streams_that_were_never_destroyed_do_not_count_after_their_context():
    before, _ = acl.rt.get_stream_available_num()
    context, _ = acl.rt.create_context(0)
    streams = [acl.rt.create_stream()[0] for _ in range(20)]
    assert acl.rt.destroy_context(context) == 0
    assert acl.rt.set_device(0) == 0
    assert acl.rt.get_stream_available_num()[0] == before
    assert all(acl.rt.destroy_stream(stream) == 0 for stream in streams)
    assert acl.rt.get_stream_available_num()[0] == before, "given back once"


def test_more_streams_than_the_limit_give_207008():
    assert run("""
        import acl
        acl.init()
        acl.rt.set_device(0)
        streams = []
        while True:
            stream, ret = acl.rt.create_stream()
            if ret:
                break
            streams.append(stream)
        print(ret, len(streams), "ANYNPU_MAX_STREAMS" in acl.get_recent_err_msg())
        print(acl.rt.destroy_stream(streams.pop()), acl.rt.create_stream()[1])
        acl.rt.set_device(1)
        print(acl.rt.create_stream()[1])
        """, ANYNPU_MAX_STREAMS="10") == [str(NO_STREAM), "9", "True", "0", "0", "0"], \
        "nine and the default stream; another device has its own"


def test_a_host_to_host_copy_is_accepted_and_fails_at_synchronize(stream):
    a, _ = acl.rt.malloc_host(64)
    b, _ = acl.rt.malloc_host(64)
    acl.rt.memset(b, 64, 1, 64)
    assert acl.rt.memcpy_async(b, 64, a, 64, 0, stream) == 0
    assert acl.rt.synchronize_stream(stream) == NOT_SUPPORTED
    assert "host to host" in acl.get_recent_err_msg()
    assert acl.rt.synchronize_stream(stream) == 0, "a failure is told once"
    assert acl.util.ptr_to_bytes(b, 64) == b"\1" * 64, "nothing was copied"
    acl.rt.free_host(a)
    acl.rt.free_host(b)


def test_work_after_a_failure_goes_on_or_stops_as_the_failure_mode_says(stream, memory):
    host, _ = acl.rt.malloc_host(64)
    acl.rt.memcpy_async(host, 64, host, 64, 0, stream)
    acl.rt.memset_async(memory, 64, 1, 64, stream)
    assert acl.rt.synchronize_stream(stream) == NOT_SUPPORTED
    assert acl.util.ptr_to_bytes(memory, 64) == b"\1" * 64, "mode 0 carries on"
    assert acl.rt.set_stream_failure_mode(stream, 1) == 0
    with_stop = HeldStream(stream)
    with with_stop:
        acl.rt.memcpy_async(host, 64, host, 64, 0, stream)
        acl.rt.memset_async(memory, 64, 2, 64, stream)
        with_stop.open()
        assert acl.rt.synchronize_stream(stream) == NOT_SUPPORTED
        assert acl.util.ptr_to_bytes(memory, 64) == b"\1" * 64, "mode 1 stops"
        assert acl.rt.memset_async(memory, 64, 3, 64, stream) != 0
        assert acl.rt.memset_async(memory, 64, 3, 64, 0) != 0, "all streams of the context stop"
        assert acl.rt.synchronize_stream(0) == NOT_SUPPORTED
    acl.rt.free_host(host)


def test_memory_freed_while_work_is_queued_is_kept_until_the_work_is_done():
    memory, _ = acl.rt.malloc(1 << 20, 0)
    with HeldStream() as held:
        acl.rt.memset_async(memory, 1 << 20, 1, 1 << 20, held.handle)
        assert acl.rt.free(memory) == 0
        held.open()
        assert acl.rt.synchronize_stream(held.handle) == 0
