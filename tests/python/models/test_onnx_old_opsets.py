# SPDX-License-Identifier: Apache-2.0
"""Operators in the forms of opsets 1 to 10, which later opsets changed: the same numbers."""
import json

import numpy as np
import pytest
from model_datasets import atc, convert
from om_runner import run_om
from onnx import TensorProto, defs, helper, numpy_helper

pytestmark = pytest.mark.usefixtures("runtime")

RANDOM = np.random.default_rng(11)
X = RANDOM.standard_normal((2, 3, 4, 5)).astype(np.float32)
ROW = RANDOM.standard_normal(3).astype(np.float32)  # one number for each channel
PLANE = RANDOM.standard_normal((4, 5)).astype(np.float32)
BY_ELEMENT = RANDOM.uniform(0.5, 2, (4, 3, 4, 5)).astype(np.float32)
FILTERS = RANDOM.standard_normal((3, 3, 1, 1)).astype(np.float32)
CONVOLVED = np.einsum("nchw,oc->nohw", X, FILTERS[:, :, 0, 0])
ALONG_1 = ROW.reshape(3, 1, 1)


def number(value):
    return np.array(value, np.float32)


def model(nodes, opset, weights, output):
    """Files of these opsets list their weights among the inputs."""
    value = helper.make_tensor_value_info
    graph = helper.make_graph(
        nodes, "net",
        [value("x", TensorProto.FLOAT, X.shape)]
        + [value(name, helper.np_dtype_to_tensor_dtype(w.dtype), w.shape)
           for name, w in weights.items()],
        [value("y", output, None)],
        [numpy_helper.from_array(w, name) for name, w in weights.items()])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=3)


def check(folder, nodes, opset, weights, want):
    output = helper.np_dtype_to_tensor_dtype(want.dtype)
    made = run_om(convert(folder, "net", model(nodes, opset, weights, output)), [X])["last:0:y"]
    assert made.dtype == want.dtype and made.shape == want.shape
    np.testing.assert_allclose(made, want, rtol=2e-5, atol=2e-5)


def last(op, *inputs, outputs=("y",), **attributes):
    return helper.make_node(op, ["x", *inputs], outputs, name="last", **attributes)


CASES = {
    "Clip_1": (1, last("Clip", min=-0.5, max=0.5, consumed_inputs=[0]), {}, X.clip(-0.5, 0.5)),
    "Relu_1": (1, last("Relu", consumed_inputs=[0]), {}, np.maximum(X, 0)),
    "Sum_1": (1, last("Sum", "x", consumed_inputs=[0, 0]), {}, X + X),
    "Selu_1": (1, last("Selu"), {}, np.where(X > 0, 1.0507 * X,
               1.0507 * 1.6732 * np.expm1(X)).astype(np.float32)),
    "Cast_1": (1, last("Cast", to="INT32"), {}, X.astype(np.int32)),
    "Pad_1": (1, last("Pad", paddings=[0, 0, 1, 2, 0, 0, 3, 0], value=1.5), {},
              np.pad(X, ((0, 0), (0, 0), (1, 3), (2, 0)), constant_values=1.5)),
    "Upsample_1": (1, last("Upsample", height_scale=2.0, width_scale=3.0), {},
                   X.repeat(2, 2).repeat(3, 3)),
    "Tile_1": (1, last("Tile", "t", "a"), {"t": number(2), "a": number(1)},
               np.tile(X, (1, 2, 1, 1))),
    "Split_1": (1, last("Split", "s", outputs=["y", "z"], axis=3), {"s": number([2, 3])},
                X[..., :2]),
    "LpPool_1": (1, last("LpPool", kernel_shape=[4, 5], p=2.0), {},
                 np.sqrt((X * X).sum((2, 3), keepdims=True))),
    "GlobalLpPool_1": (1, last("GlobalLpPool", p=3.0), {},
                       np.cbrt(np.abs(X ** 3).sum((2, 3), keepdims=True))),
    "Dropout_6_with_a_mask": (6, last("Dropout", outputs=["y", "mask"], is_test=1), {}, X),
    "Add_6_at_an_axis": (6, last("Add", "b", broadcast=1, axis=1), {"b": ROW}, X + ALONG_1),
    "Pow_1_at_the_end": (1, last("Pow", "b", broadcast=1), {"b": np.round(PLANE)},
                         X ** np.round(PLANE)),
    "BatchNormalization_7_by_element": (
        7, last("BatchNormalization", "s", "b", "m", "v", spatial=0),
        dict(zip("sbmv", BY_ELEMENT)),
        (X - BY_ELEMENT[2]) / np.sqrt(BY_ELEMENT[3] + 1e-5) * BY_ELEMENT[0] + BY_ELEMENT[1]),
    "Resize_10_shrinks": (10, last("Resize", "s"), {"s": number([1, 1, 1, 0.6])},
                          X[..., [0, 2, 4]]),
}


@pytest.mark.parametrize("name", CASES)
def test_the_form_of_an_old_opset_gives_what_its_opset_says(tmp_path, name):
    opset, node, weights, want = CASES[name]
    check(tmp_path, [node], opset, weights, want)


@pytest.mark.parametrize("op, want", [
    ("Add", CONVOLVED + ALONG_1),
    ("PRelu", np.where(CONVOLVED > 0, CONVOLVED, CONVOLVED * ALONG_1))])
def test_broadcasting_at_an_axis_needs_no_stated_shapes(tmp_path, op, want):
    """What files of opset 6 are full of: the bias behind a convolution, without value_info."""
    attributes = {"broadcast": 1, "axis": 1} if op == "Add" else {}
    nodes = [helper.make_node("Conv", ["x", "w"], ["c"]),
             helper.make_node(op, ["c", "b"], ["y"], name="last", **attributes)]
    check(tmp_path, nodes, 6, {"w": FILTERS, "b": ROW}, want.astype(np.float32))


def test_recurrent_layers_of_opset_1_keep_their_numbers(tmp_path):
    rows = {"w": RANDOM.standard_normal((1, 4, 5)).astype(np.float32),
            "r": np.zeros((1, 4, 4), np.float32)}
    squeeze = helper.make_node("Reshape", ["x"], ["s"], shape=[6, 4, 5])
    node = helper.make_node("RNN", ["s", "w", "r"], ["", "y"], name="last", hidden_size=4,
                            output_sequence=0)
    value = helper.make_tensor_value_info
    graph = helper.make_graph([squeeze, node], "net", [value("x", TensorProto.FLOAT, X.shape)],
                              [value("y", TensorProto.FLOAT, None)],
                              [numpy_helper.from_array(w, n) for n, w in rows.items()])
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 1)], ir_version=4)
    got = run_om(convert(tmp_path, "net", made), [X])["last:1:y"]
    np.testing.assert_allclose(got[0], np.tanh(X.reshape(6, 4, 5)[-1] @ rows["w"][0].T), atol=1e-5)


def test_every_form_of_every_operator_of_the_default_domain_is_known(tmp_path):
    """Model by model, one for each opset, with all operators that the opset has."""
    forms = [schema for schema in defs.get_all_schemas_with_history()
             if schema.domain == "" and schema.support_level == defs.OpSchema.SupportType.COMMON]
    unknown = []
    for opset in range(1, defs.onnx_opset_version() + 1):
        names = sorted({schema.name for schema in forms if schema.since_version == opset})
        nodes = [helper.make_node(name, ["x"], [f"y{i}"]) for i, name in enumerate(names)]
        path, report = tmp_path / f"opset_{opset}.onnx", tmp_path / f"report_{opset}.json"
        path.write_bytes(model(nodes, opset, {}, TensorProto.FLOAT).SerializeToString())
        atc("--mode=3", f"--model={path}", "--framework=5", f"--check_report={report}",
            "--soc_version=Ascend310P3")
        checked = json.loads(report.read_text())["op"]
        assert [one["op_type"] for one in checked] == names
        unknown += [f"{one['op_type']} {opset}" for one in checked if one["result"] != "success"]
    assert unknown == []
