# SPDX-License-Identifier: Apache-2.0
"""The cases of the onnx package's backend suite: models with inputs and expected outputs.

A case counts when AscendCL can describe its inputs and outputs: plain tensors of numbers. Those
with strings, sequences, optionals, UINT4 or the FNUZ forms of 8-bit floats at the border do not.
"""
import glob
import os
from dataclasses import dataclass

import numpy as np
import onnx
from onnx import TensorProto, numpy_helper
from onnx.backend.test.loader import load_model_tests

KINDS = ("node", "simple", "pytorch-converted", "pytorch-operator")

# TensorProto types that aclDataType has, with the type numpy shows their bytes as.
NUMPY = {
    TensorProto.FLOAT: np.float32, TensorProto.UINT8: np.uint8, TensorProto.INT8: np.int8,
    TensorProto.UINT16: np.uint16, TensorProto.INT16: np.int16, TensorProto.INT32: np.int32,
    TensorProto.INT64: np.int64, TensorProto.BOOL: np.bool_, TensorProto.FLOAT16: np.float16,
    TensorProto.DOUBLE: np.float64, TensorProto.UINT32: np.uint32, TensorProto.UINT64: np.uint64,
    TensorProto.COMPLEX64: np.complex64, TensorProto.COMPLEX128: np.complex128,
    TensorProto.BFLOAT16: np.uint16, TensorProto.INT4: np.uint8,
    TensorProto.FLOAT8E4M3FN: np.uint8, TensorProto.FLOAT8E5M2: np.uint8,
}
# Those that numpy lacks: their bits, as the lists of a TensorProto hold them.
BITS = (TensorProto.BFLOAT16, TensorProto.INT4, TensorProto.FLOAT8E4M3FN, TensorProto.FLOAT8E5M2)


@dataclass
class Case:
    name: str
    kind: str
    folder: str
    rtol: float
    atol: float

    @property
    def model(self):
        return os.path.join(self.folder, "model.onnx")


def all_cases():
    cases = [Case(c.name, kind, c.model_dir, c.rtol, c.atol)
             for kind in KINDS for c in load_model_tests(kind=kind) if c.model_dir]
    return sorted(cases, key=lambda case: (KINDS.index(case.kind), case.name))


def graph_inputs(graph):
    weights = {tensor.name for tensor in graph.initializer}
    return [value for value in graph.input if value.name not in weights]


def why_out_of_scope(model):
    """None, or what at the border of the model AscendCL has no description for."""
    for value in [*graph_inputs(model.graph), *model.graph.output]:
        kind = value.type.WhichOneof("value")
        if kind != "tensor_type":
            return f"'{value.name}' is a {kind.removesuffix('_type')}"
        element = value.type.tensor_type.elem_type
        if element not in NUMPY:
            return f"'{value.name}' has elements of type {TensorProto.DataType.Name(element)}"
    return None


def data_sets(case):
    """(inputs, outputs) of each data set, as TensorProtos in order."""
    for folder in sorted(glob.glob(os.path.join(case.folder, "test_data_set_*"))):
        parts = []
        for side in ("input", "output"):
            count = len(glob.glob(os.path.join(folder, side + "_*.pb")))
            tensors = []
            for i in range(count):
                tensor = TensorProto()
                with open(os.path.join(folder, f"{side}_{i}.pb"), "rb") as file:
                    tensor.ParseFromString(file.read())
                tensors.append(tensor)
            parts.append(tensors)
        yield parts


def to_bytes(tensor):
    """The elements as AscendCL lays them out."""
    if tensor.raw_data:
        return tensor.raw_data
    if tensor.data_type in BITS:
        return np.array(tensor.int32_data, NUMPY[tensor.data_type]).tobytes()
    return numpy_helper.to_array(tensor).tobytes()


def from_bytes(raw, data_type, shape):
    """An array to compare: the inverse of to_bytes, wider where numpy lacks the type."""
    count = int(np.prod(shape, dtype=np.int64))
    flat = np.frombuffer(raw, NUMPY[data_type])
    if data_type == TensorProto.BFLOAT16:
        flat = (flat.astype(np.uint32) << 16).view(np.float32)
    elif data_type == TensorProto.INT4:
        pairs = np.stack([flat & 15, flat >> 4], axis=-1).reshape(-1)[:count].astype(np.int8)
        flat = np.where(pairs > 7, pairs - 16, pairs)
    elif data_type == TensorProto.FLOAT8E4M3FN:
        flat = numpy_helper.float8e4m3_to_float32(flat, dims=flat.shape)
    elif data_type == TensorProto.FLOAT8E5M2:
        flat = numpy_helper.float8e5m2_to_float32(flat, dims=flat.shape)
    return flat.reshape(shape)


def expected_array(tensor):
    return from_bytes(to_bytes(tensor), tensor.data_type, tuple(tensor.dims))


def load(case):
    return onnx.load(case.model)
