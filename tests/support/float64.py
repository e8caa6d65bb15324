# SPDX-License-Identifier: Apache-2.0
"""A model run in float64 by numpy: the onnx package's reference, with the window operators by
matrix products, since its own take minutes."""
import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from onnx import AttributeProto, ModelProto, TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator
from onnx.reference.op_run import OpRun

FLOAT, DOUBLE = TensorProto.FLOAT, TensorProto.DOUBLE


def windows(x, kernel, strides, pads, value):
    """(n, c, oh, ow, kh, kw) of a picture with its pads."""
    top, left, bottom, right = pads or [0] * 4
    x = np.pad(x, ((0, 0), (0, 0), (top, bottom), (left, right)), constant_values=value)
    views = sliding_window_view(x, tuple(kernel), axis=(2, 3))
    return views[:, :, ::(strides or [1, 1])[0], ::(strides or [1, 1])[1]]


class Conv(OpRun):
    op_domain = ""

    def _run(self, x, w, b=None, auto_pad=None, dilations=None, group=None, kernel_shape=None,
             pads=None, strides=None):
        group = group or 1
        views = windows(x, w.shape[2:], strides, pads, 0)
        if group == w.shape[0] and w.shape[1] == 1:
            y = np.einsum("nchwij,cij->nchw", views, w[:, 0])
            return (y if b is None else y + b[None, :, None, None],)
        parts = []
        for i in range(group):
            own = slice(i * w.shape[1], (i + 1) * w.shape[1])
            rows = slice(i * w.shape[0] // group, (i + 1) * w.shape[0] // group)
            parts.append(np.tensordot(views[:, own], w[rows], ([1, 4, 5], [1, 2, 3])))
        y = np.concatenate(parts, -1).transpose(0, 3, 1, 2)
        return (y if b is None else y + b[None, :, None, None],)


class MaxPool(OpRun):
    op_domain = ""

    def _run(self, x, auto_pad=None, ceil_mode=None, dilations=None, kernel_shape=None, pads=None,
             storage_order=None, strides=None):
        return (windows(x, kernel_shape, strides, pads, -np.inf).max(axis=(4, 5)),)


class ConvTranspose(OpRun):
    """Where the windows touch and do not overlap."""

    op_domain = ""

    def _run(self, x, w, b=None, auto_pad=None, dilations=None, group=None, kernel_shape=None,
             output_padding=None, output_shape=None, pads=None, strides=None):
        assert list(strides) == list(w.shape[2:])
        y = np.tensordot(x, w, ([1], [0])).transpose(0, 3, 1, 4, 2, 5)
        n, c, h, kh, wide, kw = y.shape
        return (y.reshape(n, c, h * kh, wide * kw) + b[None, :, None, None],)


class BatchNormalization(OpRun):
    """Inference, whatever the opset."""

    op_domain = ""

    def _run(self, x, scale, bias, mean, var, epsilon=None, momentum=None, training_mode=None,
             spatial=None):
        shape = [1, -1] + [1] * (x.ndim - 2)
        factor = scale / np.sqrt(var + epsilon)
        return ((x - mean.reshape(shape)) * factor.reshape(shape) + bias.reshape(shape),)


class Resize(OpRun):
    """Twice the size, nearest."""

    op_domain = ""

    def _run(self, x, roi=None, scales=None, sizes=None, **attributes):
        assert list(scales) == [1, 1, 2, 2]
        return (x.repeat(2, axis=2).repeat(2, axis=3),)


OPS = [Conv, MaxPool, ConvTranspose, BatchNormalization, Resize]


def widen_type(proto):
    if proto.tensor_type.elem_type == FLOAT:
        proto.tensor_type.elem_type = DOUBLE


def widen(graph):
    resized = {node.input[2] for node in graph.node if node.op_type == "Resize"}
    for weight in graph.initializer:
        if weight.data_type == FLOAT and weight.name not in resized:
            weight.CopyFrom(numpy_helper.from_array(
                numpy_helper.to_array(weight).astype(np.float64), weight.name))
    for value in [*graph.input, *graph.output, *graph.value_info]:
        widen_type(value.type)
    for node in graph.node:
        for attr in node.attribute:
            if node.op_type == "Cast" and attr.name == "to" and attr.i == FLOAT:
                attr.i = DOUBLE
            if attr.type == AttributeProto.GRAPH:
                widen(attr.g)


def run_loop(model, feeds):
    """A graph that is one Loop without a condition: the reference joins its results another way."""
    node = model.graph.node[0]
    body = helper.make_model(node.attribute[0].g, opset_imports=model.opset_import)
    outer = {weight.name: numpy_helper.to_array(weight) for weight in model.graph.initializer}
    body.graph.initializer.extend(model.graph.initializer)
    step = ReferenceEvaluator(body, new_ops=OPS)
    names = [value.name for value in body.graph.input]
    carried = [feeds[name] if name in feeds else outer[name] for name in node.input[2:]]
    scans = []
    for i in range(int(feeds[node.input[0]])):
        results = step.run(None, dict(zip(names, [np.int64(i), np.bool_(True), *carried])))
        carried = results[1:1 + len(carried)]
        scans.append(results[1 + len(carried):])
    made = dict(zip(node.output, [*carried, *(np.stack(scan) for scan in zip(*scans))]))
    return [made[value.name] for value in model.graph.output]


def run(model, feeds):
    wide = ModelProto()
    wide.CopyFrom(model)
    widen(wide.graph)
    feeds = {name: array.astype(np.float64) if array.dtype == np.float32 else array
             for name, array in feeds.items()}
    if wide.graph.node[0].op_type == "Loop":
        return run_loop(wide, feeds)
    return ReferenceEvaluator(wide, new_ops=OPS).run(None, feeds)
