# SPDX-License-Identifier: Apache-2.0
"""The libraries of operators from C: each example of examples/operators_c, linked as it says."""
import os
import shutil
import subprocess

import pytest
from build_tree import ROOT
from hpe_programs import compile_kernels

SOURCES = os.path.join(ROOT, "examples", "operators_c")


def build(name, folder, *libraries):
    tree = os.environ["ANYNPU_BUILD_DIR"]
    program = str(folder / name)
    done = subprocess.run(
        ["gcc", "-std=c99", "-Wall", "-Wextra", "-Werror", os.path.join(SOURCES, name + ".c"), "-o",
         program, f"-I{tree}/include", f"-L{tree}/lib", *(f"-l{x}" for x in libraries),
         f"-Wl,-rpath,{tree}/lib"], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return program


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("name, library, printed", [
    ("add_compiled", "acl_op_compiler", "11 22 33 44\n"),
    ("matrix_product", "acl_cblas", "108 110\n120 122\n"),
    ("nearest_features", "acl_retr", "(4, 2) 77: 0\n(4, 2) 333: 0\n(4, 2) 589: 0\n")])
def test_an_example_with_its_library(tmp_path, name, library, printed):
    assert run(build(name, tmp_path, library, "ascendcl")) == printed


@pytest.mark.parametrize("libraries", [["acl_op_executor", "ascendcl"], ["ascendcl"]])
def test_loaded_operators_under_both_names_of_the_library(tmp_path, libraries):
    models = str(tmp_path / "op_models")
    run("atc", f"--singleop={SOURCES}/add.json", f"--output={models}",
        "--soc_version=Ascend310P3")
    assert run(build("add_loaded", tmp_path, *libraries), models) == "11 22 33 44\n"


def test_the_executor_library_has_every_function_of_its_header():
    """A program that asks the library by name gets the functions of libascendcl."""
    text = """
import ctypes, re, sys
executor, runtime = ctypes.CDLL("libacl_op_executor.so"), ctypes.CDLL("libascendcl.so")
names = set(re.findall(r"\\b(aclop\\w+)\\(", open(sys.argv[1]).read()))
assert len(names) > 25, names
for name in names:
    a, b = getattr(executor, name), getattr(runtime, name)
    assert ctypes.cast(a, ctypes.c_void_p).value == ctypes.cast(b, ctypes.c_void_p).value, name
"""
    tree = os.environ["ANYNPU_BUILD_DIR"]
    done = subprocess.run(["python3", "-c", text, f"{tree}/include/acl/acl_op.h"],
                          env={**os.environ, "LD_LIBRARY_PATH": f"{tree}/lib"},
                          capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr


# `remote` is the back end of the tests whose memory the host cannot read (tests/device/remote).
@pytest.mark.parametrize("devices", ["cpu:2", "remote:2"])
@pytest.mark.skipif(shutil.which("clang-19") is None, reason="clang-19 is not installed")
def test_a_kernel_launched_from_c(tmp_path, monkeypatch, devices):
    monkeypatch.setenv("ANYNPU_DEVICES", devices)
    with open(os.path.join(SOURCES, "scale_kernel.cc")) as file:
        kernel = compile_kernels(file.read(), str(tmp_path), "scale_kernel", "-O2")
    assert run(build("launch_kernel", tmp_path, "ascendcl"), kernel) == "0.5 25 49.5\n"
