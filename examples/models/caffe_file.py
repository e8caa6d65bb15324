# SPDX-License-Identifier: Apache-2.0
"""Writes Caffe nets: prototxt text and caffemodel bytes, by our own tiny
protobuf writer, so that no caffe package is needed."""
import struct

import numpy as np


def varint(value):
    out = bytearray()
    while True:
        low, value = value & 0x7F, value >> 7
        if not value:
            return bytes(out + bytes([low]))
        out.append(low | 0x80)


def field(number, payload):
    """A length-delimited field; text becomes UTF-8."""
    if isinstance(payload, str):
        payload = payload.encode()
    return varint(number << 3 | 2) + varint(len(payload)) + payload


def blob(array, old=False):
    """BlobProto. `old` writes num, channels, height and width instead of a shape."""
    array = np.asarray(array, np.float32)
    data = field(5, array.tobytes())
    if not old:
        return field(7, field(1, b"".join(varint(d) for d in array.shape))) + data
    dims = (1,) * (4 - array.ndim) + array.shape
    return b"".join(varint(i + 1 << 3) + varint(d) for i, d in enumerate(dims)) + data


def caffemodel(weights, name="net", old=False):
    """NetParameter with the blobs of each layer: {"conv1": [w, b], ...}."""
    out = [field(1, name)]
    for layer, arrays in weights.items():
        if old:
            body = field(4, layer) + b"".join(field(6, blob(a, True)) for a in arrays)
            out.append(field(2, body))
        else:
            body = field(1, layer) + field(2, "Any") + b"".join(field(7, blob(a)) for a in arrays)
            out.append(field(100, body))
    return b"".join(out)


def doubles(layer, array):
    """One layer whose blob holds double_data, unpacked."""
    array = np.asarray(array, np.float64)
    shape = field(7, field(1, b"".join(varint(d) for d in array.shape)))
    data = b"".join(varint(8 << 3 | 1) + struct.pack("<d", x) for x in array.ravel())
    return field(100, field(1, layer) + field(7, shape + data))


def layer(kind, name, bottoms, tops, text=""):
    """One `layer { ... }` of a prototxt."""
    ends = "".join(f' bottom: "{b}"' for b in bottoms) + "".join(f' top: "{t}"' for t in tops)
    return f'layer {{ name: "{name}" type: "{kind}"{ends} {text} }}\n'


def input_layer(name, shape):
    dims = " ".join(f"dim: {d}" for d in shape)
    return layer("Input", name, [], [name], f"input_param {{ shape {{ {dims} }} }}")
