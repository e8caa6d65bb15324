# SPDX-License-Identifier: Apache-2.0
"""Settings of devices, streams and threads (acl.rt): what was set is read back, and what is fixed
tells what it is."""
import os
import threading

import pytest

import acl

PARAM_INVALID, DEVICE_INVALID, SYSPARAM_NOT_SET, NOT_SUPPORTED = 107000, 107001, 107021, 207000
CUBE, VECTOR = 0, 1
SATURATION, INF_NAN = 0, 1

pytestmark = pytest.mark.usefixtures("device_0")


@pytest.mark.parametrize("limit, value, kept", [
    (0, 1, 128), (1, 129, 256), (2, 40 << 10, 48 << 10), (3, 4097, 4104), (4, 1, 1 << 20)])
def test_a_limit_of_a_device_is_rounded_up_and_kept(limit, value, kept):
    before, ret = acl.rt.device_get_limit(limit)
    assert ret == 0 and before > 0
    assert acl.rt.device_set_limit(limit, value) == 0
    assert acl.rt.device_get_limit(limit) == (kept, 0)
    assert acl.rt.device_set_limit(limit, before) == 0
    for wrong in (0, 1 << 40):
        assert acl.rt.device_set_limit(limit, wrong) == PARAM_INVALID
    assert acl.rt.device_get_limit(limit) == (before, 0)
    assert acl.rt.device_get_limit(5)[1] == acl.rt.device_set_limit(5, 1) == PARAM_INVALID


@pytest.mark.parametrize("kind", [CUBE, VECTOR])
def test_cores_of_a_device_are_limited_and_given_back(kind):
    all_cores, ret = acl.rt.get_device_res_limit(0, kind)
    assert ret == 0 and all_cores >= 1
    assert acl.rt.set_device_res_limit(0, kind, 1) == 0
    assert acl.rt.get_device_res_limit(0, kind) == (1, 0)
    assert acl.rt.get_device_res_limit(0, 1 - kind) == (all_cores, 0)
    assert acl.rt.reset_device_res_limit(0) == 0
    assert acl.rt.get_device_res_limit(0, kind) == (all_cores, 0)
    for wrong in (0, all_cores + 1):
        assert acl.rt.set_device_res_limit(0, kind, wrong) == PARAM_INVALID
    assert acl.rt.set_device_res_limit(0, 2, 1) == PARAM_INVALID
    assert acl.rt.get_device_res_limit(10_000, kind)[1] == DEVICE_INVALID


def test_settings_last_until_finalize():
    limit, cores = acl.rt.device_get_limit(3), acl.rt.get_device_res_limit(0, CUBE)
    assert acl.rt.device_set_limit(3, 2048) == acl.rt.set_device_res_limit(0, CUBE, 1) == 0
    assert acl.rt.set_sys_param_opt(0, 1) == acl.rt.set_op_execute_time_out(3) == 0
    assert acl.rt.get_sys_param_opt(0) == (1, 0)
    assert acl.finalize() == acl.init() == acl.rt.set_device(0) == 0
    assert (acl.rt.device_get_limit(3), acl.rt.get_device_res_limit(0, CUBE)) == (limit, cores)
    assert acl.rt.get_op_execute_timeout() == (0, 0)
    assert acl.rt.get_sys_param_opt(0) == (0, 0)


def test_a_thread_takes_over_the_cores_of_a_stream(stream):
    all_cores, _ = acl.rt.get_stream_res_limit(stream, CUBE)
    assert acl.rt.set_stream_res_limit(stream, CUBE, 1) == 0
    assert acl.rt.get_stream_res_limit(stream, CUBE) == (1, 0)
    assert acl.rt.get_res_in_current_thread(CUBE) == (all_cores, 0)
    assert acl.rt.use_stream_res_in_current_thread(stream) == 0
    assert acl.rt.get_res_in_current_thread(CUBE) == (1, 0)
    assert acl.rt.unuse_stream_res_in_current_thread(stream) == 0
    assert acl.rt.get_res_in_current_thread(CUBE) == (all_cores, 0)
    assert acl.rt.reset_stream_res_limit(stream) == 0
    assert acl.rt.get_stream_res_limit(stream, CUBE) == (all_cores, 0)
    assert acl.rt.set_stream_res_limit(stream, VECTOR, all_cores + 1) == PARAM_INVALID


@pytest.mark.parametrize("attribute, name, values", [
    (2, "overflowSwitch", (1, 0)), (3, "userCustomTag", (7, 0)), (5, "streamPriority", (7, 0))])
def test_attributes_of_a_stream_are_read_back(stream, attribute, name, values):
    for value in values:
        for given in (value, {name: value}):
            assert acl.rt.set_stream_attribute(stream, attribute, given) == 0
            found, ret = acl.rt.get_stream_attribute(stream, attribute)
            assert ret == 0 and found[name] == value
    assert acl.rt.get_stream_attribute(stream, 99)[1] == PARAM_INVALID


def test_the_overflow_switch_and_its_attribute_are_one(stream):
    assert acl.rt.set_stream_overflow_switch(stream, 1) == 0
    assert acl.rt.get_stream_overflow_switch(stream) == (1, 0)
    assert acl.rt.get_stream_attribute(stream, 2)[0]["overflowSwitch"] == 1
    assert acl.rt.set_stream_overflow_switch(stream, 2) == PARAM_INVALID


def test_the_failure_mode_is_set_once(stream):
    assert acl.rt.set_stream_attribute(stream, 1, 1) == 0
    assert acl.rt.get_stream_attribute(stream, 1)[0]["failureMode"] == 1
    assert acl.rt.set_stream_attribute(stream, 1, 0) == PARAM_INVALID
    assert "it can be set once" in acl.get_recent_err_msg()


def test_cached_operators_are_off_outside_of_captures(stream):
    assert acl.rt.set_stream_attribute(stream, 4, 1) == 0
    assert acl.rt.get_stream_attribute(stream, 4)[0]["cacheOpInfoSwitch"] == 0


def test_a_priority_is_0_to_7(stream):
    assert acl.rt.set_stream_attribute(stream, 5, 8) == PARAM_INVALID


def test_time_limits_of_operators_are_read_back_in_milliseconds():
    try:
        for seconds, milliseconds in ((3, 3000), (2**32 - 1, 2**32 - 1), (0, 0)):
            assert acl.rt.set_op_execute_time_out(seconds) == 0
            assert acl.rt.get_op_execute_timeout() == (milliseconds, 0)
        assert acl.rt.set_op_execute_timeout_v2(2500) == (2500, 0)
        assert acl.rt.get_op_execute_timeout() == (2, 0)
        assert acl.rt.set_op_execute_timeout_v2(0) == (2**64 - 1, 0), "never"
        interval, ret = acl.rt.get_op_timeout_interval()
        assert ret == 0 and interval >= 1
    finally:
        assert acl.rt.set_op_execute_time_out(0) == 0


def test_the_last_error_of_a_thread_is_looked_at_and_taken():
    acl.rt.get_last_error(0)
    assert acl.rt.set_ts_device(2) == PARAM_INVALID
    seen = []
    thread = threading.Thread(target=lambda: seen.append(acl.rt.peek_at_last_error(0)))
    thread.start()
    thread.join()
    assert seen == [0], "of each thread its own"
    assert acl.rt.peek_at_last_error(0) == acl.rt.peek_at_last_error(0) == PARAM_INVALID
    assert acl.rt.get_last_error(0) == PARAM_INVALID
    assert acl.rt.get_last_error(0) == 0
    assert acl.rt.get_last_error(1) == PARAM_INVALID


def test_devices_tell_who_they_are():
    count, _ = acl.rt.get_device_count()
    uuids = set()
    for device in range(count):
        uuid, ret = acl.rt.device_get_uuid(device)
        assert ret == 0
        uuids.add(str(uuid))
        assert acl.rt.query_device_status(device) == (0, 0)
        assert acl.rt.get_devices_topo(0, device)[1] == 0
        logic, ret = acl.rt.get_logic_dev_id_by_phy_dev_id(device)
        assert (logic, ret) == (device, 0)
        assert acl.rt.get_user_dev_id_by_logic_dev_id(logic) == (device, 0)
    assert len(uuids) == count
    assert acl.rt.device_get_bare_tgid() == (os.getpid(), 0)
    for call in (acl.rt.device_get_uuid, acl.rt.query_device_status,
                 acl.rt.get_logic_dev_id_by_phy_dev_id, acl.rt.get_user_dev_id_by_logic_dev_id):
        assert call(10_000)[1] == DEVICE_INVALID
    assert acl.rt.get_device_info(0, 301) == (acl.rt.get_mem_info(1)[1], 0)
    assert acl.rt.get_device_info(0, 101)[0] >= 1
    assert acl.rt.get_device_info(0, 202)[1] == NOT_SUPPORTED, "a CPU has no warps"


def test_numbers_overflow_to_infinity_and_not_to_the_largest():
    assert acl.rt.get_device_sat_mode() == (INF_NAN, 0)
    assert acl.rt.set_device_sat_mode(INF_NAN) == 0
    assert acl.rt.set_device_sat_mode(SATURATION) == NOT_SUPPORTED
    assert acl.rt.set_device_sat_mode(2) == PARAM_INVALID
    assert acl.rt.set_ts_device(0) == acl.rt.set_ts_device(1) == 0


def test_tasks_of_a_thread_are_numbered(stream):
    memory, ret = acl.rt.malloc_for_task_scheduler(64, 0, None)
    assert ret == 0
    assert acl.rt.memset_async(memory, 64, 0, 64, stream) == 0
    first, ret = acl.rt.get_thread_last_task_id()
    assert ret == 0
    assert acl.rt.memset_async(memory, 64, 0, 64, stream) == 0
    assert acl.rt.get_thread_last_task_id()[0] != first
    assert acl.rt.synchronize_stream(stream) == 0
    host, ret = acl.rt.malloc_host_with_cfg(64, None)
    assert ret == 0
    assert acl.rt.free_host(host) == acl.rt.free(memory) == 0
