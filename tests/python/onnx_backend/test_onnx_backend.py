# SPDX-License-Identifier: Apache-2.0
"""The onnx package's own cases through atc and acl.mdl; the whole suite runs once for all tests."""
import json
import os
import threading
import time

import pytest
import suite
from build_tree import BUILD

PARTS = 16  # the tests show progress however slow the machine is


class Run(threading.Thread):
    """The suite as it goes."""

    def __init__(self):
        super().__init__(daemon=True)
        self.names = [case.name for case in suite.cases.all_cases()]
        self.results = {}

    def run(self):
        suite.run(self.names, BUILD, results=self.results)

    def of(self, names):
        """The results of some cases, as soon as all of them are there."""
        while self.is_alive() and not all(name in self.results for name in names):
            time.sleep(0.02)
        return {name: self.results[name] for name in names}


@pytest.fixture(scope="module")
def started():
    run = Run()
    run.start()
    return run


@pytest.fixture(scope="module")
def results(started):
    outcome = started.of(started.names)
    with open(os.path.join(BUILD, "onnx_score.json"), "w", encoding="utf-8") as file:
        json.dump(outcome, file, indent=1)
    print(suite.score_line(outcome))
    return outcome


@pytest.mark.parametrize("part", range(PARTS))
def test_every_case_ends_as_the_list_says(started, part):
    count = len(started.names)
    names = started.names[count * part // PARTS:count * (part + 1) // PARTS]
    problems, _ = suite.judge(started.of(names), suite.read_known())
    assert not problems, "\n" + "\n".join(problems)


def test_at_least_95_percent_of_the_cases_pass(results):
    rows = suite.score(results)
    passed, counted = (sum(row[i] for row in rows.values()) for i in (0, 1))
    assert set(rows) == set(suite.cases.KINDS) and counted > 1800
    assert passed >= 0.95 * counted


def test_every_line_of_the_list_names_a_case(results):
    known = suite.read_known()
    _, used = suite.judge(results, known)
    assert [pattern for pattern, _ in known if pattern not in used] == []


def test_no_case_ends_the_process(results):
    ended = {name: reason for name, (_, reason) in results.items()
             if reason.startswith("the process ended")}
    assert ended == {}


def test_an_unexpected_pass_and_an_unexpected_failure_are_problems():
    found, _ = suite.judge({"test_a": ("passed", ""), "test_b": ("failed", "why"),
                            "test_c": ("failed", "x"), "test_d": ("passed", "")},
                           [("test_a", "listed"), ("test_c*", "listed")])
    assert len(found) == 2
    assert "test_a passes" in found[0]
    assert "test_b failed: why" in found[1]


def test_a_case_that_ends_the_process_costs_no_other(monkeypatch, tmp_path):
    """A worker that dies on one name: that one fails, the next is run by a new worker."""
    script = tmp_path / "worker.py"
    script.write_text("import json, os, sys\n"
                      "for line in sys.stdin:\n"
                      "    name = line.strip()\n"
                      "    if name == 'bad':\n"
                      "        os.abort()\n"
                      "    print(json.dumps({'case': name, 'outcome': 'passed', 'reason': ''}),"
                      " flush=True)\n")
    monkeypatch.setattr(suite, "HERE", str(tmp_path))
    found = suite.run(["one", "bad", "two"], BUILD, jobs=1)
    assert found["one"][0] == found["two"][0] == "passed"
    assert found["bad"][0] == "failed"
    assert "-6" in found["bad"][1]
