# SPDX-License-Identifier: Apache-2.0
"""--out_nodes behind operators whose output shapes come from values: the shape is left open."""

import numpy as np
import pytest
from model_datasets import Model, convert
from onnx import TensorProto, helper, numpy_helper
from onnx_models import network

import acl

pytestmark = pytest.mark.usefixtures("runtime")

X = np.array([[0, 3, 0, 5], [7, 0, 0, 2]], np.float32)
PLACES = np.array(np.nonzero(X), np.int64)  # 2 x 4


def constant(name, values, kind=np.int64):
    return numpy_helper.from_array(np.array(values, kind), name)


NODES = [
    helper.make_node("NonZero", ["x"], ["places"], name="nonzero"),
    helper.make_node("Transpose", ["places"], ["pairs"], name="transpose", perm=[1, 0]),
    helper.make_node("GatherND", ["x", "pairs"], ["values"], name="gather"),
    helper.make_node("Cast", ["values"], ["whole"], name="cast", to=TensorProto.INT32),
    helper.make_node("Greater", ["values", "three"], ["large"], name="greater"),
    helper.make_node("Shape", ["values"], ["count"], name="shape"),
    helper.make_node("Add", ["values", "three"], ["more"], name="add"),
    helper.make_node("ArgMax", ["values"], ["where"], name="argmax", axis=0, keepdims=0),
    helper.make_node("ReduceMax", ["values"], ["most"], name="max", keepdims=0),
    helper.make_node("Concat", ["values", "more"], ["both"], name="concat", axis=0),
    helper.make_node("Unsqueeze", ["values", "front"], ["row"], name="unsqueeze"),
    helper.make_node("Mul", ["most", "three"], ["y"], name="mul"),
]
VALUES = X[tuple(PLACES)]
WANTED = {
    "nonzero:0": PLACES, "transpose:0": PLACES.T, "gather:0": VALUES,
    "cast:0": VALUES.astype(np.int32), "greater:0": VALUES > 3, "shape:0": np.array([4], np.int64),
    "add:0": VALUES + 3, "argmax:0": np.array(2, np.int64), "max:0": np.array(7, np.float32),
    "concat:0": np.concatenate([VALUES, VALUES + 3]), "unsqueeze:0": VALUES[None],
}


def net():
    return network(NODES, [("x", TensorProto.FLOAT, [2, 4])], [("y", TensorProto.FLOAT, [])],
                   [constant("three", 3, np.float32), constant("front", [0])], opset=13)


def read(model, index, want):
    got = model.read(index, want.shape, want.dtype)
    np.testing.assert_array_equal(got, want)
    desc = acl.mdl.get_dataset_tensor_desc(model.outputs, index)
    if desc:
        dims = [acl.get_tensor_desc_dim_v2(desc, i)[0]
                for i in range(acl.get_tensor_desc_num_dims(desc))]
        assert dims == list(want.shape)


@pytest.mark.parametrize("node", WANTED)
def test_every_tensor_behind_a_data_dependent_operator_can_be_an_output(tmp_path, node):
    path = convert(tmp_path, "net", net(), f"--out_nodes={node}")
    model = Model(path, output_sizes=[256])
    name = acl.mdl.get_output_name_by_index(model.desc, 0)
    assert name.startswith(node + ":")
    model.run(X)
    read(model, 0, WANTED[node])
    model.close()


def test_several_of_them_beside_one_that_is_fixed(tmp_path):
    nodes = ["gather:0", "mul:0", "nonzero:0"]
    path = convert(tmp_path, "net", net(), f"--out_nodes={';'.join(nodes)}")
    model = Model(path, output_sizes=[256] * 3)
    model.run(X)
    for index, want in enumerate([VALUES, np.array(21, np.float32), PLACES]):
        read(model, index, want)
    model.close()


def test_names_of_tensors_work_as_well(tmp_path):
    model = Model(convert(tmp_path, "net", net(), "--out_nodes=pairs;both"), output_sizes=[256] * 2)
    model.run(X)
    read(model, 0, PLACES.T)
    read(model, 1, WANTED["concat:0"])
    model.close()


@pytest.mark.parametrize("node,want", [
    ("nms:0", [[0, 0, 0], [0, 0, 1]]), ("column:0", [[0], [1]]), ("boxes:0", [[0, 1]])])
def test_behind_non_max_suppression(tmp_path, node, want):
    nodes = [
        helper.make_node("NonMaxSuppression", ["b", "s", "most"], ["kept"], name="nms"),
        helper.make_node("Gather", ["kept", "two"], ["column"], name="column", axis=1),
        helper.make_node("Transpose", ["column"], ["boxes"], name="boxes", perm=[1, 0]),
        helper.make_node("Shape", ["boxes"], ["y"], name="shape"),
    ]
    boxes = np.array([[[0, 0, 1, 1], [0, 2, 1, 3]]], np.float32)
    scores = np.array([[[0.9, 0.8]]], np.float32)
    inputs = [("b", TensorProto.FLOAT, [1, 2, 4]), ("s", TensorProto.FLOAT, [1, 1, 2])]
    made = network(nodes, inputs,
                   [("y", TensorProto.INT64, [2])],
                   [constant("most", [2**63 - 1]), constant("two", [2])])
    model = Model(convert(tmp_path, "net", made, f"--out_nodes={node}"), output_sizes=[256])
    model.run(boxes, scores)
    read(model, 0, np.array(want, np.int64))
    model.close()
