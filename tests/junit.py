# SPDX-License-Identifier: Apache-2.0
"""Reads the JUnit reports of ctest and pytest into one list of results."""
import os
import re
import signal
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass

# Characters that XML 1.0 forbids; ctest writes a test's output without removing them.
FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f]")


@dataclass
class Result:
    name: str
    outcome: str  # passed, failed, skipped
    detail: str = ""
    rerun: str = ""


def parse(path):
    """The test cases of a report, or None when there is no readable report."""
    if not os.path.isfile(path):
        return None
    with open(path, encoding="utf-8", errors="replace") as file:
        text = FORBIDDEN.sub("?", file.read())
    try:
        return list(ElementTree.fromstring(text).iter("testcase"))
    except ElementTree.ParseError:
        return None


def read_ctest(path):
    cases = parse(path)
    if cases is None:
        return None
    results = []
    for case in cases:
        failure, skip = case.find("failure"), case.find("skipped")
        output = case.findtext("system-out") or ""
        if failure is not None:
            reason = failure.get("message") or "failed"
            results.append(Result(case.get("name"), "failed", f"{reason}\n{output}"))
        elif case.get("status") == "run":
            results.append(Result(case.get("name"), "passed"))
        elif skip is not None and skip.get("message", "").startswith("SKIP_"):
            results.append(Result(case.get("name"), "skipped"))
        elif case.get("status") == "disabled":
            results.append(Result(case.get("name"), "skipped"))
        else:  # the executable is missing: that is a broken build, not a skipped test
            reason = skip.get("message") if skip is not None else "did not run"
            results.append(Result(case.get("name"), "failed", f"{reason}\n{output}"))
    return results


def read_pytest(path):
    cases = parse(path)
    if cases is None:
        return None
    results = []
    for case in cases:
        file = case.get("classname", "").replace(".", "/")
        name = f"{file}.py::{case.get('name')}"
        if not os.path.isfile(f"{file}.py") and "/" in file:  # a test inside a class
            holder, inner = file.rsplit("/", 1)
            name = f"{holder}.py::{inner}::{case.get('name')}"
        bad = case.find("failure") if case.find("failure") is not None else case.find("error")
        if bad is not None:
            results.append(Result(name, "failed", bad.text or bad.get("message", "")))
        elif case.find("skipped") is not None:
            results.append(Result(name, "skipped"))
        else:
            results.append(Result(name, "passed"))
    return results


def from_pytest_log(file, text, code):
    """Results from the log of a pytest process that crashed or was ended."""
    results = []
    for name, word in re.findall(r"^(\S+::.+?) (PASSED|FAILED|ERROR|SKIPPED|XFAIL)", text, re.M):
        outcome = {"PASSED": "passed", "SKIPPED": "skipped", "XFAIL": "skipped"}.get(word, "failed")
        results.append(Result(name, outcome))
    started = re.findall(r"^(\S+::.+?) (?:PASSED|FAILED|ERROR|SKIPPED|XFAIL|$|Fatal|Timeout)",
                         text, re.M)
    culprit = started[-1] if len(started) > len(results) else file
    cause = signal.Signals(-code).name if code is not None and code < 0 else f"exit code {code}"
    tail = "\n".join(text.splitlines()[-60:])
    results.append(Result(culprit, "failed", f"pytest ended with {cause} in this file\n{tail}"))
    return results
