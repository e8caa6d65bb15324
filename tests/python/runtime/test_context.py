# SPDX-License-Identifier: Apache-2.0
"""Contexts: explicit and implicit, one per thread, switching, and life after the end."""
import threading

import pytest
from held_stream import HeldStream, opened_during

import acl

CONTEXT_NULL, STREAM_CONTEXT, INVALID_HANDLE = 107002, 107003, 107017

pytestmark = pytest.mark.usefixtures("device_0")


def in_thread(function):
    """The result of a function that runs in a thread of its own."""
    results = []
    thread = threading.Thread(target=lambda: results.append(function()))
    thread.start()
    thread.join(300)
    return results[0]


@pytest.fixture
def context():
    handle, ret = acl.rt.create_context(0)
    assert ret == 0 and handle != 0
    yield handle
    acl.rt.destroy_context(handle)


def test_a_new_context_is_current_and_the_last_one_created_counts(context):
    assert acl.rt.get_context() == (context, 0)
    second, _ = acl.rt.create_context(1)
    assert acl.rt.get_context() == (second, 0)
    assert acl.rt.get_device() == (1, 0)
    assert acl.rt.destroy_context(second) == 0


def test_set_context_switches_context_and_device(context):
    second, _ = acl.rt.create_context(1)
    assert acl.rt.set_context(context) == 0
    assert acl.rt.get_context() == (context, 0) and acl.rt.get_device() == (0, 0)
    assert acl.rt.set_context(second) == 0
    assert acl.rt.get_device() == (1, 0)
    assert acl.rt.destroy_context(second) == 0


def test_set_device_returns_to_the_default_context(context):
    assert acl.rt.set_device(0) == 0
    assert acl.rt.get_context()[0] != context


def test_create_context_needs_no_set_device():
    context, ret = acl.rt.create_context(5)
    assert ret == 0
    memory, ret = acl.rt.malloc(64, 0)
    assert ret == 0 and acl.rt.free(memory) == 0
    assert acl.rt.destroy_context(context) == 0


def test_a_thread_has_no_context_until_it_sets_one(context):
    assert in_thread(acl.rt.get_context)[1] == CONTEXT_NULL

    def use():
        return acl.rt.set_context(context), acl.rt.get_context(), acl.rt.get_device()
    assert in_thread(use) == (0, (context, 0), (0, 0))


def test_each_thread_keeps_its_own_context(context):
    def other():
        own, _ = acl.rt.create_context(1)
        seen = acl.rt.get_device()
        return seen, acl.rt.destroy_context(own)
    assert in_thread(other) == ((1, 0), 0)
    assert acl.rt.get_context() == (context, 0) and acl.rt.get_device() == (0, 0)


def test_a_destroyed_context_cannot_be_used(context):
    assert acl.rt.destroy_context(context) == 0
    assert acl.rt.get_context()[1] == CONTEXT_NULL
    assert acl.rt.create_stream()[1] == CONTEXT_NULL
    assert "destroyed" in acl.get_recent_err_msg()
    assert acl.rt.set_context(context) == INVALID_HANDLE
    assert acl.rt.destroy_context(context) == INVALID_HANDLE
    assert acl.rt.set_device(0) == 0


def test_a_context_destroyed_by_another_thread_is_gone_for_all(context):
    assert in_thread(lambda: acl.rt.destroy_context(context)) == 0
    assert acl.rt.get_context()[1] == CONTEXT_NULL
    assert acl.rt.set_device(0) == 0


def test_streams_of_a_destroyed_context_are_unusable_but_destroyable(context):
    stream, _ = acl.rt.create_stream()
    event, _ = acl.rt.create_event()
    memory, _ = acl.rt.malloc(64, 0)
    assert acl.rt.destroy_context(context) == 0
    assert acl.rt.set_device(0) == 0
    assert acl.rt.memset_async(memory, 64, 0, 64, stream) == STREAM_CONTEXT
    assert "context" in acl.get_recent_err_msg()
    assert acl.rt.record_event(event, stream) != 0
    assert acl.rt.destroy_stream(stream) == 0
    assert acl.rt.destroy_event(event) == 0
    assert acl.rt.free(memory) == 0, "memory belongs to the device"


def test_destroying_a_context_finishes_its_queued_work():
    in_time = False
    while not in_time:
        context, _ = acl.rt.create_context(0)
        memory, _ = acl.rt.malloc(64, 0)
        with HeldStream() as held:
            assert acl.rt.memset_async(memory, 64, 9, 64, held.handle) == 0
            in_time = opened_during(held, acl.rt.destroy_context, context)
        found = acl.util.ptr_to_bytes(memory, 64)
        assert acl.rt.set_device(0) == 0
        assert acl.rt.free(memory) == 0
    assert found == b"\x09" * 64


def test_streams_and_events_of_different_contexts_do_not_wait_for_each_other(context):
    event, _ = acl.rt.create_event()
    stream, _ = acl.rt.create_stream()
    other, _ = acl.rt.create_context(0)
    stranger, _ = acl.rt.create_stream()
    assert acl.rt.record_event(event, stream) == 0
    assert acl.rt.stream_wait_event(stranger, event) == STREAM_CONTEXT
    assert acl.rt.record_event(event, stranger) == STREAM_CONTEXT
    assert acl.rt.reset_event(event, stranger) == STREAM_CONTEXT
    assert "different contexts" in acl.get_recent_err_msg()
    assert acl.rt.destroy_stream(stranger) == acl.rt.destroy_context(other) == 0
    assert acl.rt.destroy_stream(stream) == acl.rt.destroy_event(event) == 0


def test_each_context_has_a_default_stream_of_its_own(context):
    first, _ = acl.rt.ctx_get_current_default_stream()
    other, _ = acl.rt.create_context(0)
    second, _ = acl.rt.ctx_get_current_default_stream()
    assert first != second
    assert acl.rt.destroy_context(other) == 0
    assert acl.rt.stream_query(second)[1] != 0, "it ended with its context"


def test_a_reset_device_ends_explicit_contexts_too(context):
    stream, _ = acl.rt.create_stream()
    memory, _ = acl.rt.malloc(64, 0)
    assert acl.rt.reset_device_force(0) == 0
    assert acl.rt.get_context()[1] == CONTEXT_NULL
    assert acl.rt.malloc(64, 0) == (0, CONTEXT_NULL)
    assert acl.rt.set_context(context) == CONTEXT_NULL
    assert "reset" in acl.get_recent_err_msg()
    assert acl.rt.memset_async(memory, 64, 0, 64, stream) != 0
    assert acl.rt.destroy_stream(stream) == 0
    assert acl.rt.destroy_context(context) == 0
