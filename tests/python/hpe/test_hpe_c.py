# SPDX-License-Identifier: Apache-2.0
"""C and C++ host programs, compiled against hpe.h and stcpti.h and linked with -lhpert
-lprofiler_stc -ltracer_stc."""
import os
import subprocess

import pytest
from build_tree import ROOT
from hpe_programs import kernels

BUILD = os.environ["ANYNPU_BUILD_DIR"]
PROGRAMS = os.path.join(ROOT, "tests", "hpe_programs")


def build(name, folder, *options):
    """Compiles tests/hpe_programs/<name>; the program."""
    out = os.path.join(folder, name.replace(".", "_"))
    compiler = ["gcc", "-std=c99"] if name.endswith(".c") else ["g++", "-std=c++11"]
    lib = os.path.join(BUILD, "lib")
    done = subprocess.run(
        [*compiler, "-Wall", "-Wextra", "-Werror", "-pedantic", *options, "-I",
         os.path.join(ROOT, "include"), os.path.join(PROGRAMS, name), "-o", out, f"-L{lib}",
         f"-Wl,-rpath,{lib}", "-lhpert", "-lprofiler_stc", "-ltracer_stc"],
        capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return out


def run(program, *arguments, **env):
    done = subprocess.run([program, *arguments], capture_output=True, text=True, timeout=300,
                          env={**os.environ, **env})
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def image(tmp_path_factory):
    path = tmp_path_factory.mktemp("image") / "kernels.o"
    path.write_bytes(kernels())
    return str(path)


def test_memory_copies_streams_events_and_errors_in_c(tmp_path):
    assert run(build("runtime.c", tmp_path)).split() == ["all", "fine"]


def test_modules_kernels_and_counters_in_cpp(tmp_path, image):
    assert run(build("kernels.cpp", tmp_path), image).splitlines()[-1] == "all fine"
