# SPDX-License-Identifier: Apache-2.0
"""int4 in models: two elements share a byte, also where rows have an odd number of them."""
import numpy as np
import pytest
from model_datasets import Model, convert
from onnx import TensorProto, helper, numpy_helper
from onnx_models import network

import acl

INT4, ACL_INT4 = TensorProto.INT4, 29

pytestmark = pytest.mark.usefixtures("runtime")


def pack(values):
    """The first of two in the low half of a byte; the half behind the last is 0."""
    flat = np.append(np.ravel(values) & 15, [0] * (np.size(values) % 2)).astype(np.uint8)
    return flat[::2] | flat[1::2] << 4


def tensor(name, values):
    return helper.make_tensor(name, INT4, np.shape(values), pack(values).tobytes(), raw=True)


def run(folder, nodes, x, outputs, weights=(), feeds=()):
    """The packed bytes of each output. feeds: (name, type, array) beside x."""
    net = network(nodes, [("x", INT4, x.shape),
                          *((name, kind, array.shape) for name, kind, array in feeds)],
                  [(name, INT4, want.shape) for name, want in outputs], weights, opset=21)
    model = Model(convert(folder, "net", net),
                  output_sizes=[(want.size + 1) // 2 for _, want in outputs])
    assert acl.mdl.get_input_data_type(model.desc, 0) == ACL_INT4
    assert acl.mdl.get_input_size_by_index(model.desc, 0) == (x.size + 1) // 2
    model.run(pack(x), *(array for _, _, array in feeds))
    for index, (name, want) in enumerate(outputs):
        assert acl.mdl.get_output_data_type(model.desc, index) == ACL_INT4
        got = model.read(index, [(want.size + 1) // 2], np.uint8)
        np.testing.assert_array_equal(got, pack(want), name)
    model.close()


def integers(name, *values):
    return numpy_helper.from_array(np.array(values, np.int64), name)


X = np.random.default_rng(5).integers(-8, 8, (5, 3, 7))


def test_views_keep_the_elements(tmp_path):
    rows = [("Identity", ["x"], X), ("Reshape", ["x", "shape"], X.reshape(15, 7)),
            ("Flatten", ["x"], X.reshape(5, 21)), ("Unsqueeze", ["x", "one"], X[:, None])]
    run(tmp_path, [helper.make_node(op, inputs, [op]) for op, inputs, _ in rows], X,
        [(op, want) for op, _, want in rows], [integers("shape", 15, 7), integers("one", 1)])


@pytest.mark.parametrize("perm", [[2, 1, 0], [0, 2, 1], [1, 0, 2]], ids=str)
def test_transpose_moves_halves_of_bytes(tmp_path, perm):
    run(tmp_path, [helper.make_node("Transpose", ["x"], ["y"], perm=perm),
                   helper.make_node("Transpose", ["w"], ["z"], perm=perm)], X,
        [("y", X.transpose(perm)), ("z", X.transpose(perm))], [tensor("w", X)])


@pytest.mark.parametrize("mode", ["constant", "edge", "reflect", "wrap"])
@pytest.mark.parametrize("known", [True, False], ids=["pads known", "pads fed"])
def test_pad_in_every_mode(tmp_path, mode, known):
    pads = np.array([1, 0, 2, 0, 1, 1], np.int64)
    edges = list(zip(pads[:3], pads[3:]))
    want = (np.pad(X, edges, constant_values=-3) if mode == "constant" else np.pad(X, edges, mode))
    run(tmp_path, [helper.make_node("Pad", ["x", "pads", "fill"], ["y"], mode=mode)], X,
        [("y", want)], [tensor("fill", -3), *([integers("pads", *pads)] if known else [])],
        [] if known else [("pads", TensorProto.INT64, pads)])


def test_constant_of_shape_fills_both_halves(tmp_path):
    run(tmp_path, [helper.make_node("ConstantOfShape", ["shape"], ["y"], value=tensor("v", [-5])),
                   helper.make_node("Identity", ["x"], ["z"])], X,
        [("y", np.full((3, 5), -5)), ("z", X)], [integers("shape", 3, 5)])


def body(name, nodes, inputs, outputs):
    return helper.make_graph(nodes, name,
                             [helper.make_tensor_value_info(*value) for value in inputs],
                             [helper.make_tensor_value_info(*value) for value in outputs])


@pytest.mark.parametrize("axis,backwards", [(0, 0), (1, 0), (2, 1)])
def test_scan_cuts_and_joins_rows_of_an_odd_number_of_elements(tmp_path, axis, backwards):
    slices = np.moveaxis(X, axis, 0)[::-1 if backwards else 1]
    shape = slices.shape[1:]
    inner = body("inner", [helper.make_node("Identity", ["s"], ["o"]),
                           helper.make_node("Transpose", ["a"], ["b"])],
                 [("a", INT4, [3, 3]), ("s", INT4, shape)],
                 [("b", INT4, [3, 3]), ("o", INT4, shape)])
    state = np.arange(9).reshape(3, 3) - 4
    run(tmp_path, [helper.make_node("Scan", ["w", "x"], ["last", "y"], body=inner,
                                    num_scan_inputs=1, scan_input_axes=[axis],
                                    scan_input_directions=[backwards])], X,
        [("last", state.T if len(slices) % 2 else state), ("y", slices)], [tensor("w", state)])


def test_loop_stacks_rows_of_an_odd_number_of_elements(tmp_path):
    inner = body("inner", [helper.make_node("Identity", ["go"], ["on"]),
                           helper.make_node("Transpose", ["v"], ["t"], perm=[2, 1, 0]),
                           helper.make_node("Identity", ["v"], ["row"])],
                 [("i", TensorProto.INT64, []), ("go", TensorProto.BOOL, []),
                  ("v", INT4, [5, 3, 5])],
                 [("on", TensorProto.BOOL, []), ("t", INT4, [5, 3, 5]), ("row", INT4, [5, 3, 5])])
    square = X[:, :, :5]
    turned = square.transpose(2, 1, 0)
    run(tmp_path, [helper.make_node("Loop", ["three", "", "x"], ["last", "rows"], body=inner)],
        square, [("last", turned), ("rows", np.stack([square, turned, square]))],
        [numpy_helper.from_array(np.array(3), "three")])


def test_if_hands_int4_on(tmp_path):
    then = body("then", [helper.make_node("Identity", ["x"], ["t"])], [], [("t", INT4, X.shape)])
    other = body("else", [helper.make_node("Identity", ["w"], ["e"])], [], [("e", INT4, X.shape)])
    run(tmp_path, [helper.make_node("If", ["go"], ["y"], then_branch=then, else_branch=other)], X,
        [("y", X[::-1])], [tensor("w", X[::-1])],
        [("go", TensorProto.BOOL, np.array(False))])
