# SPDX-License-Identifier: Apache-2.0
"""Events: recording, waiting, asking, times."""
import threading

import pytest
from held_stream import HeldStream

import acl

PARAM_INVALID, TIMESTAMP_INVALID, TIMESTAMP_REVERSAL = 107000, 107006, 107007
INVALID_HANDLE = 107017
NOT_COMPLETE, EVENT_SYNC_TIMEOUT = 507006, 507047
SYNC, PROGRESS, TIME_LINE, EXTERNAL = 1, 2, 8, 32

pytestmark = pytest.mark.usefixtures("device_0")


@pytest.fixture
def event():
    handle, ret = acl.rt.create_event()
    assert ret == 0 and handle != 0
    yield handle
    acl.rt.destroy_event(handle)


@pytest.fixture
def memory():
    address, _ = acl.rt.malloc(64, 0)
    acl.rt.memset(address, 64, 0, 64)
    yield address
    acl.rt.free(address)


def test_an_event_is_complete_when_its_stream_has_passed_it(event):
    assert acl.rt.query_event_status(event) == (0, 0), "never recorded"
    with HeldStream() as held:
        assert acl.rt.record_event(event, held.handle) == 0
        assert acl.rt.query_event(event) == (1, 0)
        assert acl.rt.query_event_status(event) == (0, 0)
        held.open()
        assert acl.rt.synchronize_event(event) == 0
        assert acl.rt.query_event(event) == (0, 0)
        assert acl.rt.query_event_status(event) == (1, 0)


def test_a_stream_waits_for_an_event_of_another(event, memory):
    waiting, _ = acl.rt.create_stream()
    with HeldStream() as held:
        acl.rt.memset_async(memory, 64, 1, 64, held.handle)
        acl.rt.record_event(event, held.handle)
        assert acl.rt.stream_wait_event(waiting, event) == 0
        acl.rt.memset_async(memory, 1, 2, 1, waiting)
        assert acl.rt.synchronize_stream_with_timeout(waiting, 10) != 0
        assert acl.rt.query_event_wait_status(event) == (1, 0)
        held.open()
        assert acl.rt.synchronize_stream(waiting) == 0
    assert acl.util.ptr_to_bytes(memory, 64) == b"\2" + b"\1" * 63
    assert acl.rt.query_event_wait_status(event) == (0, 0)
    assert acl.rt.destroy_stream(waiting) == 0


def test_several_streams_wait_for_one_event(event):
    waiting = [acl.rt.create_stream()[0] for _ in range(8)]
    with HeldStream() as held:
        acl.rt.record_event(event, held.handle)
        for stream in waiting:
            assert acl.rt.stream_wait_event(stream, event) == 0
            assert acl.rt.stream_query(stream) == (1, 0)
        held.open()
        for stream in waiting:
            assert acl.rt.synchronize_stream(stream) == 0
            assert acl.rt.destroy_stream(stream) == 0


def test_a_wait_means_the_last_record_before_it(event):
    first, _ = acl.rt.create_stream()
    with HeldStream() as held:
        assert acl.rt.record_event(event, first) == 0
        waiting, _ = acl.rt.create_stream()
        assert acl.rt.stream_wait_event(waiting, event) == 0
        assert acl.rt.record_event(event, held.handle) == 0
        assert acl.rt.synchronize_stream(waiting) == 0, "it waits for the first record alone"
        assert acl.rt.query_event_status(event) == (0, 0)
    for stream in (first, waiting):
        assert acl.rt.destroy_stream(stream) == 0


def test_record_comes_before_wait(event):
    assert acl.rt.stream_wait_event(0, event) == PARAM_INVALID
    assert "record_event" in acl.get_recent_err_msg()
    assert acl.rt.synchronize_event(event) != 0


def test_a_stream_may_wait_for_its_own_event(event):
    assert acl.rt.record_event(event, 0) == 0
    assert acl.rt.stream_wait_event(0, event) == 0
    assert acl.rt.synchronize_stream(0) == 0


def test_synchronize_with_a_timeout(event):
    with HeldStream() as held:
        acl.rt.record_event(event, held.handle)
        assert acl.rt.synchronize_event_with_timeout(event, 10) == EVENT_SYNC_TIMEOUT
        held.open()
        assert acl.rt.synchronize_event_with_timeout(event, 300000) == 0
        assert acl.rt.synchronize_event_with_timeout(event, -2) == PARAM_INVALID


def test_elapsed_time_and_timestamps(event):
    end, _ = acl.rt.create_event()
    memory, _ = acl.rt.malloc(32 << 20, 0)
    acl.rt.record_event(event, 0)
    acl.rt.memset_async(memory, 32 << 20, 1, 32 << 20, 0)
    acl.rt.record_event(end, 0)
    acl.rt.synchronize_stream(0)
    elapsed, ret = acl.rt.event_elapsed_time(event, end)
    assert ret == 0 and 0.1 < elapsed < 300000, "milliseconds of a fill of 32 MiB"
    start_us, end_us = (acl.rt.event_get_timestamp(each)[0] for each in (event, end))
    assert abs((end_us - start_us) / 1000 - elapsed) < 0.01
    assert acl.rt.event_elapsed_time(end, event)[1] == TIMESTAMP_REVERSAL
    assert acl.rt.free(memory) == acl.rt.destroy_event(end) == 0


def test_times_need_a_recorded_and_passed_event(event):
    assert acl.rt.event_get_timestamp(event)[1] == TIMESTAMP_INVALID
    with HeldStream() as held:
        acl.rt.record_event(event, held.handle)
        assert acl.rt.event_get_timestamp(event)[1] == NOT_COMPLETE
        assert acl.rt.event_elapsed_time(event, event)[1] == NOT_COMPLETE


@pytest.mark.parametrize("create", [acl.rt.create_event_with_flag,
                                    acl.rt.create_event_ex_with_flag])
def test_flags_say_what_an_event_can_do(create):
    for flag in (SYNC, PROGRESS, TIME_LINE, SYNC | PROGRESS | TIME_LINE, EXTERNAL):
        event, ret = create(flag)
        assert ret == 0
        assert acl.rt.record_event(event, 0) == 0
        assert acl.rt.synchronize_event(event) == 0
        timed = acl.rt.event_get_timestamp(event)[1]
        assert (timed == 0) == bool(flag & TIME_LINE)
        assert acl.rt.destroy_event(event) == 0
    for flag in (0, 1 << 20):
        assert create(flag) == (0, PARAM_INVALID)


def test_reset_forgets_the_record(event):
    assert acl.rt.reset_event(event, 0) == PARAM_INVALID, "not for events of create_event"
    event, _ = acl.rt.create_event_with_flag(SYNC)
    acl.rt.record_event(event, 0)
    assert acl.rt.reset_event(event, 0) == 0
    assert acl.rt.synchronize_stream(0) == 0
    assert acl.rt.query_event_status(event) == (0, 0)
    assert acl.rt.stream_wait_event(0, event) == PARAM_INVALID
    assert acl.rt.record_event(event, 0) == 0
    assert acl.rt.synchronize_event(event) == 0


def test_an_event_may_be_destroyed_while_a_stream_waits_for_it(event):
    waiting, _ = acl.rt.create_stream()
    with HeldStream() as held:
        acl.rt.record_event(event, held.handle)
        acl.rt.stream_wait_event(waiting, event)
        assert acl.rt.destroy_event(event) == 0
        held.open()
        assert acl.rt.synchronize_stream(waiting) == 0
    assert acl.rt.destroy_stream(waiting) == 0
    assert acl.rt.record_event(event, 0) == INVALID_HANDLE
    assert acl.rt.destroy_event(event) == INVALID_HANDLE


def test_an_aborted_record_lets_go_of_those_who_wait(event):
    waiting, _ = acl.rt.create_stream()
    with HeldStream() as held:
        acl.rt.record_event(event, held.handle)
        acl.rt.stream_wait_event(waiting, event)
        assert acl.rt.destroy_stream_force(held.handle) == 0
        assert acl.rt.synchronize_stream(waiting) == 0
    assert acl.rt.destroy_stream(waiting) == 0


def test_a_host_thread_wakes_when_the_event_is_passed(event):
    with HeldStream() as held:
        acl.rt.record_event(event, held.handle)
        threading.Timer(0.02, held.open).start()
        assert acl.rt.synchronize_event(event) == 0


def test_a_wait_takes_no_longer_than_the_time_set_for_waits(event):
    waiting, _ = acl.rt.create_stream()
    assert acl.rt.set_op_wait_timeout(1) == 0
    with HeldStream() as held:
        acl.rt.record_event(event, held.handle)
        acl.rt.stream_wait_event(waiting, event)
        assert acl.rt.synchronize_stream(waiting) != 0
        assert "set_op_wait_timeout" in acl.get_recent_err_msg()
    assert acl.rt.set_op_wait_timeout(0) == 0
    assert acl.rt.destroy_stream(waiting) == 0


def test_ids_and_the_number_of_events_left(event):
    left, ret = acl.rt.get_event_avail_num()
    other, _ = acl.rt.create_event()
    assert ret == 0 and acl.rt.get_event_avail_num() == (left - 1, 0)
    assert acl.rt.get_event_id(event)[0] != acl.rt.get_event_id(other)[0]
    assert acl.rt.destroy_event(other) == 0
