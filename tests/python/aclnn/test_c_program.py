# SPDX-License-Identifier: Apache-2.0
"""A C program that uses aclnn by its headers alone."""
import os
import subprocess

import pytest
from build_tree import BUILD

HERE = os.path.dirname(os.path.abspath(__file__))


@pytest.mark.parametrize("compiler", [["gcc", "-std=c99"], ["g++", "-xc++", "-std=c++11"]])
def test_two_phases(tmp_path, compiler):
    program = str(tmp_path / "two_phases")
    built = subprocess.run(
        [*compiler, "-Wall", "-Wextra", os.path.join(HERE, "two_phases.c"), "-o", program,
         f"-I{BUILD}/include", f"-L{BUILD}/lib", "-lopapi", "-lnnopbase", "-lascendcl",
         f"-Wl,-rpath,{BUILD}/lib"], capture_output=True, text=True, timeout=300)
    assert built.returncode == 0, built.stderr
    done = subprocess.run([program], capture_output=True, text=True, timeout=300,
                          env={**os.environ, "ANYNPU_ERRORS": "off"})
    assert (done.returncode, done.stdout) == (0, "all right\n"), done.stdout + done.stderr


def test_every_header_compiles_alone(tmp_path):
    """All of them, in C: each includes what it needs."""
    folder = os.path.join(BUILD, "include", "aclnnop")
    names = sorted(name for name in os.listdir(folder) if name.endswith(".h"))
    assert len(names) > 400
    source = tmp_path / "all.c"
    source.write_text("".join(f'#include "aclnnop/{name}"\n' for name in reversed(names)))
    done = subprocess.run(["gcc", "-std=c99", "-fsyntax-only", "-Wall", "-Werror",
                           f"-I{BUILD}/include", str(source)],
                          capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
