# SPDX-License-Identifier: Apache-2.0
"""Every pyACL function, called in every wrong way, gives the documented code and a sentence.

tests/misuse/ makes the cases from the API table and runs each in a child of its own. What is
expected is computed (misuse/rules.py); tests/data/misuse.tsv lists the exceptions, each with its
reason.
"""

import json
import os
import subprocess
import sys

import pytest
from build_tree import TESTS
from misuse import codes, exceptions, functions, kinds, rules

WALKERS = max(1, len(os.sched_getaffinity(0)))
ALLOWED = ("ok", "value", "called")  # outcomes of a call that was accepted
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
    return exceptions.load()


def every_case():
    """(function, kind, argument or None) of all cases."""
    for function in functions.load():
        for kind, name in kinds.cases(function):
            yield function, kind, function.argument(name)


def complaint(function, result, expected):
    """What is wrong with one outcome, or None."""
    outcome, message = result["outcome"], result["message"]
    if outcome.startswith(("crash", "hang", "walker")):
        return f"{outcome}: {message}"  # whatever the table says
    if outcome != expected:
        return f"expected {expected}, got {outcome}: {message}"
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
    complaints, outcomes = [], walk.of(function)
    for kind, name in kinds.cases(function):
        expected, _ = exceptions.expected(table, function, kind, function.argument(name))
        problem = complaint(function, outcomes[kind, name], expected)
        if problem:
            complaints.append(f"{function.name}: {kind} ({name}): {problem}")
    assert not complaints, "\n".join(complaints)


def test_every_exception_is_one_and_has_its_reason(table):
    used, same = set(), []
    for function, kind, argument in every_case():
        row = exceptions.find(table, function, kind, argument)
        if row is None:
            continue
        used.add(row.line)
        if row.outcome(function) == rules.expected(function, kind, argument):
            same.append(f"line {row.line}: {function.name} {kind}: the rule says the same")
    assert not same, "\n".join(same)
    assert [row.line for row in table if row.line not in used] == [], "lines that nothing needs"
    assert [row.line for row in table if not row.why] == [], "lines without a reason"


def test_a_wrong_call_that_is_accepted_without_an_exception_is_one_the_rules_name(table):
    for function, kind, argument in every_case():
        outcome, why = exceptions.expected(table, function, kind, argument)
        if outcome in ALLOWED and not why and kind != "good":
            early = kind == "before init" or kind == "after finalize" and function.any_time
            left_out = kind == "null" and (argument.optional or argument.name == "stream")
            assert early or left_out, f"{function.name}: {kind} ({argument})"


def test_every_expected_code_is_the_documented_one_for_its_kind(table):
    meanings = codes.load()
    strays = []
    for function, kind, argument in every_case():
        expected, _ = exceptions.expected(table, function, kind, argument)
        if expected.isdigit() and not codes.allowed(meanings, function.name, kind, expected):
            strays.append(f"{function.name} {kind} {argument}: {expected}")
    assert not strays, "\n".join(strays)


def test_codes_have_the_names_of_the_headers():
    names = codes.documented()
    wrong = [rule.name for rule in codes.load() if names.get(rule.name) != rule.code]
    assert not wrong
