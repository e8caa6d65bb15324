# SPDX-License-Identifier: Apache-2.0
"""Writes model files of the vendor: .air (a ModelDef in protobuf) and .om (a header, a table of
parts, the parts). Field numbers are those of src/import/ge/fields.def, bytes those of
docs/om_format.md."""
import struct

import numpy as np

# numpy type -> number in the file's DataType
TYPES = {"float32": 1, "float16": 2, "int8": 3, "uint8": 4, "int16": 5, "uint16": 6, "int32": 7,
         "int64": 8, "uint32": 9, "uint64": 10, "bool": 11, "float64": 12}


def varint(value):
    value &= (1 << 64) - 1
    out = b""
    while value > 0x7F:
        out += bytes([value & 0x7F | 0x80])
        value >>= 7
    return out + bytes([value])


def field(number, value):
    if isinstance(value, bool):
        return varint(number << 3) + varint(int(value))
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    if isinstance(value, float):
        return varint(number << 3 | 5) + struct.pack("<f", value)
    if isinstance(value, str):
        value = value.encode()
    return varint(number << 3 | 2) + varint(len(value)) + value


def attr_value(value):
    """AttrDef"""
    if isinstance(value, bool):
        return field(5, value)
    if isinstance(value, int):
        return field(3, value)
    if isinstance(value, float):
        return field(4, value)
    if isinstance(value, (str, bytes)):
        return field(2, value)
    if isinstance(value, Tensor):
        return field(12, value.message())
    first = value[0] if value else 0
    if isinstance(first, str):
        return field(1, b"".join(field(2, v) for v in value) + field(20, 1))
    if isinstance(first, float):
        return field(1, b"".join(field(4, v) for v in value) + field(20, 3))
    if isinstance(first, bool):
        return field(1, b"".join(field(5, v) for v in value) + field(20, 4))
    if isinstance(first, (list, tuple)):
        lists = (b"".join(field(1, v) for v in one) for one in value)
        return field(14, b"".join(field(1, one) for one in lists))
    return field(1, field(3, b"".join(varint(v) for v in value)) + field(20, 2))


def attr(number, key, value):
    """An entry of a map from names to AttrDef."""
    return field(number, field(1, key) + field(2, attr_value(value)))


def desc(dtype, shape, layout="ND", name="", origin=None, **numbers):
    """TensorDescriptor; `origin` is (shape, format) before the chip's format."""
    out = field(1, name) + field(2, TYPES[np.dtype(dtype).name])
    out += field(3, b"".join(field(1, extent) for extent in shape)) + field(4, layout)
    if origin:
        out += attr(5, "origin_shape", list(origin[0])) + attr(5, "origin_format", origin[1])
    for key, number in (("size", 10), ("weight_size", 11), ("data_offset", 18)):
        if key in numbers:
            out += field(number, numbers[key])
    return out


class Tensor:
    """TensorDef: with its data, or with a place in the part of weights."""

    def __init__(self, array, layout="ND", origin=None, place=None, shape=None):
        self.array, self.layout, self.origin, self.place = array, layout, origin, place
        self.shape = array.shape if shape is None else shape

    def message(self):
        more = {}
        if self.place is not None:
            more = {"data_offset": self.place, "weight_size": self.array.nbytes}
        out = field(1, desc(self.array.dtype, self.shape, self.layout, origin=self.origin, **more))
        return out if self.place is not None else out + field(2, self.array.tobytes())


class Graph:
    """Operators in the order they are added; inputs are "name:index"."""

    def __init__(self, name="graph"):
        self.name, self.ops, self.count = name, b"", 0

    def op(self, kind, name, inputs=(), attrs=None, ins=(), outs=(), subgraphs=()):
        out = field(1, name) + field(2, kind)
        out += b"".join(field(5, source) for source in inputs)
        out += b"".join(attr(10, key, value) for key, value in (attrs or {}).items())
        out += b"".join(field(33, one) for one in ins) + b"".join(field(34, one) for one in outs)
        out += b"".join(field(35, one) for one in subgraphs)
        self.ops += field(6, out)
        self.count += 1
        return f"{name}:0"

    def data(self, name, dtype, shape, layout="ND", index=0, origin=None):
        one = desc(dtype, shape, layout, origin=origin)
        return self.op("Data", name, attrs={"index": index}, ins=[one], outs=[one])

    def const(self, name, array, layout="ND", origin=None, place=None, shape=None):
        tensor = Tensor(array, layout, origin, place, shape)
        return self.op("Const", name, attrs={"value": tensor},
                       outs=[desc(array.dtype, tensor.shape, layout, origin=origin)])

    def output(self, *sources, ins=()):
        return self.op("NetOutput", "Node_Output", sources, ins=ins)

    def message(self):
        return field(1, self.name) + self.ops


def model_def(graphs, name="model", attrs=None):
    if isinstance(graphs, Graph):
        graphs = [graphs]
    out = field(1, name) + field(2, 1) + b"".join(field(7, g.message()) for g in graphs)
    return out + b"".join(attr(11, key, value) for key, value in (attrs or {}).items())


def om_file(parts, name="model", platform="8.0.RC1", user="", encrypted=0, models=1, dynamic=0):
    """`parts` is a list of (type, bytes)."""
    header = bytearray(256)
    struct.pack_into("<4sII", header, 0, b"IMOD", 256, 0x20000000)
    struct.pack_into("<BBBB32s", header, 80, encrypted, 0, 0, 0, name.encode())
    struct.pack_into("<I32sII20s", header, 116, 0, user.encode(), 1, models, platform.encode())
    table, offset = struct.pack("<II", len(parts), 0), 0
    for kind, content in parts:
        table += struct.pack("<IIQQ", kind, 0, offset, len(content))
        offset += len(content)
    struct.pack_into("<QBB", header, 184, len(table) + offset, 0, dynamic)
    return bytes(header) + table + b"".join(content for _, content in parts)


def nc1hwc0(array):
    """NCHW -> NC1HWC0 with blocks of 16 channels."""
    n, c, h, w = array.shape
    c1 = (c + 15) // 16
    out = np.zeros((n, c1 * 16, h, w), array.dtype)
    out[:, :c] = array
    return np.ascontiguousarray(out.reshape(n, c1, 16, h, w).transpose(0, 1, 3, 4, 2))


def fractal_z(array):
    """Filters NCHW -> FRACTAL_Z with blocks of 16 x 16."""
    n, c, h, w = array.shape
    n1, c1 = (n + 15) // 16, (c + 15) // 16
    out = np.zeros((n1 * 16, c1 * 16, h, w), array.dtype)
    out[:n, :c] = array
    out = out.reshape(n1, 16, c1, 16, h, w).transpose(2, 4, 5, 0, 1, 3)
    return np.ascontiguousarray(out).reshape(c1 * h * w, n1, 16, 16)


def fractal_nz(array):
    """A matrix -> FRACTAL_NZ with blocks of 16 x 16."""
    rows, columns = array.shape
    r1, c1 = (rows + 15) // 16, (columns + 15) // 16
    out = np.zeros((r1 * 16, c1 * 16), array.dtype)
    out[:rows, :columns] = array
    return np.ascontiguousarray(out.reshape(r1, 16, c1, 16).transpose(2, 0, 1, 3))
