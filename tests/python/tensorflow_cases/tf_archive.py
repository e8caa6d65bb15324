# SPDX-License-Identifier: Apache-2.0
"""Recorded cases of TensorFlow: graphs with their inputs and the outputs that TensorFlow gave.

One file for each family of operators, tests/data/tensorflow/FAMILY.tar.xz, with three members:
`cases.json` (a list of cases), `graphs` (the GraphDefs one after the other) and `arrays` (the
elements of inputs and outputs). A case says where in the last two its parts lie. No TensorFlow is
needed to read it. tests/frameworks/tensorflow/record.py writes it.
"""
import functools
import glob
import io
import json
import lzma
import os
import tarfile
from dataclasses import asdict, dataclass, field

import ml_dtypes
import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
FOLDER = os.path.join(ROOT, "tests", "data", "tensorflow")

# Elements that AscendCL can describe, by aclDataType.
ACL_TYPES = {0: "float32", 1: "float16", 2: "int8", 3: "int32", 4: "uint8", 6: "int16", 7: "uint16",
             8: "uint32", 9: "int64", 10: "uint64", 11: "float64", 12: "bool", 16: "complex64",
             17: "complex128", 27: "bfloat16", 35: "float8_e5m2", 36: "float8_e4m3fn"}
# rtol, and atol as a part of the largest expected number.
TOLERANCES = {"float32": (1e-4, 1e-6), "float64": (1e-6, 1e-9), "float16": (4e-3, 1e-3),
              "bfloat16": (2**-6, 2**-8), "complex64": (1e-4, 1e-6), "complex128": (1e-6, 1e-9),
              "float8_e5m2": (0.25, 0), "float8_e4m3fn": (0.125, 0)}


@dataclass
class Case:
    name: str  # operator.label
    ops: list  # the operators that it tries
    graph: bytes = b""  # GraphDef
    inputs: dict = field(default_factory=dict)  # {name of the placeholder: array}
    outputs: dict = field(default_factory=dict)  # {"node:0": array}
    is_open: bool = False  # shapes of inputs come from --input_shape
    rtol: float = 0  # instead of TOLERANCES
    family: str = ""
    leaves: bool = False  # atc is not told the outputs: it takes the leaves of the graph
    tf2onnx: str = ""  # empty: tf2onnx + onnxruntime pass; otherwise why they do not

    @property
    def out_nodes(self):
        return "" if self.leaves else ";".join(self.outputs)

    @property
    def input_shape(self):
        """--input_shape, for graphs that leave shapes open."""
        if not self.is_open:
            return ""
        return ";".join(f"{name}:{','.join(map(str, array.shape))}"
                        for name, array in self.inputs.items())


def dtype_of(name):
    return np.dtype(getattr(ml_dtypes, name, None) or name)


def write(family, cases, folder=FOLDER):
    index, graphs, arrays = [], bytearray(), bytearray()

    def place(array):
        raw = np.asarray(array).tobytes()
        at = arrays.find(raw) if len(raw) > 8 else -1  # equal inputs are kept once
        if at < 0:
            at = len(arrays)
            arrays.extend(raw)
        return [array.dtype.name, list(array.shape), at]

    for case in cases:
        row = asdict(case)
        row["graph"] = [len(graphs), len(case.graph)]
        graphs += case.graph
        for side in ("inputs", "outputs"):
            row[side] = {name: place(array) for name, array in getattr(case, side).items()}
        del row["family"]
        index.append({key: value for key, value in row.items() if value})
    text = "[\n" + ",\n".join(json.dumps(row, separators=(",", ":")) for row in index) + "\n]\n"
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as tar:
        for name, raw in (("cases.json", text.encode()), ("graphs", graphs), ("arrays", arrays)):
            info = tarfile.TarInfo(name)
            info.size = len(raw)
            tar.addfile(info, io.BytesIO(raw))
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, family + ".tar.xz"), "wb") as file:
        file.write(lzma.compress(packed.getvalue(), preset=9 | lzma.PRESET_EXTREME))


def read(path):
    with tarfile.open(path, mode="r:xz") as tar:
        text, graphs, arrays = (tar.extractfile(name).read()
                                for name in ("cases.json", "graphs", "arrays"))
    family = os.path.basename(path).removesuffix(".tar.xz")

    def take(name, shape, at):
        count = int(np.prod(shape, dtype=np.int64))
        return np.frombuffer(arrays, dtype_of(name), count, at).reshape(shape)

    for row in json.loads(text):
        begin, size = row["graph"]
        row["graph"] = graphs[begin:begin + size]
        for side in ("inputs", "outputs"):
            row[side] = {name: take(*at) for name, at in row.get(side, {}).items()}
        yield Case(family=family, **row)


@functools.cache
def all_cases():
    return [case for path in sorted(glob.glob(os.path.join(FOLDER, "*.tar.xz")))
            for case in read(path)]


def is_of_ml_dtypes(array):
    return array.dtype.name in ("bfloat16", "float8_e5m2", "float8_e4m3fn")


def comparable(array):
    array = np.asarray(array)
    return array.astype(np.float32) if is_of_ml_dtypes(array) else array


def difference(got, want, rtol=0):
    """What is wrong with an array; empty when it is the expected one within the tolerance."""
    got, want = np.asarray(got), np.asarray(want)
    if got.dtype.name != want.dtype.name:
        return f"elements of {got.dtype.name}, expected {want.dtype.name}"
    if got.shape != want.shape:
        return f"shape {got.shape}, expected {want.shape}"
    relative, absolute = TOLERANCES.get(want.dtype.name, (0, 0))
    got, want = comparable(got), comparable(want)
    finite = np.abs(want[np.isfinite(want)]) if want.dtype.kind in "fc" else np.zeros(0)
    largest = float(finite.max()) if finite.size else 0.0
    try:
        np.testing.assert_allclose(got, want, rtol=rtol or relative,
                                   atol=max(absolute, rtol / 10) * largest)
    except AssertionError as error:
        return " ".join(str(error).split())[:300]
    return ""
