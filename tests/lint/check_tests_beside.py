# SPDX-License-Identifier: Apache-2.0
"""Every `<file>.cpp` of these folders has its unit test beside it, `<file>_test.cpp`.

A test under another name is not found by whoever changes the file. WITHOUT lists the files for
which a test makes no sense, each with its reason; a row that is no longer needed is a finding too.

The other folders have tests of what several files do together: kernels and aclnn rows one case for
each operator and type (tests/python/operators, tests/python/aclnn), back ends the conformance suite
(tests/device), front doors calls from C and Python (tests/python, tests/misuse).

Run it alone for the list of findings, or through pytest
(tests/python/project/test_tests_beside.py).
"""

import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FOLDERS = ("src/base", "src/check", "src/compile", "src/exec", "src/graph", "src/import",
           "src/service", "src/tensor")

WITHOUT = {
    "src/check/check_test_main.cpp": "the main function of the tests themselves",
    "src/service/task_kinds.cpp": "names of tasks, without behaviour",
}

TEST = re.compile(r"^TEST(?:_F|_P)?\(", re.M)


def sources(root, folder):
    """Paths of the .cpp files under a folder, tests left out, from the root on."""
    for place, _, names in sorted(os.walk(os.path.join(root, folder))):
        for name in sorted(names):
            if name.endswith(".cpp") and not name.endswith("_test.cpp"):
                yield os.path.relpath(os.path.join(place, name), root).replace(os.sep, "/")


def problem_of(root, source):
    """What is wrong with the test beside a source file; nothing when it is there."""
    test = source[:-len(".cpp")] + "_test.cpp"
    path = os.path.join(root, test)
    if not os.path.exists(path):
        return (f"{source}: has no test; write {test}, from the contract in its header, or say in "
                "WITHOUT of tests/lint/check_tests_beside.py why a test makes no sense")
    with open(path, encoding="utf-8") as file:
        return None if TEST.search(file.read()) else f"{test}: holds no test"


def findings(root=ROOT, folders=FOLDERS, without=None):
    """One sentence for each file without a test and each exception that is not needed."""
    without = WITHOUT if without is None else without
    out, needed = [], set()
    for folder in folders:
        for source in sources(root, folder):
            problem = problem_of(root, source)
            if problem and source in without:
                needed.add(source)
            elif problem:
                out.append(problem)
    for source in without:
        if source not in needed:
            out.append(f"tests/lint/check_tests_beside.py: remove the row '{source}': it has a "
                       "test or is gone")
    return out


if __name__ == "__main__":
    found = findings()
    print("\n".join(found) if found else "check_tests_beside: ok")
    sys.exit(1 if found else 0)
