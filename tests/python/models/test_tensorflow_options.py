# SPDX-License-Identifier: Apache-2.0
"""Options of atc with frozen GraphDefs of TensorFlow: which outputs, which inputs and shapes, which
types and formats; what the results are, against numpy."""
import subprocess

import graph_def_file as gd
import numpy as np
import pytest
from compiled_graph import types_of
from om_runner import run_om

pytestmark = pytest.mark.usefixtures("runtime")

RNG = np.random.default_rng(5)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def atc(nodes, *more):
    with open("net.pb", "wb") as file:
        file.write(gd.graph(nodes))
    return subprocess.run(["atc", "--model=net.pb", "--framework=3", "--output=net",
                           "--soc_version=Ascend310P3", *more],
                          capture_output=True, text=True, timeout=120)


def run(nodes, arrays, *more):
    done = atc(nodes, *more)
    assert done.returncode == 0, done.stderr
    return run_om("net.om", arrays)


X = RNG.standard_normal((2, 6)).astype(np.float32)
# Two leaves, `parts` with three outputs and `flat`; `neg` is read by both.
NODES = [gd.placeholder("x", [2, 6]), gd.node("neg", "Neg", ["x"]), gd.const("one", np.int32(1)),
         gd.const("row", np.int32([-1])), gd.node("parts", "Split", ["one", "neg"], num_split=3),
         gd.node("flat", "Reshape", ["neg", "row"])]
WANTED = {"neg:0": -X, "parts:0": -X[:, :2], "parts:1": -X[:, 2:4], "parts:2": -X[:, 4:],
          "flat:0": -X.reshape(-1)}


@pytest.mark.parametrize("text, names", [
    ("neg:0", ["neg:0"]),
    ("neg", ["neg:0"]),
    ("flat:0;neg:0", ["flat:0", "neg:0"]),  # in the order of the option
    ("parts:2;parts:0", ["parts:2", "parts:0"]),
    ("parts:1;flat:0;neg:0", ["parts:1", "flat:0", "neg:0"]),
    (None, ["parts:0", "parts:1", "parts:2", "flat:0"]),  # the leaves, in the order of the file
])
def test_outputs_are_those_that_are_named_or_the_leaves(text, names):
    results = run(NODES, [X], *([f"--out_nodes={text}"] if text else []))
    assert [":".join(name.split(":")[:2]) for name in results] == names
    for name, got in zip(names, results.values()):
        np.testing.assert_array_equal(got, WANTED[name])


def test_what_no_output_needs_may_be_unknown():
    nodes = [*NODES, gd.node("odd", "NobodyKnows", ["neg"])]
    np.testing.assert_array_equal(next(iter(run(nodes, [X], "--out_nodes=neg:0").values())), -X)
    assert atc(nodes).returncode == 1


def test_a_rank_that_the_model_leaves_open_comes_from_the_command_line():
    nodes = [gd.placeholder("x", None), gd.const("axis", np.int32(-1)),
             gd.node("y", "Sum", ["x", "axis"])]
    got, = run(nodes, [X], "--input_shape=x:2,6").values()
    np.testing.assert_allclose(got, X.sum(-1), rtol=1e-6)
    assert '--input_shape="x:' in atc([*nodes[:2], gd.node("y", "Softmax", ["x"])]).stderr


def test_the_shape_of_an_input_may_stand_in_output_shapes():
    nodes = [gd.node("x", "Placeholder", dtype=gd.Type(1), _output_shapes=[gd.Shape([2, 6])]),
             gd.node("y", "Neg", ["x"])]
    got, = run(nodes, [X]).values()
    np.testing.assert_array_equal(got, -X)


def test_an_input_with_a_default_is_one_when_it_is_named():
    nodes = [gd.placeholder("x", [2, 6]), gd.const("two", np.float32(2)),
             gd.node("rate", "PlaceholderWithDefault", ["two"], dtype=gd.Type(1),
                     shape=gd.Shape([])),
             gd.node("y", "Mul", ["x", "rate"])]
    got, = run(nodes, [X]).values()
    np.testing.assert_array_equal(got, X * 2)
    got, = run(nodes, [X, np.float32(5)], "--input_shape=x:2,6;rate:").values()
    np.testing.assert_array_equal(got, X * 5)


W = RNG.standard_normal((3, 3, 2, 4)).astype(np.float32)
PICTURE = [gd.placeholder("x", [1, 5, 7, 2]), gd.const("w", W),
           gd.node("y", "Conv2D", ["x", "w"], padding="SAME", strides=[1, 1, 1, 1])]


@pytest.mark.parametrize("given", ["NHWC", "NCHW", "ND"])
def test_the_format_of_the_inputs_changes_no_result(given):
    x = RNG.standard_normal((1, 5, 7, 2)).astype(np.float32)
    plain, = run(PICTURE, [x]).values()
    got, = run(PICTURE, [x], "--input_format=" + given).values()
    np.testing.assert_array_equal(got, plain)
    assert got.shape == (1, 5, 7, 4)


def test_outputs_may_have_another_type():
    got = run(NODES, [X], "--out_nodes=neg:0;flat:0", "--output_type=neg:0:FP16").values()
    first, second = got
    np.testing.assert_array_equal(first, (-X).astype(np.float16))
    np.testing.assert_array_equal(second, -X.reshape(-1))


def test_float16_inputs_and_precision_modes_are_those_of_every_model():
    x = RNG.standard_normal((1, 5, 7, 2)).astype(np.float32)
    plain, = run(PICTURE, [x]).values()
    got, = run(PICTURE, [x.astype(np.float16)], "--input_fp16_nodes=x",
               "--precision_mode=allow_fp32_to_fp16",
               "--op_select_implmode=high_precision").values()
    np.testing.assert_allclose(got, plain, rtol=1e-2, atol=2e-2)


@pytest.mark.parametrize("passes", ["ScopeLayerNormPass", "ScopeBatchNormPass,ScopeGeluPass"])
def test_scope_passes_are_accepted_and_the_patterns_are_found_without(passes):
    nodes = [gd.placeholder("x", [2, 6]), gd.node("s", "Sigmoid", ["x"]),
             gd.node("y", "Mul", ["x", "s"])]
    for more in ([], ["--enable_scope_fusion_passes=" + passes]):
        got, = run(nodes, [X], *more).values()
        np.testing.assert_allclose(got, X / (1 + np.exp(-X)), rtol=1e-5, atol=1e-6)
        assert types_of("net.om") == ["Swish"]


@pytest.mark.parametrize("scaled", [True, False])
def test_the_batch_normalisation_of_2015_goes_into_the_convolution(scaled):
    """TensorFlow itself no longer takes it; the first published Inception files have it."""
    x = RNG.standard_normal((1, 5, 7, 2)).astype(np.float32)
    mean, beta, gamma = (RNG.standard_normal(4).astype(np.float32) for _ in range(3))
    variance = RNG.uniform(0.5, 2, 4).astype(np.float32)
    parts = [gd.const(name, array) for name, array in
             (("m", mean), ("v", variance), ("beta", beta), ("gamma", gamma))]
    nodes = [*PICTURE, *parts,
             gd.node("n", "BatchNormWithGlobalNormalization", ["y", "m", "v", "beta", "gamma"],
                     variance_epsilon=0.001, scale_after_normalization=scaled),
             gd.node("z", "Relu", ["n"])]
    plain, = run(PICTURE, [x]).values()
    want = (plain - mean) / np.sqrt(variance + 0.001) * (gamma if scaled else 1) + beta
    got, = run(nodes, [x]).values()
    np.testing.assert_allclose(got, np.maximum(want, 0), rtol=1e-4, atol=1e-4)
    assert "BatchNormalization" not in types_of("net.om")
