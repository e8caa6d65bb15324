# SPDX-License-Identifier: Apache-2.0
"""Small models of every kind, as ONNX and as .om."""
import os
import subprocess

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

FLOAT = TensorProto.FLOAT


def _model(nodes, inputs, outputs, weights=()):
    value = helper.make_tensor_value_info
    graph = helper.make_graph(
        nodes, "g", [value(*row) for row in inputs], [value(*row) for row in outputs],
        [numpy_helper.from_array(array, name) for name, array in weights])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 15)])


def net():
    """Conv, Relu, pool over the whole image, Gemm: any batch and any image size; two outputs."""
    rng = np.random.default_rng(3)
    node = helper.make_node
    return _model(
        [node("Conv", ["image", "w"], ["c"], name="conv", pads=[1] * 4),
         node("Relu", ["c"], ["r"], name="relu"),
         node("GlobalAveragePool", ["r"], ["g"], name="pool"),
         node("Flatten", ["g"], ["f"], name="flat"),
         node("Gemm", ["f", "fc"], ["logits"], name="fc", transB=1)],
        [("image", FLOAT, ["N", 3, "H", "W"])],
        [("logits", FLOAT, ["N", 5]), ("r", FLOAT, None)],
        [("w", rng.uniform(-0.5, 0.5, (4, 3, 3, 3)).astype(np.float32)),
         ("fc", rng.uniform(-0.5, 0.5, (5, 4)).astype(np.float32))])


def total():
    """Two inputs: a matrix, and a row that is added to it."""
    return _model([helper.make_node("Add", ["a", "b"], ["y"], name="add")],
                  [("a", FLOAT, ["M", "K"]), ("b", FLOAT, ["K"])], [("y", FLOAT, ["M", "K"])])


def step():
    """Two inputs and two outputs of one shape: what an iteration feeds back."""
    node = helper.make_node
    return _model([node("Add", ["a", "b"], ["sum"], name="add"),
                   node("Sub", ["a", "b"], ["difference"], name="sub")],
                  [("a", FLOAT, [4, 8]), ("b", FLOAT, [4, 8])],
                  [("sum", FLOAT, [4, 8]), ("difference", FLOAT, [4, 8])])


def echo(kind, shape):
    """Gives back its input: whatever bytes go in come out."""
    return _model([helper.make_node("Identity", ["x"], ["y"], name="same")],
                  [("x", kind, shape)], [("y", kind, shape)])


KINDS = {
    "fixed": (net, ["--input_shape=image:1,3,8,8"]),
    "batch": (net, ["--input_shape=image:-1,3,8,8", "--dynamic_batch_size=1,4,2"]),
    "image": (net, ["--input_shape=image:2,3,-1,-1", "--dynamic_image_size=8,8;16,12;4,6"]),
    "dims": (total, ["--input_shape=a:-1,-1;b:-1", "--input_format=ND",
                     "--dynamic_dims=2,3,3;5,4,4;1,7,7"]),
    "range": (net, ["--input_shape=image:1~8,3,4~40,-1"]),
    "step": (step, []),
    "four": (net, ["--input_shape=image:4,3,8,8"]),
    "scalar": (lambda: echo(FLOAT, [1]), []),
    "bytes": (lambda: echo(TensorProto.UINT8, [64]), []),
    "int64": (lambda: echo(TensorProto.INT64, [3]), []),
    "empty": (lambda: echo(FLOAT, [2, 0, 3]), []),
}


class Models:
    def __init__(self, folder):
        self.folder = str(folder)

    def onnx(self, name):
        return KINDS[name][0]()

    def __call__(self, name):
        path = os.path.join(self.folder, name + ".om")
        if not os.path.exists(path):
            self.compile(name, self.onnx(name), *KINDS[name][1])
        return path

    def compile(self, name, model, *options):
        stem = os.path.join(self.folder, name)
        onnx.save(model, stem + ".onnx")
        done = subprocess.run(["atc", f"--model={stem}.onnx", "--framework=5", f"--output={stem}",
                               "--soc_version=Ascend310P3", *options],
                              capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stdout + done.stderr
        os.chmod(stem + ".om", 0o640)
        return stem + ".om"

    def expect(self, name, **inputs):
        return ReferenceEvaluator(self.onnx(name)).run(None, inputs)


def image(*shape):
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(np.float32)


def assert_close(got, want):
    assert len(got) == len(want)
    for one, other in zip(got, want):
        assert one.shape == other.shape and one.dtype == other.dtype
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-6)
