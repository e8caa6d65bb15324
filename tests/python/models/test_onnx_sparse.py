# SPDX-License-Identifier: Apache-2.0
"""Sparse initializers and sparse Constants of ONNX: dense from the first step on."""
import numpy as np
import pytest
from model_datasets import atc, convert
from om_runner import run_om
from onnx import TensorProto, helper, numpy_helper, save

pytestmark = pytest.mark.usefixtures("runtime")

X = np.arange(12, dtype=np.float32).reshape(3, 4)
DENSE = np.zeros((3, 4), np.float32)
DENSE[0, 1], DENSE[2, 3] = 5, -7


def sparse(values, indices, dims, name="w", kind=np.float32):
    return helper.make_sparse_tensor(
        numpy_helper.from_array(np.array(values, kind), name),
        numpy_helper.from_array(np.array(indices, np.int64), name + "_indices"), dims)


def model(initializer=None, constant=None):
    nodes = [helper.make_node("Add", ["x", "w"], ["y"], name="last")]
    if constant:
        nodes.insert(0, helper.make_node("Constant", [], ["w"], sparse_value=constant))
    value = helper.make_tensor_value_info
    graph = helper.make_graph(nodes, "net", [value("x", TensorProto.FLOAT, X.shape)],
                              [value("y", TensorProto.FLOAT, None)],
                              sparse_initializer=[initializer] if initializer else [])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=7)


PLACES = {"places": [1, 11], "axes": [[0, 1], [2, 3]]}


@pytest.mark.parametrize("indices", PLACES.values(), ids=PLACES)
@pytest.mark.parametrize("where", ["initializer", "constant"])
def test_the_elements_stand_where_their_indices_say(tmp_path, where, indices):
    made = convert(tmp_path, "net", model(**{where: sparse([5, -7], indices, [3, 4])}))
    np.testing.assert_array_equal(run_om(made, [X])["last:0:y"], X + DENSE)


def test_a_tensor_without_elements_is_all_zeros(tmp_path):
    made = convert(tmp_path, "net", model(sparse([], [], [3, 4])))
    np.testing.assert_array_equal(run_om(made, [X])["last:0:y"], X)


BAD = {
    "place": (sparse([5], [12], [3, 4]), "value 0 of 1 stands outside"),
    "negative place": (sparse([5], [-1], [3, 4]), "value 0 of 1 stands outside"),
    "axis": (sparse([5, 6], [[0, 1], [0, 4]], [3, 4]), "value 1 of 2 stands outside"),
    "count": (sparse([5, 6], [1], [3, 4]), "one of int64 for each value"),
    "extent": (sparse([5], [1], [-3, 4]), "negative extent"),
    "a terabyte": (sparse([5], [1], [1 << 20, 1 << 18]), "more than 256 MiB"),
    "an overflow": (sparse([5], [1], [1 << 40, 1 << 40]), "'w'"),
}


@pytest.mark.parametrize("case", BAD)
@pytest.mark.parametrize("where", ["initializer", "constant"])
def test_a_damaged_sparse_tensor_is_named(tmp_path, where, case):
    tensor, sentence = BAD[case]
    save(model(**{where: tensor}), tmp_path / "net.onnx")
    done = atc(f"--model={tmp_path}/net.onnx", "--framework=5", f"--output={tmp_path}/net",
               "--soc_version=Ascend310P3")
    assert done.returncode != 0 and not (tmp_path / "net.om").exists()
    assert "sparse tensor 'w'" in done.stderr and sentence in done.stderr


def test_many_sparse_tensors_together_are_limited(tmp_path):
    made = model(sparse([5], [1], [3, 4]))
    made.graph.sparse_initializer.extend(
        sparse([5], [1], [1 << 22], name=f"w{i}") for i in range(17))
    save(made, tmp_path / "net.onnx")
    done = atc(f"--model={tmp_path}/net.onnx", "--framework=5", f"--output={tmp_path}/net",
               "--soc_version=Ascend310P3")
    assert done.returncode != 0
    assert "sparse tensor 'w15'" in done.stderr and "more than 256 MiB" in done.stderr
