# SPDX-License-Identifier: Apache-2.0
"""The log and its variables (guide 3.4 and 8)."""

import os
import re
import subprocess
import sys

import pytest
from build_tree import ROOT

import acl

PROGRAM = """
import acl
acl.app_log(0, "a debug line")
acl.app_log(3, "an error line with 100% of its text")
acl.app_log(17, "no such level")
acl.init()
acl.destroy_data_buffer(0)
acl.create_data_buffer(0, 0)
acl.finalize()
"""
VARIABLES = (
    "ASCEND_GLOBAL_LOG_LEVEL",
    "ASCEND_SLOG_PRINT_TO_STDOUT",
    "ASCEND_PROCESS_LOG_PATH",
    "ASCEND_WORK_PATH",
    "ANYNPU_VERBOSE",
    "ASCEND_GLOBAL_EVENT_ENABLE",
)
LINE = re.compile(
    r"\[(DEBUG|INFO|WARNING|ERROR|EVENT)\] (\w+)\((\d+),[^)]*\):"
    r"\d{4}-\d\d-\d\d-\d\d:\d\d:\d\d\.\d{3}\.\d{3} \[[^]]*:\d+\]\d+ (.*)"
)


def run_program(cwd, **variables):
    env = {name: value for name, value in os.environ.items() if name not in VARIABLES}
    env["ANYNPU_ERRORS"] = "off"  # the log alone
    env["PYTHONPATH"] = os.path.dirname(os.path.dirname(os.path.abspath(acl.__file__)))
    return subprocess.run(
        [sys.executable, "-c", PROGRAM],
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
        cwd=cwd,
        env={**env, **variables},
    )


def lines_of(text):
    return [match.groups() for match in map(LINE.match, text.splitlines()) if match]


def test_without_variables_nothing_is_written(tmp_path):
    done = run_program(tmp_path, HOME=str(tmp_path))
    assert done.stdout == "" and done.stderr == ""
    assert list(tmp_path.iterdir()) == []


def test_lines_go_to_stdout_in_the_vendors_layout(tmp_path):
    lines = lines_of(run_program(tmp_path, ASCEND_SLOG_PRINT_TO_STDOUT="1").stdout)
    assert ("ERROR", "APP") in [line[:2] for line in lines]
    assert any("an error line with 100% of its text" in line[3] for line in lines)
    assert any("aclDestroyDataBuffer failed" in line[3] for line in lines), "failures are logged"
    assert not any(line[0] == "DEBUG" for line in lines), "the default level is error"
    assert not any("no such level" in line[3] for line in lines)


@pytest.mark.parametrize(
    "level, debug, error",
    [("0", True, True), ("1", False, True), ("3", False, True), ("4", False, False)],
)
def test_the_level_is_chosen(tmp_path, level, debug, error):
    text = run_program(
        tmp_path, ASCEND_SLOG_PRINT_TO_STDOUT="1", ASCEND_GLOBAL_LOG_LEVEL=level
    ).stdout
    assert ("a debug line" in text) == debug
    assert ("an error line" in text) == error


def test_objects_that_were_not_destroyed_are_counted_at_the_end(tmp_path):
    text = run_program(
        tmp_path, ASCEND_SLOG_PRINT_TO_STDOUT="1", ASCEND_GLOBAL_LOG_LEVEL="2"
    ).stdout
    assert "1 data buffer objects were not destroyed" in text


def test_files_are_named_by_process_and_time(tmp_path):
    done = run_program(tmp_path, ASCEND_PROCESS_LOG_PATH=str(tmp_path / "log"))
    assert done.stdout == ""
    files = list((tmp_path / "log" / "debug" / "plog").iterdir())
    assert len(files) == 1 and re.fullmatch(r"plog-\d+_\d+\.log", files[0].name)
    assert "an error line" in files[0].read_text()


def test_the_work_path_takes_the_log_too(tmp_path):
    run_program(tmp_path, ASCEND_WORK_PATH=str(tmp_path / "work"))
    assert list((tmp_path / "work" / "log" / "debug" / "plog").iterdir())


def test_a_folder_that_cannot_be_written_stops_nothing(tmp_path):
    run_program(tmp_path, ASCEND_PROCESS_LOG_PATH="/proc/nowhere")


def test_a_bad_value_of_a_variable_is_reported(tmp_path):
    text = run_program(
        tmp_path, ANYNPU_VERBOSE="log", ASCEND_GLOBAL_LOG_LEVEL="2", ANYNPU_MAX_STREAMS="many"
    ).stderr
    assert "ANYNPU_MAX_STREAMS is 'many', expected an integer" in text


def test_the_page_of_variables_is_up_to_date():
    script = os.path.join(ROOT, "tools", "gen_environment_docs.py")
    done = subprocess.run(
        [sys.executable, script, "--check"], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stdout
