# SPDX-License-Identifier: Apache-2.0
"""Writes frozen GraphDefs of TensorFlow without TensorFlow: nodes, attributes, functions."""
import struct

import numpy as np

TYPES = {np.dtype(n): i for n, i in (
    ("float32", 1), ("float64", 2), ("int32", 3), ("uint8", 4), ("int16", 5), ("int8", 6),
    ("complex64", 8), ("int64", 9), ("bool", 10), ("uint16", 17), ("float16", 19),
    ("uint32", 22), ("uint64", 23))}


def varint(value):
    value &= (1 << 64) - 1
    out = b""
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def number(field, value):
    return varint(field << 3) + varint(value)


def data(field, value):
    value = value.encode() if isinstance(value, str) else value
    return varint(field << 3 | 2) + varint(len(value)) + value


def shape(extents):
    """TensorShapeProto; None is an unknown rank."""
    if extents is None:
        return number(3, 1)
    return b"".join(data(2, number(1, extent)) for extent in extents)


def tensor(array):
    array = np.asarray(array)
    return (number(1, TYPES[array.dtype]) + data(2, shape(array.shape)) +
            data(4, np.ascontiguousarray(array).tobytes()))


class Type(int):
    """A DataType attribute."""


class Shape(tuple):
    """A shape attribute."""


class Function(str):
    """A function attribute."""


def attribute(value):
    if isinstance(value, Type):
        return number(6, int(value))
    if isinstance(value, Shape):
        return data(7, shape(list(value)))
    if value is None:
        return data(7, shape(None))
    if isinstance(value, Function):
        return data(10, data(1, str(value)))
    if isinstance(value, bool):
        return number(5, int(value))
    if isinstance(value, int):
        return number(3, value)
    if isinstance(value, float):
        return varint(4 << 3 | 5) + struct.pack("<f", value)
    if isinstance(value, str):
        return data(2, value)
    if isinstance(value, (list, tuple)):  # of numbers, types or shapes
        return data(1, b"".join(number(6, int(v)) if isinstance(v, Type) else
                                data(7, shape(list(v))) if isinstance(v, Shape) else number(3, v)
                                for v in value))
    if isinstance(value, np.ndarray):
        return data(8, tensor(value))
    raise TypeError(value)


def node(name, op, inputs=(), **attrs):
    out = data(1, name) + data(2, op)
    for one in inputs:
        out += data(3, one)
    for key, value in attrs.items():
        out += data(5, data(1, key) + data(2, attribute(value)))
    return out


def placeholder(name, extents, dtype="float32"):
    extents = None if extents is None else Shape(extents)
    return node(name, "Placeholder", dtype=Type(TYPES[np.dtype(dtype)]), shape=extents)


def const(name, array, inputs=()):
    array = np.asarray(array)
    return node(name, "Const", inputs, dtype=Type(TYPES[array.dtype]), value=array)


def function(name, arguments, nodes, results):
    """arguments: (name, numpy type); results: links such as "add:z:0"."""
    signature = data(1, name)
    for called, dtype in arguments:
        signature += data(2, data(1, called) + number(3, TYPES[np.dtype(dtype)]))
    for i in range(len(results)):
        signature += data(3, data(1, f"r{i}") + number(3, 1))
    out = data(1, signature) + b"".join(data(3, one) for one in nodes)
    for i, link in enumerate(results):
        out += data(4, data(1, f"r{i}") + data(2, link))
    return out


def graph(nodes, functions=()):
    out = b"".join(data(1, one) for one in nodes)
    if functions:
        out += data(2, b"".join(data(1, one) for one in functions))
    return out + data(4, number(1, 1987))
