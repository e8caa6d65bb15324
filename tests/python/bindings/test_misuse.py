# SPDX-License-Identifier: Apache-2.0
"""Every pyACL function, called in every wrong way, gives the documented code and a sentence.

tests/data/misuse.tsv holds what is expected; tests/misuse/ makes the cases from the API table and
runs each in a child of its own. A function without rows fails.
"""

import json
import os
import subprocess
import sys

import pytest
from build_tree import TESTS
from misuse import codes, functions, kinds, rows

WALKERS = max(1, len(os.sched_getaffinity(0)))
ALLOWED = ("ok", "value")  # outcomes of a wrong call that need a reason in the table
LONGEST_MESSAGE = 2000  # a sentence, not a copy of the argument


class Walk:
    """The walk as it goes: whoever asks for a function waits for the cases of that one alone, so
    the tests show progress however slow the machine is."""

    def __init__(self):
        env = dict(os.environ)
        env["PYTHONPATH"] = os.pathsep.join([TESTS] + [p for p in sys.path if p])
        env["OPENBLAS_NUM_THREADS"] = "1"  # the walker forks, so numpy may start no threads
        self._order = [function.name for function in functions.load()]
        self._results = {}
        self._walkers = [
            subprocess.Popen([sys.executable, "-m", "misuse.walk", "--part", f"{i}/{WALKERS}"],
                             stdout=subprocess.PIPE, text=True, env=env)
            for i in range(WALKERS)
        ]

    def of(self, function):
        """{(kind, argument): result} of all cases of a function."""
        walker = self._walkers[self._order.index(function.name) % WALKERS]
        cases = kinds.cases(function)
        while len(self._results.get(function.name, ())) < len(cases):
            line = walker.stdout.readline()
            assert line, "a walker ended early"
            result = json.loads(line)
            of_function = self._results.setdefault(result["function"], {})
            of_function[result["kind"], result["argument"]] = result
        return self._results[function.name]

    def end(self):
        for walker in self._walkers:
            walker.kill()
            walker.communicate()


@pytest.fixture(scope="module")
def walk():
    walk = Walk()
    yield walk
    walk.end()


@pytest.fixture(scope="module")
def table():
    return rows.load()


def refused(result):
    """Not there (yet), and says so."""
    return "E200006" in result["message"] or "E207000" in result["message"]


def complaint(function, result, expected, why):
    """What is wrong with one outcome, or None."""
    kind, outcome, message = result["kind"], result["outcome"], result["message"]
    if outcome.startswith(("crash", "hang", "walker")):
        return f"{outcome}: {message}"  # whatever the table says
    if outcome != expected:
        return f"expected {expected}, got {outcome}: {message}"
    early = kind in ("before init", "after finalize") and function.before_init
    if kind != "good" and outcome.startswith(ALLOWED) and not why and not early:
        return "a wrong call is accepted and the table does not say why"
    if kind == "good" and not outcome.startswith(ALLOWED) and not why and not refused(result):
        return f"a good call fails and the table does not say why: {outcome}: {message}"
    failed = outcome not in ALLOWED and not outcome.endswith("Error")
    if failed and not message:
        return f"{outcome} without a message"
    if result["length"] > LONGEST_MESSAGE:
        return f"a message of {result['length']} characters"
    names = (function.c_function, function.name, function.name.rpartition(".")[2])
    if failed and not any(name and name in message for name in names):
        return f"the message does not name the function: {message}"
    return None


@pytest.mark.parametrize("function", functions.load(), ids=lambda f: f.name)
def test_every_wrong_call_is_answered(function, walk, table):
    assert any(key[0] == function.name for key in table), "no rows in tests/data/misuse.tsv"
    complaints, outcomes = [], walk.of(function)
    for kind, argument in kinds.cases(function):
        where = f"{function.name}: {kind} ({argument})"
        result = outcomes[kind, argument]
        row = rows.find(table, function.name, kind, argument)
        if row is None:
            complaints.append(f"{where}: no row; got {result['outcome']}: {result['message']}")
            continue
        problem = complaint(function, result, *row[1])
        if problem:
            complaints.append(f"{where}: {problem}")
    assert not complaints, "\n".join(complaints)


def test_no_row_is_left_over(table):
    used = set()
    for function in functions.load():
        for kind, argument in kinds.cases(function):
            row = rows.find(table, function.name, kind, argument)
            if row:
                used.add(row[0])
    assert set(table) - used == set(), "rows for cases that do not exist"


def test_every_expected_code_is_the_documented_one_for_its_kind(table):
    rules = codes.load()
    strays = [f"{function} {kind} {argument}: {expected}"
              for (function, kind, argument), (expected, _) in table.items()
              if expected.isdigit() and not codes.allowed(rules, function, kind, expected)]
    assert not strays, "\n".join(strays)


def test_codes_have_the_names_of_the_headers():
    names = codes.documented()
    wrong = [rule.name for rule in codes.load() if names.get(rule.name) != rule.code]
    assert not wrong
