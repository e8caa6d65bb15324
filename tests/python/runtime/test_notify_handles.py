# SPDX-License-Identifier: Apache-2.0
"""Notifies: waits, batches, ids, and what wrong handles give."""
import pytest

import acl

PARAM_INVALID = 107000
INVALID_HANDLE = 107017
SYNC_TIMEOUT = 507046

pytestmark = pytest.mark.usefixtures("device_0")


@pytest.fixture
def streams():
    pair = [acl.rt.create_stream()[0] for _ in range(2)]
    yield pair
    for stream in pair:
        assert acl.rt.destroy_stream(stream) == 0


def test_a_stream_waits_until_another_records(streams):
    notify, ret = acl.rt.create_notify(0)
    assert ret == 0
    waits, records = streams
    assert acl.rt.wait_and_reset_notify(notify, waits, 0) == 0
    assert acl.rt.synchronize_stream_with_timeout(waits, 5) == SYNC_TIMEOUT
    assert acl.rt.record_notify(notify, records) == 0
    assert acl.rt.synchronize_stream(waits) == 0
    # The wait took the record: the next wait runs into its own timeout.
    assert acl.rt.wait_and_reset_notify(notify, waits, 5) == 0
    assert acl.rt.synchronize_stream(waits) == SYNC_TIMEOUT
    assert "was not recorded" in acl.get_recent_err_msg()
    assert acl.rt.destroy_notify(notify) == 0


def test_batch_reset_forgets_records(streams):
    notifies = [acl.rt.create_notify(0)[0] for _ in range(3)]
    stream = streams[0]
    for notify in notifies:
        assert acl.rt.record_notify(notify, stream) == 0
    assert acl.rt.synchronize_stream(stream) == 0
    assert acl.rt.notify_batch_reset(notifies) == 0
    assert acl.rt.wait_and_reset_notify(notifies[1], stream, 3) == 0
    assert acl.rt.synchronize_stream(stream) == SYNC_TIMEOUT
    assert acl.rt.notify_batch_reset([notifies[0], 12345]) == INVALID_HANDLE
    assert acl.rt.notify_batch_reset([]) == PARAM_INVALID
    for notify in notifies:
        assert acl.rt.destroy_notify(notify) == 0


def test_ids_differ():
    notifies = [acl.rt.create_notify(0)[0] for _ in range(3)]
    ids = [acl.rt.get_notify_id(notify) for notify in notifies]
    assert all(ret == 0 for _, ret in ids) and len({i for i, _ in ids}) == 3
    for notify in notifies:
        assert acl.rt.destroy_notify(notify) == 0


def test_wrong_handles_and_flags_give_their_codes(streams):
    assert acl.rt.create_notify(8)[1] == PARAM_INVALID
    for wrong in (0, streams[0], 12345):
        assert acl.rt.destroy_notify(wrong) == INVALID_HANDLE
        assert acl.rt.record_notify(wrong, streams[0]) == INVALID_HANDLE
        assert acl.rt.wait_and_reset_notify(wrong, streams[0], 0) == INVALID_HANDLE
        assert acl.rt.get_notify_id(wrong)[1] == INVALID_HANDLE
        assert acl.rt.notify_get_export_key(wrong, 65, 0)[1] == INVALID_HANDLE
        assert acl.rt.notify_set_import_pid(wrong, [1]) == INVALID_HANDLE
    notify, _ = acl.rt.create_notify(0)
    assert acl.rt.record_notify(notify, notify) == INVALID_HANDLE
    assert acl.rt.notify_set_import_pid(notify, [1]) == PARAM_INVALID  # no key yet
    assert acl.rt.notify_get_export_key(notify, 10, 0)[1] == PARAM_INVALID
    assert acl.rt.notify_import_by_key("nonsense", 0)[1] == PARAM_INVALID
    assert acl.rt.destroy_notify(notify) == 0
    assert acl.rt.destroy_notify(notify) == INVALID_HANDLE
