# SPDX-License-Identifier: Apache-2.0
"""Python functions as callbacks of streams, and Ctrl-C inside calls that wait."""
import gc
import os
import signal
import sys
import threading
import time

import pytest

import acl

pytestmark = pytest.mark.usefixtures("runtime")


class Worker:
    """A thread that takes callbacks, as the guide starts it."""

    def __init__(self):
        self.go_on = True
        self.thread, ret = acl.util.start_thread(self.run, [])
        assert ret == 0

    def run(self, _):
        while self.go_on:
            acl.rt.process_report(5)

    def stop(self):
        self.go_on = False
        assert acl.util.stop_thread(self.thread) == 0


@pytest.fixture
def stream():
    handle, ret = acl.rt.create_stream()
    assert ret == 0
    yield handle
    acl.rt.destroy_stream_force(handle)


@pytest.fixture
def subscribed(stream):
    worker = Worker()
    assert acl.rt.subscribe_report(worker.thread, stream) == 0
    yield stream
    acl.rt.unsubscribe_report(worker.thread, stream)
    worker.stop()


def wait_until(condition):
    while not condition():  # the time-out of the tests ends an endless wait
        time.sleep(0.001)


@pytest.mark.parametrize("block_type", [0, 1])
def test_callbacks_run_in_stream_order_on_the_subscribed_thread(subscribed, block_type):
    seen = []

    def note(arguments):
        seen.append((arguments[0], threading.get_ident()))

    for i in range(20):
        assert acl.rt.launch_callback(note, [i], block_type, subscribed) == 0
    assert acl.rt.synchronize_stream(subscribed) == 0
    wait_until(lambda: len(seen) == 20)
    assert [i for i, _ in seen] == list(range(20))
    assert len({thread for _, thread in seen}) == 1
    assert seen[0][1] != threading.get_ident()


def test_references_are_dropped_after_the_callback_ran(subscribed):
    class Marker:
        pass

    marker = Marker()
    before = sys.getrefcount(marker)
    for _ in range(10):
        assert acl.rt.launch_callback(lambda data: None, marker, 1, subscribed) == 0
    assert acl.rt.synchronize_stream(subscribed) == 0
    wait_until(lambda: sys.getrefcount(marker) == before)


def test_references_are_dropped_when_the_launch_fails(stream):
    marker = object()
    before = sys.getrefcount(marker)
    assert acl.rt.launch_callback(lambda data: None, marker, 1, stream) == 107015
    assert acl.rt.launch_callback(lambda data: None, marker, 1, 12345) != 0
    assert sys.getrefcount(marker) == before


def test_references_are_dropped_when_the_stream_is_destroyed_first():
    marker = object()
    before = sys.getrefcount(marker)
    stream, _ = acl.rt.create_stream()
    assert acl.rt.subscribe_report(threading.get_ident(), stream) == 0
    for _ in range(5):
        assert acl.rt.launch_callback(lambda data: None, marker, 1, stream) == 0
    assert sys.getrefcount(marker) == before + 5
    assert acl.rt.destroy_stream_force(stream) == 0
    gc.collect()
    wait_until(lambda: sys.getrefcount(marker) == before)


def test_exception_in_a_callback_is_reported_and_the_stream_goes_on(subscribed, monkeypatch):
    reported, seen = [], []
    monkeypatch.setattr(sys, "unraisablehook", lambda info: reported.append(info.exc_value))

    def fail(_):
        raise ValueError("from the callback")

    assert acl.rt.launch_callback(fail, [], 1, subscribed) == 0
    assert acl.rt.launch_callback(seen.append, "after", 1, subscribed) == 0
    assert acl.rt.synchronize_stream(subscribed) == 0
    assert seen == ["after"]
    assert [str(e) for e in reported] == ["from the callback"]


def interrupt(function, *arguments):
    """Calls a function that waits for ever, and sends SIGINT meanwhile."""
    timer = threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT))
    with pytest.raises(KeyboardInterrupt):
        timer.start()
        function(*arguments)
    timer.join()


def test_ctrl_c_ends_process_report(stream):
    assert acl.rt.subscribe_report(threading.get_ident(), stream) == 0
    interrupt(acl.rt.process_report, -1)
    assert acl.rt.unsubscribe_report(threading.get_ident(), stream) == 0


@pytest.mark.parametrize("name", ["synchronize_stream", "synchronize_device", "synchronize_event"])
def test_ctrl_c_ends_synchronize(stream, name):
    other = threading.get_ident() + 1  # nobody takes the callback, so the stream stays
    assert acl.rt.subscribe_report(other, stream) == 0
    assert acl.rt.launch_callback(lambda data: None, [], 1, stream) == 0
    event, ret = acl.rt.create_event()
    assert ret == 0
    assert acl.rt.record_event(event, stream) == 0
    arguments = {"synchronize_stream": [stream], "synchronize_event": [event]}.get(name, [])
    interrupt(getattr(acl.rt, name), *arguments)
    acl.rt.destroy_stream_force(stream)
    acl.rt.destroy_event(event)
