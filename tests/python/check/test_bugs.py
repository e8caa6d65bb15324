# SPDX-License-Identifier: Apache-2.0
"""The programs of tests/bugs, each with one mistake: `anynpu check` finds it at its line, and
nothing else. docs/check_bugs.md lists them."""
import os
import shutil
import subprocess
import sys

import pytest
from build_tree import BUILD, ROOT, TESTS
from conftest import marked
from hpe_programs import LIBRARY, shell

BUGS = os.path.join(TESTS, "bugs")
RUNNER = "run_kernel.py"
NAMES = sorted(name for name in os.listdir(BUGS)
               if name.endswith((".py", ".c", ".cc")) and name != RUNNER)
# What HPE's calls leave is not checked; its kernels are.
NOT_CHECKED = {"not-checked"}


def prepared(name, folder):
    """The command that runs a program."""
    path = os.path.join(BUGS, name)
    stem, suffix = os.path.splitext(name)
    if suffix == ".py":
        return [path]
    if suffix == ".c":
        tree = os.path.join(BUILD, "ascend")
        program = os.path.join(folder, stem)
        subprocess.run(["gcc", "-g", "-O1", "-std=c11", path, f"-I{tree}/include",
                        f"-L{tree}/lib64", f"-Wl,-rpath,{tree}/lib64", "-lascendcl", "-o", program],
                       check=True)
        return [program]
    shell(f"stc-clang++ --target=riscv32npu -O1 -g -c {path} -o {stem}.o && "
          f"stc-ld.lld -flavor gnu {stem}.o {LIBRARY} -r -o {stem}-fat.o", cwd=folder)
    return [os.path.join(BUGS, RUNNER), os.path.join(folder, f"{stem}-fat.o")]


@pytest.mark.parametrize("name", NAMES)
def test_a_planted_bug_is_found_at_its_line_and_nothing_else(check, tmp_path, name):
    if name.endswith(".cc") and shutil.which("clang-19") is None:
        pytest.skip("clang-19 is not installed")
    checked = check(*prepared(name, str(tmp_path)))
    assert checked.report is not None, checked.done.stderr
    others = [f for f in checked.findings if f["kind"] not in NOT_CHECKED]
    found = sorted((f["kind"], next((frame["line"] for frame in f["places"][0]["frames"]
                                     if os.path.dirname(frame["file"]) == BUGS), 0))
                   for f in others)
    wanted = marked(os.path.join(BUGS, name))
    assert found == wanted and wanted, checked.done.stdout + checked.done.stderr
    assert checked.done.returncode == 99, checked.done.stderr


def test_there_are_sixty_and_the_page_lists_them():
    assert len(NAMES) >= 60
    assert {os.path.splitext(name)[1] for name in NAMES} == {".py", ".c", ".cc"}
    script = os.path.join(ROOT, "tools", "gen_check_bugs_docs.py")
    done = subprocess.run([sys.executable, script, "--check"], capture_output=True, text=True,
                          timeout=60)
    assert done.returncode == 0, done.stdout
