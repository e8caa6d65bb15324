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
    if "Attention" in op.type and len(inputs) > 1 and len(inputs[0]) == len(inputs[1]) == 4:
        return 4 * math.prod(inputs[0]) * inputs[1][2]
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


def least_ns(op, peaks):
    """How long a device with these measured peaks takes for an operator at least, for its
    arithmetic or for its bytes; None where they are not known."""
    short = op.inputs[1].split(";")[0] in ("FLOAT16", "BF16")
    flops, moved = peaks.get("flops_16" if short else "flops_32"), peaks.get("bytes_per_s")
    return 1e9 * max(flops_of(op) / flops, size_of(op) / moved) if flops and moved else None


def add_shares(source, rows):
    """Adds to rows of operators what part of the device's measured peaks they reach, in percent."""
    if source.work is None or not source.devices:
        return
    work, table = source.work, {}
    devices = work.tasks["d_first"][work.op_owner].tolist()
    known = {}
    for name, text, device, duration in zip(work.ops["name"].tolist(), work.ops["arg"].tolist(),
                                            devices, work.ops["duration"].tolist()):
        if (text, device) not in known:
            known[text, device] = least_ns(work.text(text), source.devices.get(device, {}))
        least = known[text, device]
        if least is not None:
            sums = table.setdefault((work.name(name), work.text(text).type), [0.0, 0.0])
            sums[0] += least
            sums[1] += duration
    for row in rows:
        least, lasted = table.get((row["name"], row["type"]), (0.0, 0.0))
        row["peak"] = 100 * least / lasted if lasted > 0 else None


def device_peaks(source):
    """The peaks of the first device that measured its own, as peaks.peaks() gives those of the
    machine; None where none did."""
    for told in source.devices.values():
        if told.get("flops_16") and told.get("bytes_per_s"):
            return {"flops": told["flops_16"], "bandwidth": told["bytes_per_s"],
                    "machine": told.get("description", ""), "how": "on the device",
                    "kind": "float16"}
    return None
