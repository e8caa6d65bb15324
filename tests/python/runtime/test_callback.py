# SPDX-License-Identifier: Apache-2.0
"""Callbacks of streams as guide 7.5.1 describes them: subscribe, launch, process, unsubscribe.
How Python functions are called back is in test_bindings_callbacks.py."""
import threading

import pytest

import acl

PARAM_INVALID, STREAM_SUBSCRIBED, THREAD_NOT_SUBSCRIBED, NOT_SUBSCRIBED, INVALID_HANDLE = \
    107000, 107011, 107012, 107015, 107017
REPORT_TIMEOUT = 507012
NO_BLOCK, BLOCK = 0, 1
ME = threading.get_ident

pytestmark = pytest.mark.usefixtures("device_0")


@pytest.fixture
def stream():
    """A stream whose callbacks this thread takes."""
    handle, _ = acl.rt.create_stream()
    assert acl.rt.subscribe_report(ME(), handle) == 0
    yield handle
    acl.rt.unsubscribe_report(ME(), handle)
    acl.rt.destroy_stream_force(handle)


def process_until(seen, count):
    while len(seen) < count:
        assert acl.rt.process_report(-1) == 0


def test_the_protocol_of_the_guide_with_a_thread_of_acl_util():
    seen, ended = [], threading.Event()
    context, _ = acl.rt.get_context()

    def serve(arguments):
        context, timeout = arguments
        assert acl.rt.set_context(context) == 0
        while not ended.is_set():
            acl.rt.process_report(timeout)

    thread, ret = acl.util.start_thread(serve, [context, 5])
    assert ret == 0
    stream, _ = acl.rt.create_stream()
    assert acl.rt.subscribe_report(thread, stream) == 0
    memory, _ = acl.rt.malloc(64, 0)
    for value in range(10):
        assert acl.rt.memset_async(memory, 64, value, 64, stream) == 0
        assert acl.rt.launch_callback(
            lambda v: seen.append((v, acl.util.ptr_to_bytes(memory, 1)[0], threading.get_ident())),
            value, BLOCK, stream) == 0
    assert acl.rt.synchronize_stream(stream) == 0
    assert seen == [(v, v, thread) for v in range(10)], "each sees the work before it, none later"
    assert acl.rt.unsubscribe_report(thread, stream) == 0
    ended.set()
    assert acl.util.stop_thread(thread) == 0
    assert acl.rt.destroy_stream(stream) == acl.rt.free(memory) == 0


def test_a_blocking_callback_holds_the_stream_until_it_returned(stream):
    memory, _ = acl.rt.malloc(64, 0)
    acl.rt.memset(memory, 64, 1, 64)
    seen = []
    acl.rt.launch_callback(lambda _: seen.append(acl.util.ptr_to_bytes(memory, 1)), 0, BLOCK,
                           stream)
    acl.rt.memset_async(memory, 64, 2, 64, stream)
    assert acl.rt.synchronize_stream_with_timeout(stream, 10) != 0, "nobody ran the callback"
    process_until(seen, 1)
    assert seen == [b"\1"]
    assert acl.rt.synchronize_stream(stream) == 0
    assert acl.util.ptr_to_bytes(memory, 1) == b"\2"
    assert acl.rt.free(memory) == 0


def test_a_callback_that_does_not_block_lets_the_stream_go_on(stream):
    seen = []
    for value in range(5):
        assert acl.rt.launch_callback(seen.append, value, NO_BLOCK, stream) == 0
    assert acl.rt.synchronize_stream(stream) == 0, "although no callback has run"
    assert seen == []
    process_until(seen, 5)
    assert seen == [0, 1, 2, 3, 4]


def test_one_thread_serves_several_streams(stream):
    others = [acl.rt.create_stream()[0] for _ in range(3)]
    seen = []
    for i, each in enumerate(others):
        assert acl.rt.subscribe_report(ME(), each) == 0
        assert acl.rt.launch_callback(seen.append, i, BLOCK, each) == 0
    process_until(seen, 3)
    assert sorted(seen) == [0, 1, 2]
    for each in others:
        assert acl.rt.synchronize_stream(each) == acl.rt.unsubscribe_report(ME(), each) == 0
        assert acl.rt.destroy_stream(each) == 0


def test_process_report_gives_up_after_its_time(stream):
    assert acl.rt.process_report(5) == REPORT_TIMEOUT
    assert "callback" in acl.get_recent_err_msg()
    assert acl.rt.process_report(0) == PARAM_INVALID
    assert acl.rt.process_report(-2) == PARAM_INVALID


def test_process_report_in_a_thread_that_nothing_is_subscribed_to():
    assert acl.rt.process_report(5) == THREAD_NOT_SUBSCRIBED
    assert "subscribe_report" in acl.get_recent_err_msg()


def test_a_thread_may_wait_before_a_stream_is_subscribed_to_it():
    seen = []

    def serve(_):
        while not seen:
            acl.rt.process_report(1000)

    thread, _ = acl.util.start_thread(serve, [])
    stream, _ = acl.rt.create_stream()
    assert acl.rt.subscribe_report(thread, stream) == 0
    assert acl.rt.launch_callback(seen.append, 1, BLOCK, stream) == 0
    assert acl.rt.synchronize_stream(stream) == 0
    assert acl.util.stop_thread(thread) == 0 and seen == [1]
    assert acl.rt.unsubscribe_report(thread, stream) == acl.rt.destroy_stream(stream) == 0


def test_misuse_of_subscriptions(stream):
    assert acl.rt.subscribe_report(ME(), stream) == STREAM_SUBSCRIBED
    assert acl.rt.unsubscribe_report(ME() + 1, stream) == THREAD_NOT_SUBSCRIBED
    assert acl.rt.launch_callback(print, 0, 2, stream) == PARAM_INVALID
    assert acl.rt.unsubscribe_report(ME(), stream) == 0
    assert acl.rt.unsubscribe_report(ME(), stream) == NOT_SUBSCRIBED
    assert acl.rt.launch_callback(print, 0, BLOCK, stream) == NOT_SUBSCRIBED
    assert acl.rt.subscribe_report(ME(), stream + 1) == INVALID_HANDLE


def test_callbacks_of_a_destroyed_stream_are_not_run(stream):
    seen = []
    acl.rt.launch_callback(seen.append, 1, BLOCK, stream)
    assert acl.rt.destroy_stream_force(stream) == 0
    acl.rt.process_report(5)
    assert seen == []


def test_a_callback_may_use_the_library(stream):
    memory, _ = acl.rt.malloc(64, 0)
    seen = []

    def work(_):
        inner, ret = acl.rt.create_stream()
        assert acl.rt.memset_async(memory, 64, 7, 64, inner) == 0
        assert acl.rt.synchronize_stream(inner) == acl.rt.destroy_stream(inner) == ret == 0
        seen.append(acl.util.ptr_to_bytes(memory, 64))

    acl.rt.launch_callback(work, None, BLOCK, stream)
    process_until(seen, 1)
    assert acl.rt.synchronize_stream(stream) == 0 and seen == [b"\7" * 64]
    assert acl.rt.free(memory) == 0
