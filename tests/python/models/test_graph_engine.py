# SPDX-License-Identifier: Apache-2.0
"""The graph engine's C++ functions, called as a program does that compiles models itself."""
import os
import subprocess

import onnx
import pytest
from build_tree import ROOT
from onnx import TensorProto, helper

SOURCE = os.path.join(ROOT, "examples", "graph_engine", "build_model.cpp")
OPERATORS = os.path.join(ROOT, "tests", "ge_programs", "operators.cpp")


def relu_model(path):
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", 4])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, ["batch", 4])
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "g", [x], [y])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8),
              str(path))


def built(source, made, abi, library):
    """Compiled with either layout of std::string that libstdc++ has."""
    tree = os.environ["ANYNPU_BUILD_DIR"]
    done = subprocess.run(
        ["g++", "-std=c++17", "-Wall", "-Wextra", "-Werror", f"-D_GLIBCXX_USE_CXX11_ABI={abi}",
         source, "-o", made, f"-I{tree}/ascend/include", f"-L{tree}/ascend/lib64", f"-l{library}",
         "-lascendcl", f"-Wl,-rpath,{tree}/lib"], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return made


@pytest.fixture(scope="module", params=["0", "1"], ids=["old strings", "new strings"])
def program(request, tmp_path_factory):
    made = str(tmp_path_factory.mktemp("graph_engine") / "build_model")
    return built(SOURCE, made, request.param, "fmk_onnx_parser")


@pytest.mark.parametrize("abi", ["0", "1"], ids=["old strings", "new strings"])
@pytest.mark.parametrize("library", ["graph", "fmk_onnx_parser"])
def test_operators_keep_what_is_declared(abi, library, tmp_path):
    done = run(built(OPERATORS, str(tmp_path / "operators"), abi, library))
    assert done.stdout == "0\n", done.stdout + done.stderr


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, timeout=300)


def test_a_model_is_compiled_saved_and_loaded(program, tmp_path):
    relu_model(tmp_path / "relu.onnx")
    done = run(program, str(tmp_path / "relu.onnx"), "x:2,4", str(tmp_path / "relu"))
    assert done.returncode == 0, done.stderr
    assert done.stdout == "1 inputs of 32 bytes, 1 outputs of 32 bytes\n"
    assert (tmp_path / "relu.om").exists()


def test_a_wrong_option_says_what_is_wrong(program, tmp_path):
    relu_model(tmp_path / "relu.onnx")
    done = run(program, str(tmp_path / "relu.onnx"), "z:2,4", str(tmp_path / "relu"))
    assert done.returncode == 1
    assert "build:" in done.stderr and "'z'" in done.stderr
    assert not (tmp_path / "relu.om").exists()


def test_a_file_that_is_no_model_is_refused(program, tmp_path):
    (tmp_path / "noise.onnx").write_bytes(b"\xff" * 100)
    done = run(program, str(tmp_path / "noise.onnx"), "x:2,4", str(tmp_path / "relu"))
    assert done.returncode == 1
    assert "\nparse:" in done.stderr, "behind the line of the library itself"
