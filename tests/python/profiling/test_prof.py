# SPDX-License-Identifier: Apache-2.0
"""acl.prof: the order of its calls (each documented violation gives its code), what a session
writes, and the program's own marks."""
import os
import re
import subprocess
import sys
import threading

import pytest
from prof_case import API, METRICS, RUNTIME, TASK, TX, directory, session

import acl

ALREADY_RUN, NOT_RUN, REPEAT, CONFLICT = 100042, 100043, 100002, 148047
BAD_PARAMETER, BAD_FILE, BAD_CONFIG, UNSUPPORTED_BITS = 100000, 100003, 100010, 200007


@pytest.fixture
def initialised(device_0, tmp_path):
    assert acl.prof.init(str(tmp_path)) == 0, acl.get_recent_err_msg()
    yield tmp_path
    acl.prof.finalize()


def test_before_acl_init_every_call_gives_uninitialised(tmp_path):
    assert acl.prof.init(str(tmp_path)) == 100001
    assert acl.prof.finalize() == 100001
    assert acl.prof.create_config([0], 0, 0, API) == 0


def test_start_stop_and_finalize_need_init(device_0):
    config = acl.prof.create_config([0], 0, 0, API)
    assert acl.prof.start(config) == NOT_RUN
    assert "aclprofInit" in acl.get_recent_err_msg()
    assert acl.prof.stop(config) == NOT_RUN
    assert acl.prof.finalize() == NOT_RUN
    assert acl.prof.destroy_config(config) == 0


def test_second_init_is_refused_until_finalize(initialised):
    assert acl.prof.init(str(initialised)) == REPEAT
    assert acl.prof.finalize() == 0
    assert acl.prof.init(str(initialised)) == 0


def test_init_refuses_paths_that_are_empty_too_long_or_have_forbidden_characters(device_0):
    assert acl.prof.init("") == BAD_PARAMETER
    assert acl.prof.init("x" * 5000) == BAD_PARAMETER
    assert acl.prof.init("a;b") == BAD_FILE


def test_configurations_with_bad_devices_or_events_are_not_made(device_0):
    for arguments in (([0, 0], 0, 0, API), ([99], 0, 0, API), ([], 0, 0, API), ([0], 0, 8, API)):
        assert acl.prof.create_config(*arguments) == 0, arguments
        assert acl.get_recent_err_msg()
    config = acl.prof.create_config([], 0, 0, TX)
    assert config != 0
    assert acl.prof.destroy_config(config) == 0
    assert acl.prof.destroy_config(0) == BAD_PARAMETER
    assert acl.prof.destroy_config(config) == BAD_PARAMETER


def test_start_checks_bits_and_metrics(initialised):
    for bits, metrics, code in ((0, 0, BAD_PARAMETER), (1 << 40, 0, UNSUPPORTED_BITS),
                                (API | METRICS, 77, BAD_PARAMETER)):
        config = acl.prof.create_config([0], metrics, 0, bits)
        assert acl.prof.start(config) == code, (bits, metrics)
        assert acl.prof.destroy_config(config) == 0


# What the documents say each chip does not count.
MISSING_METRICS = {"Ascend310P3": {6, 7, 8}, "Ascend310B4": {8}, "Ascend910A": {6, 7, 8},
                   "Ascend910B": {6, 7, 8}, "Ascend910B2C": {7}, "Ascend910_9382": {7},
                   "Ascend310": set()}


@pytest.mark.parametrize("soc", MISSING_METRICS)
def test_start_refuses_metrics_that_the_chip_does_not_count(tmp_path, soc):
    script = f"""
import acl
acl.init(); acl.rt.set_device(0)
assert acl.prof.init({str(tmp_path)!r}) == 0
for metrics in (*range(9), 255):
    config = acl.prof.create_config([0], metrics, 0, {API | METRICS})
    code = acl.prof.start(config)
    print(metrics, code, acl.get_recent_err_msg() if code else acl.prof.stop(config))
"""
    done = subprocess.run([sys.executable, "-c", script], env=dict(os.environ, ANYNPU_SOC=soc),
                          capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    codes = {int(line.split()[0]): int(line.split()[1]) for line in done.stdout.splitlines()
             if line[:1].isdigit()}
    missing = MISSING_METRICS[soc]
    assert codes == {m: BAD_PARAMETER if m in missing else 0 for m in (*range(9), 255)}
    if missing:
        assert f"which {soc} does not count; choose others" in done.stdout


def test_a_device_is_profiled_once_at_a_time(initialised):
    both = acl.prof.create_config([0, 1], 0, 0, API)
    overlapping = acl.prof.create_config([1, 2], 0, 0, API)
    other = acl.prof.create_config([2], 0, 0, API)
    assert acl.prof.start(both) == 0
    assert acl.prof.start(both) == ALREADY_RUN
    assert acl.prof.start(overlapping) == ALREADY_RUN
    assert acl.prof.start(other) == 0
    assert acl.prof.stop(overlapping) == BAD_CONFIG
    assert acl.prof.stop(both) == 0
    assert acl.prof.start(overlapping) == ALREADY_RUN  # device 2 still runs
    assert acl.prof.stop(other) == 0
    assert acl.prof.start(overlapping) == 0
    assert acl.prof.stop(overlapping) == 0
    assert acl.prof.stop(overlapping) == NOT_RUN
    assert len(os.listdir(initialised)) == 3


def test_stop_needs_the_configuration_that_was_started(initialised):
    config = acl.prof.create_config([0], 0, 0, API)
    same = acl.prof.create_config([0], 0, 0, API)
    different = acl.prof.create_config([0], 0, 0, API | TASK)
    assert acl.prof.start(config) == 0
    assert acl.prof.stop(different) == BAD_CONFIG
    assert acl.prof.stop(same) == 0


def test_stop_checks_what_start_checks_and_neither_takes_no_configuration(initialised):
    for bits, code in ((0, BAD_PARAMETER), (1 << 40, UNSUPPORTED_BITS)):
        config = acl.prof.create_config([0], 0, 0, bits)
        assert acl.prof.stop(config) == code
        assert acl.prof.destroy_config(config) == 0
    assert acl.prof.start(0) == BAD_PARAMETER and acl.prof.stop(0) == BAD_PARAMETER
    assert acl.get_recent_err_msg()


def test_settings_count_before_init_too(device_0, tmp_path):
    assert acl.prof.set_config(16, str(tmp_path / "elsewhere")) == 0
    assert acl.prof.init(str(tmp_path / "here")) == 0
    config = acl.prof.create_config([0], 0, 0, API)
    assert acl.prof.start(config) == 0
    assert acl.prof.stop(config) == 0
    assert acl.prof.finalize() == 0
    assert os.listdir(tmp_path) == ["elsewhere"]


# number -> (good values, values that are refused)
SETTINGS = {
    1: (["200MB", "4294967295MB"], ["199MB", "4294967296MB", "200", "MB", "-1MB", ""]),
    3: (["1", "15", "100"], ["0", "101", "-1", "1.5", "fast", ""]),
    4: (["read", "write"], ["both", ""]),
    5: (["1", "100"], ["0", "101", "x"]),
    6: (["1", "50"], ["0", "51", "x"]),
    7: (["1", "100"], ["0", "101", "x"]),
    8: (["cpu", "cpu,mem,disk,network,osrt,numa"], ["gpu", "cpu,,mem", ""]),
    9: (["cpu", "cpu,mem"], ["disk", ""]),
    10: (["1", "50"], ["0", "51", "x"]),
    11: (["1", "100"], ["0", "101", "x"]),
    12: (["x", "y" * 256], []),
    13: (["1", "50"], ["0", "51", "x"]),
    14: (["Conv,MatMul"], []),
    15: (["PipeUtilization", "Custom:" + ",".join(["65535"] * 10)], []),
    16: (["/tmp/profiles"], []),
}


@pytest.mark.parametrize("number", SETTINGS)
def test_a_setting_takes_its_values_and_no_others(initialised, number):
    good, bad = SETTINGS[number]
    for value in good:
        assert acl.prof.set_config(number, value) == 0, (value, acl.get_recent_err_msg())
    for value in bad:
        code = BAD_CONFIG if value else BAD_PARAMETER  # of no length
        assert acl.prof.set_config(number, value) == code, value
        assert f"'{value}'" in acl.get_recent_err_msg() or not value


def test_settings_that_are_none_are_refused(initialised):
    for number, value in ((0, "1"), (2, "1"), (17, "1"), (-1, "1"), (3, "x" * 257), (12, "y" * 257),
                          (15, "Custom:"), (15, "Custom:65536"), (15, "Custom:1,,2"),
                          (15, "Custom:-1"), (15, "Custom:" + ",".join(["1"] * 11)),
                          (15, "Memory"), (12, ""), (14, ""), (16, "")):
        assert acl.prof.set_config(number, value) == BAD_PARAMETER, (number, value)
        assert acl.get_recent_err_msg()


def test_finalize_ends_what_still_runs(device_0, tmp_path):
    assert acl.prof.init(str(tmp_path)) == 0
    config = acl.prof.create_config([0], 0, 0, API)
    assert acl.prof.start(config) == 0
    assert acl.prof.finalize() == 0
    assert os.path.exists(os.path.join(directory(tmp_path), "host", "end_info"))


def test_directory_has_the_documented_name_and_parts(device_0, tmp_path):
    with session(tmp_path, devices=(0, 1)):
        pass
    path = directory(tmp_path)
    assert re.fullmatch(rf"PROF_\d{{6}}_\d{{17}}_{os.getpid():08d}[A-R]{{8}}",
                        os.path.basename(path))
    assert set(os.listdir(path)) == {"host", "device_0", "device_1"}
    assert {"data", "info.json", "sample.json", "start_info", "end_info", "host_start.log"} \
        == set(os.listdir(os.path.join(path, "host")))
    assert {"data", "info.json.1", "sample.json", "start_info.1", "end_info.1", "host_start.log.1",
            "dev_start.log.1"} == set(os.listdir(os.path.join(path, "device_1")))


def test_unwritable_folder_is_found_at_start_and_the_program_goes_on(device_0, tmp_path):
    (tmp_path / "file").write_text("")
    assert acl.prof.init(str(tmp_path / "file" / "below")) == 0
    config = acl.prof.create_config([0], 0, 0, API)
    assert acl.prof.start(config) == BAD_FILE
    assert "file" in acl.get_recent_err_msg()
    assert acl.rt.set_device(0) == 0
    assert acl.prof.finalize() == 0


def test_directory_that_vanishes_is_told_at_stop(device_0, tmp_path):
    import shutil
    assert acl.prof.init(str(tmp_path)) == 0
    config = acl.prof.create_config([0], 0, 0, API)
    assert acl.prof.start(config) == 0
    shutil.rmtree(directory(tmp_path))
    assert acl.rt.set_device(0) == 0
    assert acl.prof.stop(config) == 500005
    assert "vanished" in acl.get_recent_err_msg()
    assert acl.prof.finalize() == 0


def test_marks_need_their_bit_and_the_message_names_it(initialised):
    config = acl.prof.create_config([0], 0, 0, API)
    assert acl.prof.start(config) == 0
    assert acl.prof.create_stamp() == 0
    assert "ACL_PROF_MSPROFTX (0x80)" in acl.get_recent_err_msg()
    assert acl.prof.pop() == -1
    assert acl.prof.range_stop(1) == -1
    assert acl.prof.stop(config) == 0


def test_marks_outside_of_start_and_stop_fail(initialised):
    assert acl.prof.create_stamp() == 0
    config = acl.prof.create_config([0], 0, 0, TX)
    assert acl.prof.start(config) == 0
    stamp = acl.prof.create_stamp()
    assert stamp != 0
    assert acl.prof.stop(config) == 0
    assert acl.prof.mark(stamp) == -1 and acl.prof.push(stamp) == -1
    assert acl.prof.range_start(stamp)[1] == -1
    assert acl.prof.mark_ex("abc", 0) == -1
    assert "ACL_PROF_MSPROFTX (0x80)" in acl.get_recent_err_msg()
    acl.prof.destroy_stamp(stamp)


def test_violations_of_marks_give_their_codes(device_0, tmp_path):
    with session(tmp_path, TX):
        stamp = acl.prof.create_stamp()
        assert acl.prof.set_stamp_trace_message(stamp, "x" * 128, 128) == -1
        assert acl.prof.set_stamp_trace_message(stamp, "abc", 3) == 0
        assert acl.prof.pop() == -1
        assert acl.prof.push(0) == BAD_PARAMETER
        assert acl.prof.range_start(0)[1] == BAD_PARAMETER
        assert acl.prof.range_stop(12345) == -1
        assert acl.prof.mark_ex("abc", 0) == -1
        stream, _ = acl.rt.create_stream()
        assert acl.prof.mark_ex("", stream) == -1
        assert acl.prof.mark_ex("x" * 128, stream) == -1
        assert acl.prof.mark_ex("abc", stream) == 0
        assert acl.rt.destroy_stream(stream) == 0
        acl.prof.destroy_stamp(stamp)
        assert acl.prof.mark(stamp) == BAD_PARAMETER


def test_a_range_may_end_in_another_thread(device_0, tmp_path):
    from anynpu.msprof.recording import read_recording
    from anynpu.msprof.work import Work
    with session(tmp_path, TX):
        stamp = acl.prof.create_stamp()
        assert acl.prof.set_stamp_trace_message(stamp, "far", 3) == 0
        number, ret = acl.prof.range_start(stamp)
        assert ret == 0
        ended = []
        thread = threading.Thread(target=lambda: ended.append(acl.prof.range_stop(number)))
        thread.start()
        thread.join()
        assert ended == [0]
    stamps = Work(read_recording(directory(tmp_path))).stamps
    assert len(stamps) == 1 and stamps["thread"][0] != threading.get_native_id()


def test_ranges_that_a_recording_left_open_do_not_end_in_the_next(initialised):
    config = acl.prof.create_config([0], 0, 0, TX)
    assert acl.prof.start(config) == 0
    stamp = acl.prof.create_stamp()
    assert acl.prof.push(stamp) == 0
    number, ret = acl.prof.range_start(stamp)
    assert ret == 0
    assert acl.prof.stop(config) == 0
    assert acl.prof.start(config) == 0
    assert acl.prof.pop() == -1 and acl.prof.range_stop(number) == -1
    assert acl.prof.push(stamp) == 0 and acl.prof.pop() == 0
    assert acl.prof.stop(config) == 0
    acl.prof.destroy_stamp(stamp)


def test_step_information_takes_one_start_and_one_end(device_0, tmp_path):
    stream, _ = acl.rt.create_stream()
    step = acl.prof.create_step_info()
    assert acl.prof.get_step_timestamp(step, 1, stream) == BAD_PARAMETER
    assert acl.prof.get_step_timestamp(step, 0, stream) == 0
    assert acl.prof.get_step_timestamp(step, 0, stream) == BAD_PARAMETER
    assert acl.prof.get_step_timestamp(step, 1, stream) == 0
    assert acl.prof.get_step_timestamp(step, 1, stream) == BAD_PARAMETER
    assert acl.prof.get_step_timestamp(0, 0, stream) == BAD_PARAMETER
    acl.prof.destroy_step_info(step)
    assert acl.rt.destroy_stream(stream) == 0


def test_a_thousand_sessions_leak_nothing(device_0, tmp_path):
    def open_files():
        return len(os.listdir("/proc/self/fd"))

    assert acl.prof.init(str(tmp_path)) == 0
    config = acl.prof.create_config([0], 0, 0, API | TASK | RUNTIME | TX)

    def cycle(times):
        for _ in range(times):
            assert acl.prof.start(config) == 0
            assert acl.prof.stop(config) == 0

    def resident():
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * 4096

    cycle(100)
    files, before = open_files(), resident()
    cycle(900)
    assert open_files() == files
    assert resident() - before < 8 << 20
    assert acl.prof.destroy_config(config) == 0
    assert acl.prof.finalize() == 0
