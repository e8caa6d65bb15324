# SPDX-License-Identifier: Apache-2.0
"""The demo's own parts: the committed classifier, its labels, and the pictures it is shown."""
import os
import sys

import numpy as np
import onnx
import pytest
from build_tree import ROOT
from onnx import numpy_helper

SHAPES = os.path.join(ROOT, "examples", "shapes")
sys.path.insert(0, SHAPES)

import draw_shapes  # noqa: E402
import net  # noqa: E402
import train_shapes  # noqa: E402

MODEL = os.path.join(SHAPES, "shapes.onnx")


@pytest.fixture(scope="module")
def model():
    return onnx.load(MODEL)


def network_of(model):
    """The training's own network with the weights of the ONNX file: an independent oracle."""
    values = {w.name: numpy_helper.to_array(w) for w in model.graph.initializer}
    network = net.Network(np.random.default_rng(0), len(draw_shapes.LABELS))
    nodes = [n for n in model.graph.node if n.op_type in ("Conv", "BatchNormalization", "Gemm")]
    assert len(nodes) == len(network.leaves)
    for node, leaf in zip(nodes, network.leaves):
        weights = [values[name] for name in node.input[1:]]
        if node.op_type == "Conv":
            kernel = weights[0].transpose(2, 3, 1, 0)
            leaf.params["w"] = kernel.reshape(-1, kernel.shape[-1])
        elif node.op_type == "Gemm":
            leaf.params["w"], leaf.params["b"] = weights[0].T, weights[1]
        else:
            leaf.params["scale"], leaf.params["bias"], leaf.mean, leaf.var = weights
    return network


def test_the_committed_model_is_small_and_valid(model):
    assert os.path.getsize(MODEL) < 1_000_000
    onnx.checker.check_model(model, full_check=True)


def test_the_model_takes_what_the_quick_start_makes_of_a_picture(model):
    (entry,) = model.graph.input
    assert entry.name == "actual_input_1"
    dims = [d.dim_value or d.dim_param for d in entry.type.tensor_type.shape.dim]
    assert dims == ["batch", 3, 224, 224]


def test_the_labels_are_those_of_the_pictures():
    with open(os.path.join(SHAPES, "labels.txt"), encoding="utf-8") as file:
        assert file.read().split() == draw_shapes.LABELS


@pytest.mark.parametrize("label", draw_shapes.LABELS)
def test_pictures_of_a_shape_are_drawn_alike_for_one_seed(label):
    first, second, other = (np.asarray(draw_shapes.draw(label, 60, 40, np.random.default_rng(s)))
                            for s in (1, 1, 2))
    assert first.shape == (40, 60, 3) and (first == second).all() and (first != other).any()


def test_the_classifier_names_pictures_it_has_never_seen(model):
    rng = np.random.default_rng(98765)
    labels = np.arange(40) % len(draw_shapes.LABELS)
    pictures = np.stack([train_shapes.preprocess(
        draw_shapes.draw(draw_shapes.LABELS[i], 512, 342, rng)) for i in labels])
    answers = network_of(model).forward(pictures).argmax(1)
    assert (answers == labels).mean() >= 0.95
