# SPDX-License-Identifier: Apache-2.0
"""The report of `anynpu check`: codes that nobody looks at, folded frames, leaks by size, the
page."""
import functools
import os
import subprocess
import sys
import textwrap

import pytest

from anynpu.check import dropped, findings, native_results
from anynpu.check.findings import Frame, folded


def is_dropped(text):
    """Whether the code that `call()` returns in a function is dropped."""
    answers = []

    def call():
        answers.append(dropped.result_is_dropped(sys._getframe(1)))
        return 1, 2
    # Called by C, as functions of the module acl are.
    scope = {"call": functools.partial(call), "other": lambda *_: (0, 0), "check": lambda *_: None}
    body = textwrap.indent(textwrap.dedent(text), "  ")
    exec(compile("def f(flag=False):\n" + body, "t", "exec"), scope)
    scope["f"]()
    return answers[0]


@pytest.mark.parametrize("text", [
    "call()", "x = call()[0]", "x, ret = call()", "x, ret = call()\nx, ret = other()\ncheck(ret)",
    "ret = call()\nif flag:\n  ret = 1\nelse:\n  ret = 2\ncheck(ret)",
    "for i in range(2):\n  x, ret = call()\n  check(x)"])
def test_codes_that_cannot_be_read_are_dropped(text):
    assert is_dropped(text)


@pytest.mark.parametrize("text", [
    "assert call()", "check(call())", "ret = call()\ncheck(ret)", "x, ret = call()\nreturn x, ret",
    "ret = call()\nif flag:\n  ret = 1\ncheck(ret)", "x = call()[1]\ncheck(x)",
    "x, ret = call()\ndef inner():\n  return ret\nreturn inner",
    "ret = 0\nwhile ret == 0:\n  ret = call()", "x = [call() for _ in range(1)]\ncheck(x)",
    "try:\n  ret = call()\n  other()\nfinally:\n  check(ret)", "if (ret := call()):\n  pass"])
def test_codes_that_may_be_read_are_not(text):
    assert not is_dropped(text)


C = r"""
int called(void); int other(int); void none(void);
int drop(void) { called(); none(); return 3; }
int drop_for_a_value(void) { called(); return 3; }
int give_back(void) { return called(); }
int branch(void) { if (called()) none(); return 3; }
int store(int* to) { *to = called(); return 3; }
int pass_on(void) { return other(called()); }
"""


@pytest.mark.parametrize("level", ["-O0", "-O1", "-O2"])
def test_native_code_that_drops_a_result_is_known_by_its_instructions(tmp_path, level):
    (tmp_path / "t.c").write_text(C + "int called(void) { return 1; }\n"
                                  "int other(int a) { return a; }\nvoid none(void) {}\n")
    subprocess.run(["gcc", level, "-fno-inline", "-fno-ipa-pure-const", "-fno-ipa-icf",
                    "-fno-ipa-ra", "-fno-optimize-sibling-calls", "-shared", "-fPIC", "t.c", "-o",
                    "t.so"], cwd=tmp_path, check=True)
    listed = subprocess.run(["objdump", "-d", "--no-show-raw-insn", "t.so"], cwd=tmp_path,
                            capture_output=True, text=True, check=True).stdout
    found, name, after = {}, "", False
    for line in listed.splitlines():
        if line.endswith(">:"):
            name = line.split("<")[1][:-2]
        elif after and "@" not in name:
            found[name] = native_results.is_dropped(str(tmp_path / "t.so"),
                                                    int(line.split(":")[0], 16))
        after = "call" in line.split(":")[-1] and "<called" in line
    dropping = {"drop", "drop_for_a_value"}
    assert {name for name, is_so in found.items() if is_so} == dropping
    assert set(found) == dropping | {"give_back", "branch", "store", "pass_on"}


def test_frames_of_libc_and_python_are_folded():
    own = Frame("app.py", 3, "main")
    frames = [own, Frame("threading.py", 1, "run", "Python"), Frame("t.py", 2, "boot", "Python"),
              Frame("libc.so.6+0x1", 0, "", "libc")]
    assert folded(frames) == ["app.py:3 in main", "(2 frames of Python)", "(1 frame of libc)"]
    assert folded(frames[1:2]) == ["threading.py:1 in run"], "nothing else is there"
    for module, function, owner in (("/lib/x86_64-linux-gnu/libc.so.6", "", "libc"),
                                    ("/home/me/app", "_start", "libc"),
                                    ("/usr/bin/python3.11", "", "Python"),
                                    ("<frozen importlib._bootstrap>", "load", "Python"),
                                    ("/home/me/app", "main", "")):
        assert findings.owner_of(module, Frame(module, 1, function)) == owner
    assert findings.owner_of("", Frame(os.__file__, 1, "x")) == "Python"


def test_leaks_are_listed_by_size_and_call_site(tmp_path):
    (tmp_path / "app.py").write_text("""import acl
acl.init()
acl.rt.set_device(0)
small = [acl.rt.malloc(100, 0) for _ in range(3)]
large = acl.rt.malloc(1 << 20, 0)
acl.rt.reset_device(0)
acl.finalize()
""")
    done = subprocess.run(["anynpu", "check", "app.py"], cwd=tmp_path, capture_output=True,
                          text=True, timeout=300)
    lines = [line.split() for line in done.stderr.splitlines()]
    at = next(i for i, line in enumerate(lines) if line[:2] == ["bytes", "blocks"])
    assert lines[at + 1][:2] == ["1,048,576", "1"] and "app.py:5" in lines[at + 1][2]
    assert lines[at + 2][:2] == ["300", "3"] and "app.py:4" in lines[at + 2][2]
    assert lines[at + 3] == ["1,048,876", "4", "in", "all"]


def test_the_page_has_the_findings_with_their_lines(tmp_path):
    (tmp_path / "app.py").write_text('import acl\nacl.init()\nacl.rt.set_device(99)  # <here>\n')
    done = subprocess.run(["anynpu", "check", "--html", "-o", "out.html", "app.py"], cwd=tmp_path,
                          capture_output=True, text=True, timeout=300)
    assert done.returncode == 99, done.stderr
    text = (tmp_path / "out.html").read_text()
    assert text.startswith("<!doctype html>")
    assert "ignored-error" in text and "not-finalized" in text
    assert 'class="at">    3  acl.rt.set_device(99)  # &lt;here&gt;</span>' in text
    refused = subprocess.run(["anynpu", "check", "--html", "app.py"], cwd=tmp_path,
                             capture_output=True, text=True, timeout=300)
    assert refused.returncode == 2 and "-o report.html" in refused.stderr


def test_an_ignored_failure_has_the_sentence_of_the_library(tmp_path, check):
    (tmp_path / "app.py").write_text("import acl\nacl.init()\nacl.rt.set_device(99)\n"
                                     "acl.finalize()\n")
    checked = check(str(tmp_path / "app.py"))
    (finding,) = checked.findings
    assert finding["kind"] == "ignored-error" and finding["places"][0]["frames"][0]["line"] == 3
    assert "returned" in finding["message"] and "99" in finding["message"].split(": ", 1)[1]
