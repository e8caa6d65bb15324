# SPDX-License-Identifier: Apache-2.0
"""Statistics of the weights in a .om file (docs/om_format.md): name -> a line of numbers."""
import os
import struct

from ..protowire import WireError, fields, message

HEAD, ROW, MAGIC = 64, 32, b"ANYNPUOM"
MOST_SECTIONS = 64
GRAPH, WEIGHTS, FILES = 2, 3, 4
VALUE = 2  # field of a graph
# AscendCL's numbers of data types; bfloat16 is widened by hand.
TYPES = {0: "f4", 1: "f2", 2: "i1", 3: "i4", 4: "u1", 6: "i2", 7: "u2", 8: "u4", 9: "i8",
         10: "u8", 11: "f8", 12: "?"}
BFLOAT16 = 27
MOST_ELEMENTS = 4 << 20  # of a larger tensor, evenly spread ones are taken


class Damaged(Exception):
    """A .om file whose parts do not fit; the text says which."""


def sections(data):
    """{kind: its bytes}; empty where the file is none of ours."""
    if len(data) < HEAD or bytes(data[:8]) != MAGIC:
        return {}
    count = struct.unpack_from("<I", data, 12)[0]
    if count > MOST_SECTIONS or HEAD + ROW * count > len(data):
        raise Damaged(f"{count} sections in a file of {len(data)} bytes, at most {MOST_SECTIONS}")
    found = {}
    for i in range(count):
        kind, _, offset, size = struct.unpack_from("<IIQQ", data, HEAD + ROW * i)
        if offset > len(data) or size > len(data) - offset:
            raise Damaged(f"section {i} has {size} bytes from {offset} on, the file {len(data)}")
        found[kind] = data[offset:offset + size]
    return found


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
    """{name of a constant: its statistics}; empty where the file is none of ours, Damaged where it
    does not hold what it says."""
    if not path.endswith(".om") or os.path.getsize(path) < HEAD:
        return {}
    import numpy
    data = memoryview(numpy.memmap(path, numpy.uint8, "r"))
    parts = sections(data)
    if GRAPH not in parts or not len(parts.get(WEIGHTS, b"")):
        return {}
    found, weights = {}, parts[WEIGHTS]
    try:
        for number, value in fields(parts[GRAPH]):
            if number != VALUE:
                continue
            entry = message(value, {1: bytes, 2: int, 6: int, 7: int})
            if 7 not in entry:
                continue
            name = bytes(entry.get(1, b"")).decode("utf-8", "replace")
            begin, size = entry.get(6, 0), entry[7]
            if begin > len(weights) or size > len(weights) - begin:
                raise Damaged(f"weight '{name}' has {size} bytes from {begin} on; there are "
                              f"{len(weights)}")
            found[name] = line_of(weights[begin:begin + size], entry.get(2, 0), numpy)
    except (WireError, TypeError) as error:
        raise Damaged(f"its graph: {error}") from None
    return found
