# SPDX-License-Identifier: Apache-2.0
"""Notifies and values in memory: signals between streams inside one process."""
import pytest
from held_stream import HeldStream

import acl

PARAM_INVALID, INVALID_HANDLE = 107000, 107017
AT_LEAST, EQUAL, ANY_BIT = 0, 1, 2

pytestmark = pytest.mark.usefixtures("device_0")


@pytest.fixture
def notify():
    handle, ret = acl.rt.create_notify(0)
    assert ret == 0 and handle != 0
    yield handle
    acl.rt.destroy_notify(handle)


@pytest.fixture
def stream():
    handle, _ = acl.rt.create_stream()
    yield handle
    acl.rt.destroy_stream_force(handle)


@pytest.fixture
def word():
    """Eight bytes of device memory, zero."""
    address, _ = acl.rt.malloc(8, 0)
    acl.rt.memset(address, 8, 0, 8)
    yield address
    acl.rt.free(address)


def is_waiting(stream):
    return acl.rt.synchronize_stream_with_timeout(stream, 10) != 0


def test_a_wait_goes_on_when_the_notify_is_recorded(notify, stream):
    assert acl.rt.wait_and_reset_notify(notify, stream, 0) == 0
    assert is_waiting(stream)
    assert acl.rt.record_notify(notify, 0) == 0
    assert acl.rt.synchronize_stream(stream) == 0


def test_a_record_before_the_wait_counts_and_is_used_up_by_it(notify, stream):
    assert acl.rt.record_notify(notify, 0) == acl.rt.synchronize_stream(0) == 0
    assert acl.rt.wait_and_reset_notify(notify, stream, 0) == 0
    assert acl.rt.synchronize_stream(stream) == 0
    assert acl.rt.wait_and_reset_notify(notify, stream, 0) == 0
    assert is_waiting(stream), "one record releases one wait"


def test_notifies_work_between_contexts(notify, stream):
    assert acl.rt.wait_and_reset_notify(notify, stream, 0) == 0
    context, _ = acl.rt.create_context(1)
    other, _ = acl.rt.create_stream()
    assert acl.rt.record_notify(notify, other) == 0
    assert acl.rt.synchronize_stream(stream) == 0
    assert acl.rt.destroy_stream(other) == acl.rt.destroy_context(context) == 0


def test_a_wait_with_a_time_limit_fails_at_synchronize(notify, stream):
    assert acl.rt.wait_and_reset_notify(notify, stream, 10) == 0
    assert acl.rt.synchronize_stream(stream) != 0
    assert "notify" in acl.get_recent_err_msg()


def test_reset_takes_a_record_back(notify, stream):
    acl.rt.record_notify(notify, 0)
    acl.rt.synchronize_stream(0)
    assert acl.rt.notify_batch_reset([notify]) == 0
    acl.rt.wait_and_reset_notify(notify, stream, 0)
    assert is_waiting(stream)
    assert acl.rt.notify_batch_reset([]) == PARAM_INVALID


def test_ids_differ_and_destroyed_notifies_are_refused(notify, stream):
    other, _ = acl.rt.create_notify(0)
    assert acl.rt.get_notify_id(notify)[0] != acl.rt.get_notify_id(other)[0]
    assert acl.rt.destroy_notify(other) == 0
    assert acl.rt.destroy_notify(other) == INVALID_HANDLE
    assert acl.rt.record_notify(other, stream) == INVALID_HANDLE
    assert acl.rt.create_notify(9) == (0, PARAM_INVALID)


@pytest.mark.parametrize("condition, before, value", [
    (AT_LEAST, 4, 5), (EQUAL, 7, 5), (ANY_BIT, 2, 5)])
def test_a_stream_waits_for_a_value_in_memory(stream, word, condition, before, value):
    assert acl.rt.value_wait(word, 5, condition, stream) == 0
    assert is_waiting(stream)
    assert acl.rt.value_write(word, before, 0, 0) == acl.rt.synchronize_stream(0) == 0
    assert is_waiting(stream)
    assert acl.rt.value_write(word, value, 0, 0) == 0
    assert acl.rt.synchronize_stream(stream) == 0
    assert int.from_bytes(acl.util.ptr_to_bytes(word, 8), "little") == value


def test_a_value_is_written_in_the_order_of_the_stream(word):
    with HeldStream() as held:
        assert acl.rt.value_write(word, 1 << 40, 0, held.handle) == 0
        assert acl.util.ptr_to_bytes(word, 8) == bytes(8)
        held.open()
        assert acl.rt.synchronize_stream(held.handle) == 0
    assert int.from_bytes(acl.util.ptr_to_bytes(word, 8), "little") == 1 << 40


def test_values_are_checked(word, stream):
    assert acl.rt.value_write(0, 1, 0, stream) == PARAM_INVALID
    assert acl.rt.value_wait(word, 1, 9, stream) == PARAM_INVALID
    assert acl.rt.value_write(word, 1, 5, stream) == PARAM_INVALID


def test_a_stream_that_waits_for_ever_can_be_destroyed(notify, word):
    for submit in (lambda s: acl.rt.wait_and_reset_notify(notify, s, 0),
                   lambda s: acl.rt.value_wait(word, 5, EQUAL, s)):
        stream, _ = acl.rt.create_stream()
        assert submit(stream) == 0
        assert acl.rt.destroy_stream_force(stream) == 0
