# SPDX-License-Identifier: Apache-2.0
"""Building networks as ONNX with seeded weights, for the make_*.py scripts beside it.

The shape of each network is the published one; the weights are drawn, so the answers mean nothing
and the arithmetic is the point.
"""

import argparse

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

TYPES = {"float": TensorProto.FLOAT, "int64": TensorProto.INT64, "bool": TensorProto.BOOL}


class Builder:
    """Collects nodes and weights; every layer method returns the name of its output."""

    def __init__(self, seed):
        self.random = np.random.default_rng(seed)
        self.nodes = []
        self.weights = []
        self.constants = {}

    def weight(self, name, array):
        self.weights.append(numpy_helper.from_array(array.astype(np.float32), name))
        return name

    def constant(self, value, dtype=np.float32):
        """A small constant, once for each value."""
        array = np.asarray(value, dtype)
        key = (array.dtype.str, array.shape, array.tobytes())
        if key not in self.constants:
            name = f"constant.{len(self.constants)}"
            self.weights.append(numpy_helper.from_array(array, name))
            self.constants[key] = name
        return self.constants[key]

    def ints(self, *values):
        return self.constant(values, np.int64)

    def node(self, op, name, inputs, **attrs):
        self.nodes.append(helper.make_node(op, inputs, [name], name=name, **attrs))
        return name

    def normal(self, *shape, scale=1.0):
        return self.random.standard_normal(shape, dtype=np.float32) * np.float32(scale)

    def conv(self, name, x, c_in, c_out, kernel, stride=1, group=1, bias=False):
        scale = np.sqrt(2.0 / (c_in // group * kernel * kernel))
        w = self.random.standard_normal((c_out, c_in // group, kernel, kernel)) * scale
        inputs = [x, self.weight(name + ".weight", w)]
        if bias:
            inputs.append(self.weight(name + ".bias", self.random.uniform(-0.1, 0.1, c_out)))
        pad = kernel // 2
        more = {"group": group} if group > 1 else {}
        return self.node("Conv", name, inputs, kernel_shape=[kernel] * 2, strides=[stride] * 2,
                         pads=[pad] * 4, **more)

    def batch_norm(self, name, x, channels):
        draw = self.random.uniform
        parts = {"scale": draw(0.5, 1.0, channels), "bias": draw(-0.1, 0.1, channels),
                 "mean": draw(-0.1, 0.1, channels), "var": draw(0.5, 1.5, channels)}
        names = [self.weight(f"{name}.{key}", value) for key, value in parts.items()]
        return self.node("BatchNormalization", name, [x, *names], epsilon=1e-5)

    def linear(self, name, x, c_in, c_out, scale=None):
        """x * W + b as frameworks export it: a MatMul and an Add."""
        scale = 1 / np.sqrt(c_in) if scale is None else scale
        y = self.node("MatMul", name + ".matmul",
                      [x, self.weight(name + ".weight", self.normal(c_in, c_out, scale=scale))])
        bias = self.weight(name + ".bias", self.random.uniform(-0.1, 0.1, c_out))
        return self.node("Add", name, [y, bias])

    def layer_norm(self, name, x, width, epsilon=1e-12):
        """Layer normalisation in the operators that exist since opset 13."""
        mean = self.node("ReduceMean", name + ".mean", [x], axes=[-1])
        centred = self.node("Sub", name + ".sub", [x, mean])
        square = self.node("Pow", name + ".pow", [centred, self.constant(2.0)])
        variance = self.node("ReduceMean", name + ".variance", [square], axes=[-1])
        shifted = self.node("Add", name + ".epsilon", [variance, self.constant(epsilon)])
        root = self.node("Sqrt", name + ".sqrt", [shifted])
        normal = self.node("Div", name + ".div", [centred, root])
        scale = self.weight(name + ".scale", self.random.uniform(0.8, 1.2, width))
        scaled = self.node("Mul", name + ".mul", [normal, scale])
        bias = self.weight(name + ".bias", self.random.uniform(-0.1, 0.1, width))
        return self.node("Add", name, [scaled, bias])

    def gelu(self, name, x):
        """x / 2 * (1 + erf(x / sqrt 2)) in the operators that exist since opset 13."""
        y = self.node("Div", name + ".div", [x, self.constant(np.sqrt(2.0))])
        y = self.node("Erf", name + ".erf", [y])
        y = self.node("Add", name + ".add", [y, self.constant(1.0)])
        y = self.node("Mul", name + ".mul", [x, y])
        return self.node("Mul", name, [y, self.constant(0.5)])

    def model(self, name, inputs, outputs, opset=13):
        """inputs and outputs: {name: (type, shape)}."""

        def infos(tensors):
            return [helper.make_tensor_value_info(key, TYPES[kind], shape)
                    for key, (kind, shape) in tensors.items()]

        graph = helper.make_graph(self.nodes, name, infos(inputs), infos(outputs), self.weights)
        model = helper.make_model(graph, producer_name="anynpu-examples",
                                  opset_imports=[helper.make_opsetid("", opset)])
        model.ir_version = 8
        return model


def save_from_command_line(make, description):
    """The main of a make_*.py: OUTPUT --batch N --seed N."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("output", help="the .onnx file to write")
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    onnx.save(make(batch=args.batch, seed=args.seed), args.output)
