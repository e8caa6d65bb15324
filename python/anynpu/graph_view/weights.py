# SPDX-License-Identifier: Apache-2.0
"""Statistics of the weights in a .om file (docs/om_format.md): name -> a line of numbers."""
import os
import struct

HEAD, ROW, MAGIC = 64, 32, b"ANYNPUOM"
GRAPH, WEIGHTS, FILES = 2, 3, 4
VALUE = 2  # field of a graph
# AscendCL's numbers of data types; bfloat16 is widened by hand.
TYPES = {0: "f4", 1: "f2", 2: "i1", 3: "i4", 4: "u1", 6: "i2", 7: "u2", 8: "u4", 9: "i8",
         10: "u8", 11: "f8", 12: "?"}
BFLOAT16 = 27
MOST_ELEMENTS = 4 << 20  # of a larger tensor, evenly spread ones are taken


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
        shift += 7


def fields(data):
    """(number, value) of a protobuf message: ints, and bytes."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        kind = key & 7
        if kind == 0:
            value, at = varint(data, at)
        elif kind == 2:
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
        else:
            size = 8 if kind == 1 else 4
            value, at = data[at:at + size], at + size
        yield key >> 3, value


def sections(data):
    if len(data) < HEAD or bytes(data[:8]) != MAGIC:
        return {}
    count = struct.unpack_from("<I", data, 12)[0]
    rows = [struct.unpack_from("<IIQQ", data, HEAD + ROW * i) for i in range(min(count, 64))]
    return {kind: data[offset:offset + size] for kind, _, offset, size in rows}


def numbers_of(raw, kind, numpy):
    """The elements as doubles, at most MOST_ELEMENTS of them; None for other types."""
    if kind == BFLOAT16:
        values = numpy.frombuffer(raw[:len(raw) // 2 * 2], "<u2").astype("<u4") << 16
        values = values.view("<f4")
    elif kind in TYPES:
        one = numpy.dtype(TYPES[kind])
        values = numpy.frombuffer(raw[:len(raw) // one.itemsize * one.itemsize], one)
    else:
        return None
    step = -(-len(values) // MOST_ELEMENTS)
    return values[::max(step, 1)].astype(float)


def line_of(raw, kind, numpy):
    values = numbers_of(raw, kind, numpy)
    if values is None or not len(values):
        return ""
    finite = values[numpy.isfinite(values)]
    if not len(finite):
        return "no finite number"
    zeros = 100 * float((values == 0).mean())
    odd = len(values) - len(finite)
    return (f"min {finite.min():.5g}  max {finite.max():.5g}  mean {finite.mean():.5g}  "
            f"std {finite.std():.5g}  zeros {zeros:.1f} %" + (f"  not finite {odd}" if odd else ""))


def statistics(path):
    """{name of a constant: its statistics}; empty where the file is none of ours."""
    if not path.endswith(".om") or os.path.getsize(path) < HEAD:
        return {}
    import numpy
    data = memoryview(numpy.memmap(path, numpy.uint8, "r"))
    parts = sections(data)
    if GRAPH not in parts or not len(parts.get(WEIGHTS, b"")):
        return {}
    found = {}
    for number, value in fields(parts[GRAPH]):
        if number != VALUE:
            continue
        entry = dict(fields(value))
        if 7 in entry:
            begin = entry.get(6, 0)
            name = bytes(entry.get(1, b"")).decode("utf-8", "replace")
            found[name] = line_of(parts[WEIGHTS][begin:begin + entry[7]], entry.get(2, 0), numpy)
    return found
