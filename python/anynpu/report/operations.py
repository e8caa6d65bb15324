# SPDX-License-Identifier: Apache-2.0
"""Floating-point operations and bytes of operators, from the shapes that a profile has."""
from __future__ import annotations

import math

import numpy as np

from anynpu.report.figures import BUCKETS, grown

BYTES = {"FLOAT": 4, "FLOAT16": 2, "BF16": 2, "DOUBLE": 8, "INT8": 1, "UINT8": 1, "INT16": 2,
         "UINT16": 2, "INT32": 4, "UINT32": 4, "INT64": 8, "UINT64": 8, "BOOL": 1}
PRODUCTS = ("MatMul", "Gemm", "Linear", "FullyConnection", "InnerProduct")


def shapes_of(text):
    """[[1, 3, 32, 32], ...]; what is no shape is an empty list."""
    found = []
    for part in text.strip('"').split(";"):
        cells = [cell.strip() for cell in part.split(",") if cell.strip()]
        found.append([int(cell) for cell in cells] if all(c.isdigit() for c in cells) else [])
    return found


def size_of(op):
    """Bytes that an operator reads and writes at least."""
    total = 0
    for shapes, types, _ in (op.inputs, op.outputs):
        names = types.split(";")
        for shape, kind in zip(shapes_of(shapes), names):
            total += math.prod(shape) * BYTES.get(kind, 4) if shape else 0
    return total


def flops_of(op):
    """Multiplications and additions of products; one operation per element of all others."""
    inputs, outputs = shapes_of(op.inputs[0]), shapes_of(op.outputs[0])
    made = math.prod(outputs[0]) if outputs and outputs[0] else 0
    if not made or not inputs:
        return 0
    if "ConvTranspose" in op.type and len(inputs) > 1 and inputs[1]:
        return 2 * math.prod(inputs[0]) * math.prod(inputs[1][1:])
    if "Conv" in op.type and len(inputs) > 1 and inputs[1]:
        return 2 * made * math.prod(inputs[1][1:])
    if any(name in op.type for name in PRODUCTS) and inputs[0] and outputs[0]:
        rows = max(made // max(outputs[0][-1], 1), 1)
        return 2 * made * max(math.prod(inputs[0]) // rows, 1)
    return made


class Costs:
    """The costs of all operators of a profile, each description looked at once."""

    def __init__(self, work):
        self.work, self._known = work, {}
        ops = work.ops
        costs = [self._of(text) for text in ops["arg"].tolist()]
        self.flops = np.array([c[0] for c in costs], float)
        self.bytes = np.array([c[1] for c in costs], float)

    def _of(self, text):
        if text not in self._known:
            op = self.work.text(text)
            self._known[text] = (flops_of(op), size_of(op))
        return self._known[text]


def rate(source):
    """Floating-point operations per second in each of BUCKETS spans of time."""
    if source.work is None or not len(source.work.ops):
        return []
    ops, costs = source.work.ops, Costs(source.work)
    width = max((source.end - source.begin) / BUCKETS, 1)
    lasted = np.maximum(ops["duration"].astype(np.int64), 1)
    begins = ops["t"].astype(np.int64) - source.begin
    edges = np.arange(BUCKETS + 1) * width
    speed = costs.flops / lasted
    done = grown(begins, speed, edges) - grown(begins + lasted, speed, edges)
    return (np.maximum(np.diff(done), 0) / width * 1e9).tolist()


def roofline(source):
    """Per operator: operations a byte, operations a second, and its share of the time."""
    if source.work is None or not len(source.work.ops):
        return []
    ops, costs, table = source.work.ops, Costs(source.work), {}
    for name, text, duration, flops, moved in zip(
            ops["name"].tolist(), ops["arg"].tolist(), ops["duration"].tolist(),
            costs.flops.tolist(), costs.bytes.tolist()):
        row = table.setdefault((name, text), [0, 0.0, 0.0, 0.0])
        row[0] += 1
        row[1] += duration
        row[2] += flops
        row[3] += moved
    out = []
    for (name, text), (count, ns, flops, moved) in table.items():
        if ns > 0 and flops > 0 and moved > 0:
            out.append({"name": source.work.name(name), "type": source.work.text(text).type,
                        "count": count, "total": ns / 1000, "intensity": flops / moved,
                        "rate": flops / ns * 1e9, "bandwidth": moved / ns * 1e9})
    return sorted(out, key=lambda row: -row["total"])
