# SPDX-License-Identifier: Apache-2.0
"""Decoders whose weights have 4 or 8 bits: in the spellings of exporters, against numpy in double.
The weights stay packed in the file and in the loaded model."""
import os

import numpy as np
import pytest
from model_datasets import Model, atc_over, convert
from onnx import TensorProto, helper, numpy_helper

import acl

pytestmark = pytest.mark.usefixtures("runtime")

KINDS = {"int8": (TensorProto.INT8, -128, 127), "uint8": (TensorProto.UINT8, 0, 255),
         "int4": (TensorProto.INT4, -8, 7), "uint4": (TensorProto.UINT4, 0, 15)}
CLOSE = 1e-5  # of the largest sum


def packed(codes):
    """Two codes to a byte, the first in the low half."""
    flat = np.append(np.ravel(codes) & 15, [0] * (np.size(codes) % 2)).astype(np.uint8)
    return flat[::2] | flat[1::2] << 4


def tensor(name, kind, codes):
    number, low, _ = KINDS[kind]
    if kind.endswith("4"):
        return helper.make_tensor(name, number, np.shape(codes), packed(codes).tobytes(), raw=True)
    return numpy_helper.from_array(np.asarray(codes, np.int8 if low else np.uint8), name)


class Network:
    """Products one after the other, with what they give in double."""

    def __init__(self, rows, width, seed=1):
        self.random = np.random.default_rng(seed)
        self.x = self.random.standard_normal((*rows, width)).astype(np.float32)
        self.want, self.y = self.x.astype(np.float64), "x"
        self.nodes, self.weights = [], []

    def node(self, op, inputs, **attrs):
        self.y = f"y{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [self.y], name=self.y, **attrs))

    def array(self, values):
        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.asarray(values), name))
        return name

    def draw(self, kind, shape):
        return self.random.integers(KINDS[kind][1], KINDS[kind][2] + 1, shape)

    def dequantized(self, kind, columns, block=None, zeros=True, by_columns=False):
        """The name of DequantizeLinear's result, and its numbers."""
        k = self.want.shape[-1]
        groups = 1 if block is None else -(-k // block)
        codes = self.draw(kind, (k, columns))
        scale = (self.random.uniform(0.5, 1, (groups, columns)) / np.sqrt(k)
                 / (5 if kind.endswith("4") else 80)).astype(np.float32)
        zero = self.draw(kind, (groups, columns)) // 2
        zero *= zeros
        widened = np.repeat(scale.astype(np.float64), block or k, 0)[:k]
        numbers = (codes - np.repeat(zero, block or k, 0)[:k]) * widened
        parts, axis = [codes, scale, zero], 0 if block else 1
        if by_columns:
            parts, axis, numbers = [part.T for part in parts], 1 - axis, numbers.T
        if block is None:
            parts[1:] = [part.reshape(columns) for part in parts[1:]]
        inputs = [f"c{len(self.weights)}", self.array(parts[1])]
        self.weights.append(tensor(inputs[0], kind, parts[0]))
        if zeros:
            inputs.append(f"z{len(self.weights)}")
            self.weights.append(tensor(inputs[2], kind, parts[2]))
        data = self.y
        self.node("DequantizeLinear", inputs, axis=axis, **({"block_size": block} if block else {}))
        made, self.y = self.y, data
        return made, numbers

    def n_bits(self, bits, columns, block, zeros, bias=False):
        k = self.want.shape[-1]
        groups = -(-k // block)
        codes = self.random.integers(0, 1 << bits, (columns, groups * block))
        zero = (self.random.integers(0, 1 << bits, (columns, groups)) if zeros
                else np.full((columns, groups), 1 << bits - 1))
        scale = (self.random.uniform(0.5, 1, (columns, groups)) / np.sqrt(k)
                 / (80 if bits == 8 else 5)).astype(np.float32)
        rows = codes.reshape(columns * groups, block).astype(np.uint8)
        points = zero.astype(np.uint8)
        if bits == 4:
            rows = np.stack([packed(row) for row in rows])
            points = np.stack([packed(row) for row in zero])
        inputs = [self.y, self.array(rows.reshape(columns, groups, -1)), self.array(scale.ravel()),
                  self.array(points.ravel()) if zeros else ""]
        added = self.random.standard_normal(columns).astype(np.float32)
        if bias:
            inputs += ["", self.array(added)]
        while not inputs[-1]:
            inputs.pop()
        self.node("MatMulNBits", inputs, K=k, N=columns, bits=bits, block_size=block,
                  domain="com.microsoft")
        widened = np.repeat(scale.astype(np.float64), block, 1)
        numbers = (codes - np.repeat(zero, block, 1)) * widened
        self.want = self.want @ numbers[:, :k].T + (added if bias else 0)

    def matmul(self, *args, transposed=False, **options):
        data = self.y
        made, numbers = self.dequantized(*args, by_columns=transposed, **options)
        if transposed:
            self.node("Transpose", [made], perm=[1, 0])
            made, numbers = self.y, numbers.T
        self.node("MatMul", [data, made])
        self.want = self.want @ numbers

    def gemm(self, *args, **options):
        data = self.y
        made, numbers = self.dequantized(*args, by_columns=True, **options)
        bias = self.random.standard_normal(len(numbers)).astype(np.float32)
        self.node("Gemm", [data, made, self.array(bias)], transB=1, alpha=0.5)
        self.want = 0.5 * self.want @ numbers.T + bias

    def model(self):
        graph = helper.make_graph(
            self.nodes, "net",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, self.x.shape)],
            [helper.make_tensor_value_info(self.y, TensorProto.FLOAT, self.want.shape)],
            self.weights)
        return helper.make_model(graph, ir_version=10, opset_imports=[
            helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)])

    def check(self, folder):
        """The path of the .om whose results are close, and the same a second time."""
        path = convert(folder, "net", self.model())
        model = Model(path)
        try:
            model.run(self.x)
            once = model.read(0, self.want.shape)
            model.run(self.x)
            assert once.tobytes() == model.read(0, self.want.shape).tobytes()
            error = np.abs(once - self.want).max() / np.abs(self.want).max()
            assert error < CLOSE, error
        finally:
            model.close()
        return path


ROWS = [(1, 1), (2, 3), (3, 7)]  # by the kernel for few rows, and by the tiles


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("rows", ROWS, ids=str)
def test_dequantize_linear_in_front_of_matmul(tmp_path, kind, rows):
    net = Network(rows, 75)
    net.matmul(kind, 61)                       # a scale for each column
    net.matmul(kind, 50, block=16)             # blocks that do not divide K
    net.matmul(kind, 33, block=32, zeros=False)
    net.matmul(kind, 40, transposed=True)
    net.matmul(kind, 20, block=8, transposed=True)
    net.check(tmp_path)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("rows", [1, 8, 20])
def test_gemm_of_transposed_weights(tmp_path, kind, rows):
    net = Network((rows,), 65)
    net.gemm(kind, 96, block=32)
    net.gemm(kind, 31, zeros=False)
    net.check(tmp_path)


@pytest.mark.parametrize("bits", [4, 8])
@pytest.mark.parametrize("rows", ROWS, ids=str)
def test_matmul_n_bits(tmp_path, bits, rows):
    net = Network(rows, 75)  # odd, and the last block ends behind it
    net.n_bits(bits, 64, 16, True, bias=True)
    net.n_bits(bits, 45, 32, False)
    net.n_bits(bits, 17, 128, True)  # one block, longer than K
    net.check(tmp_path)


@pytest.mark.parametrize("kind,bits", [("int8", 8), ("uint4", 4), ("n_bits", 4)])
def test_weights_stay_packed_in_the_file_and_in_memory(tmp_path, kind, bits):
    net = Network((1, 1), 512)
    if kind == "n_bits":
        net.n_bits(4, 512, 32, True)
    else:
        net.matmul(kind, 512, block=32)
    path = net.check(tmp_path)
    floats = 512 * 512 * 4
    most = floats * bits / 32 + floats / 32 * 2 + 20000  # codes, scales and zero points
    assert os.path.getsize(path) < most
    _, weights, ret = acl.mdl.query_size(path)
    assert ret == 0
    assert weights < most


def test_short_floats(tmp_path):
    net = Network((1, 4), 64)
    net.n_bits(4, 48, 32, True)
    model = net.model()
    for value in (*model.graph.input, *model.graph.output):
        value.type.tensor_type.elem_type = TensorProto.FLOAT16
    for weight in model.graph.initializer:
        if weight.data_type == TensorProto.FLOAT:
            array = numpy_helper.to_array(weight).astype(np.float16)
            weight.CopyFrom(numpy_helper.from_array(array, weight.name))
    loaded = Model(convert(tmp_path, "net", model))
    loaded.run(net.x.astype(np.float16))
    y = loaded.read(0, net.want.shape, np.float16).astype(np.float64)
    loaded.close()
    assert np.abs(y - net.want).max() < 5e-3 * np.abs(net.want).max()


@pytest.mark.parametrize("attrs,said", [({"K": 0}, "K is 0"), ({"bits": 5}, "bits is 5"),
                                        ({"block_size": 24}, "power of two"),
                                        ({"N": 1 << 40}, "expected 1 to"),
                                        ({"N": 63}, "elements")], ids=str)
def test_attributes_that_do_not_fit_are_refused(tmp_path, attrs, said):
    net = Network((1, 1), 32)
    net.n_bits(4, 64, 32, False)
    model = net.model()
    for attribute in model.graph.node[0].attribute:
        if attribute.name in attrs:
            attribute.i = attrs[attribute.name]
    done = atc_over(tmp_path, "net", model)
    assert done.returncode != 0
    assert said in done.stderr, done.stderr


@pytest.mark.parametrize("kind,scale", [("int8", [5]), ("int4", [3, 64])], ids=str)
def test_scales_that_do_not_fit_are_refused(tmp_path, kind, scale):
    net = Network((1, 1), 64)
    net.matmul(kind, 64, block=32 if len(scale) > 1 else None)
    model = net.model()
    model.graph.initializer[0].CopyFrom(
        numpy_helper.from_array(np.ones(scale, np.float32), model.graph.initializer[0].name))
    done = atc_over(tmp_path, "net", model)
    assert done.returncode != 0
    assert "scale" in done.stderr, done.stderr
