# SPDX-License-Identifier: Apache-2.0
"""The runner counts what ctest and pytest report, and loses nothing when one of them crashes."""
import os
import subprocess
import sys

import junit
import pytest
import stacks
from build_tree import ROOT

CTEST = """<?xml version="1.0"?>
<testsuite name="Linux" tests="5">
  <testcase name="good" status="run"><system-out>fine</system-out></testcase>
  <testcase name="bad" status="fail"><failure message="Failed"/>
    <system-out>Expected 1 \x1b[31mgot 2\x01</system-out></testcase>
  <testcase name="left out" status="notrun">
    <skipped message="SKIP_REGULAR_EXPRESSION_MATCHED"/></testcase>
  <testcase name="not built" status="notrun">
    <skipped message="Unable to find executable"/></testcase>
  <testcase name="off" status="disabled"/>
</testsuite>
"""


def outcomes(results):
    return {result.name: result.outcome for result in results}


def test_ctest_report_tells_a_skipped_test_from_one_that_was_not_built(tmp_path):
    report = tmp_path / "report.xml"
    report.write_text(CTEST)
    results = junit.read_ctest(str(report))
    assert outcomes(results) == {"good": "passed", "bad": "failed", "left out": "skipped",
                                 "not built": "failed", "off": "skipped"}
    assert "Expected 1" in results[1].detail


@pytest.mark.parametrize("text", ["", "<testsuite><testcase"])
def test_a_missing_or_broken_report_is_told_apart_from_no_tests(tmp_path, text):
    report = tmp_path / "report.xml"
    if text:
        report.write_text(text)
    assert junit.read_ctest(str(report)) is None
    assert junit.read_pytest(str(report)) is None


def test_a_crashed_pytest_names_the_test_that_was_running():
    log = ("tests/python/test_x.py::test_one PASSED [ 33%]\n"
           "tests/python/test_x.py::test_two Fatal Python error: Segmentation fault\n")
    results = junit.from_pytest_log("tests/python/test_x.py", log, -11)
    assert outcomes(results) == {"tests/python/test_x.py::test_one": "passed",
                                 "tests/python/test_x.py::test_two": "failed"}
    assert "SIGSEGV" in results[1].detail


def test_a_silent_process_is_dumped_and_ended(tmp_path, capfd, monkeypatch):
    monkeypatch.setattr(stacks.shutil, "which", lambda name: None)
    log = tmp_path / "log"
    log.touch()
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"],
                               start_new_session=True)
    assert stacks.wait_while_growing(process, str(log), quiet_limit=0.2) == -9
    out = capfd.readouterr().out
    assert "no progress for 0.2 s" in out and f"thread {process.pid}" in out


def test_the_terminal_picture_keeps_the_text(tmp_path):
    text, svg = tmp_path / "run.txt", tmp_path / "run.svg"
    text.write_text("$ make demo\nx < y & z\n" + "long " * 40 + "\n")
    subprocess.run([sys.executable, os.path.join(ROOT, "tools", "draw_terminal.py"), str(text),
                    str(svg), "--title", "a run"], check=True)
    import xml.etree.ElementTree as ElementTree
    words = [node.text for node in ElementTree.parse(svg).iter("{http://www.w3.org/2000/svg}text")]
    assert words[:3] == ["a run", "$ make demo", "x < y & z"]
    assert sum(len(word) for word in words[3:]) >= 195
