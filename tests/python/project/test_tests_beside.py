# SPDX-License-Identifier: Apache-2.0
"""Source files have their unit test beside them (tests/lint/check_tests_beside.py)."""

import importlib.util
import os

HERE = os.path.dirname(os.path.abspath(__file__))
SPEC = importlib.util.spec_from_file_location(
    "check_tests_beside", os.path.join(HERE, "..", "..", "lint", "check_tests_beside.py"))
LINT = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(LINT)


def write(folder, name, text=""):
    (folder / "src").mkdir(exist_ok=True)
    (folder / "src" / name).write_text(text)


def test_every_file_has_its_test():
    assert LINT.findings() == []


def test_a_file_without_a_test_is_named(tmp_path):
    write(tmp_path, "a.cpp")
    write(tmp_path, "b.cpp")
    write(tmp_path, "b_test.cpp", "TEST_F(B, DoesWhatItSays) {}\n")
    found = LINT.findings(str(tmp_path), ("src",), {})
    assert len(found) == 1 and found[0].startswith("src/a.cpp: has no test; write src/a_test.cpp")


def test_an_empty_test_does_not_count(tmp_path):
    write(tmp_path, "a.cpp")
    write(tmp_path, "a_test.cpp", "// TEST(A, Later)\n")
    assert LINT.findings(str(tmp_path), ("src",), {}) == ["src/a_test.cpp: holds no test"]


def test_exceptions_are_needed(tmp_path):
    write(tmp_path, "a.cpp")
    assert LINT.findings(str(tmp_path), ("src",), {"src/a.cpp": "data"}) == []
    found = LINT.findings(str(tmp_path), ("src",), {"src/a.cpp": "data", "src/gone.cpp": "data"})
    assert len(found) == 1 and "src/gone.cpp" in found[0]
