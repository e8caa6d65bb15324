# SPDX-License-Identifier: Apache-2.0
"""Front doors stay thin (tests/lint/check_entry_points.py)."""

import importlib.util
import os

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
_spec = importlib.util.spec_from_file_location(
    "check_entry_points", os.path.join(HERE, "..", "..", "lint", "check_entry_points.py"))
lint = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(lint)


def rules(text, name="src/api/acl/a.cpp"):
    return [(rule, what) for rule, _, what, _ in lint.check(name, text)]


def test_front_doors_are_thin_and_hold_no_state():
    found = lint.findings()
    assert not found, "\n".join(found)


def test_an_entry_point_has_at_most_12_lines():
    body = "  f();\n"
    assert rules("aclError aclA(int a,\n              int b) {\n" + 9 * body + "}\n") == []
    assert rules("aclError aclA(int a,\n              int b) {\n" + 10 * body + "}\n") == [
        ("long", "aclA")]
    assert rules('extern "C" int anynpu_b(void) {\n' + 11 * body + "}\n") == [("long", "anynpu_b")]
    assert rules("Status helper() {\n" + 20 * body + "}\n") == []
    short = "aclError aclShort(void) { return f(); }\n\nStatus g() {\n"
    assert rules(short + 20 * body + "}") == []


@pytest.mark.parametrize("text, name", [
    ("std::atomic<bool> running{false};", "running"),
    ("namespace a {\nextern int count;\n}", "count"),
    ("constinit device::TaskKind kTask{\"a\", b};", "kTask"),
    ("int next = 0;", "next"),
    ("thread_local Call next_call;", "next_call"),
    ("State& state() {\n  static auto* s = new State;\n  return *s;\n}", "s"),
    ("void f() {\n  if (a) {\n    static std::mutex mutex;\n  }\n}", "mutex"),
    ("void f() {\n  g([&] {\n    thread_local int depth = 0;\n  });\n}", "depth"),
    ("struct A {\n  static inline int count = 0;\n};", "count"),
    ("// static\nstd::map<int, std::string> known = {{1, \"a;b\"}};", "known"),
])
def test_state_of_a_door_is_found(text, name):
    assert rules(text) == [("state", name)]


@pytest.mark.parametrize("text", [
    "constexpr int kMost = 4;\nconst char* const kNames[] = {\"a\", \"b\"};",
    "int next();\nResult<int> g(int a = 3);\nstatic int helper(int a) { return a; }",
    "struct A {\n  int count = 0;\n  static A make();\n  std::mutex mutex_;\n};",
    "void f() {\n  int a = 0;\n  std::vector<int> b{1, 2};\n"
    "  for (int i = 0; i < 3; ++i) a += i;\n}",
    "void f() {\n  static constexpr std::string_view kModes[] = {\"0\", \"1\"};\n}",
    "using namespace a;\nusing b::c;\nstruct D;\nenum class E { one, two };\n"
    "static_assert(x == y);",
    "/* static int a; */\n#define X(a) \\\n  static int a;\n",
])
def test_what_is_no_state_is_not_found(text):
    assert rules(text) == []


def test_numbers_stand_in_errors_cpp_alone():
    text = "Status f() { return g(ACL_ERROR_INVALID_PARAM); }  // ACL_ERROR_OTHER\n"
    assert rules(text) == [("number", "ACL_ERROR_INVALID_PARAM")]
    assert rules(text, "src/api/acl/errors.cpp") == []


def test_a_row_that_is_no_longer_needed_is_a_finding():
    row = ("state", "src/api/acl/none.cpp", "gone")
    assert any("none.cpp gone" in line for line in lint.findings(allowed=lint.remaining() | {row}))
