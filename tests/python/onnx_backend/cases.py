# SPDX-License-Identifier: Apache-2.0
"""The cases of the onnx package's backend suite: models with inputs and expected outputs.

A case counts when AscendCL can describe its inputs and outputs: plain tensors of numbers. Those
with strings, sequences, optionals, UINT4, 2-bit integers or the FNUZ forms of 8-bit floats at the
border do not.

The package makes its node cases while its modules are imported, with numbers drawn from numpy's
generator. They are written to files once per version of the package and of this file, by a process
of their own with a fixed seed: so every run has the same numbers, and workers start quickly.

    python cases.py FOLDER         writes the node cases there
    python cases.py --link PATH    makes PATH a link to the folder of the node cases
"""
import functools
import glob
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass

import numpy as np
import onnx
from onnx import TensorProto, numpy_helper

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
KINDS = ("node", "simple", "pytorch-converted", "pytorch-operator")
SEED = 0

# aclDataType -> TensorProto.DataType: what AscendCL can describe.
ACL_TYPES = {
    0: TensorProto.FLOAT, 1: TensorProto.FLOAT16, 2: TensorProto.INT8, 3: TensorProto.INT32,
    4: TensorProto.UINT8, 6: TensorProto.INT16, 7: TensorProto.UINT16, 8: TensorProto.UINT32,
    9: TensorProto.INT64, 10: TensorProto.UINT64, 11: TensorProto.DOUBLE, 12: TensorProto.BOOL,
    16: TensorProto.COMPLEX64, 17: TensorProto.COMPLEX128, 27: TensorProto.BFLOAT16,
    29: TensorProto.INT4, 35: TensorProto.FLOAT8E5M2, 36: TensorProto.FLOAT8E4M3FN,
    37: TensorProto.FLOAT8E8M0, 38: TensorProto.FLOAT6E3M2, 39: TensorProto.FLOAT6E2M3,
    40: TensorProto.FLOAT4E2M1,
}
DESCRIBED = frozenset(ACL_TYPES.values())


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


@functools.cache
def all_cases():
    # Imported here: the loader of the node cases must not run in this process.
    from onnx.backend.test.loader import load_model_tests
    cases = [Case(c.name, kind, c.model_dir, c.rtol, c.atol)
             for kind in KINDS[1:] for c in load_model_tests(kind=kind) if c.model_dir]
    folder = node_folder()
    with open(os.path.join(folder, "cases.json"), encoding="utf-8") as file:
        cases += [Case(name, "node", os.path.join(folder, name), rtol, atol)
                  for name, rtol, atol in json.load(file)]
    return sorted(cases, key=lambda case: (KINDS.index(case.kind), case.name))


def node_folder():
    """The folder of the node cases, which is made when it is not there."""
    with open(__file__, "rb") as file:
        stamp = hashlib.sha256(file.read() + np.__version__.encode()).hexdigest()[:12]
    build = os.path.abspath(os.environ.get("ANYNPU_BUILD_DIR", os.path.join(ROOT, "build")))
    folder = os.path.join(build, f"onnx_cases_{onnx.__version__}_{stamp}")
    if not os.path.isdir(folder):
        fresh = tempfile.mkdtemp(dir=build, prefix="onnx_cases_")
        subprocess.run([sys.executable, os.path.abspath(__file__), fresh], check=True)
        try:
            os.rename(fresh, folder)
        except OSError:  # another process was first
            shutil.rmtree(fresh)
    return folder


def write_node_cases(folder):
    import warnings

    from onnx.backend.test.loader import load_model_tests
    warnings.simplefilter("ignore")  # numpy's, about the overflows that cases are made of
    np.random.seed(SEED)
    index = []
    for case in load_model_tests(kind="node"):
        data = os.path.join(folder, case.name, "test_data_set_0")
        os.makedirs(data)
        onnx.save(case.model, os.path.join(folder, case.name, "model.onnx"))
        index.append((case.name, case.rtol, case.atol))
        if any(value is None or isinstance(value, (list, tuple, dict))
               for values in case.data_sets[0] for value in values):
            continue  # sequences and optionals
        # Also of cases that are out of scope: tests/hostile makes constants of strings.
        for side, values in zip(("input", "output"), case.data_sets[0]):
            for i, value in enumerate(values):
                tensor = (value if isinstance(value, TensorProto)
                          else numpy_helper.from_array(np.asarray(value)))
                with open(os.path.join(data, f"{side}_{i}.pb"), "wb") as file:
                    file.write(tensor.SerializeToString())
    with open(os.path.join(folder, "cases.json"), "w", encoding="utf-8") as file:
        json.dump(index, file)


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
        if element not in DESCRIBED:
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
    """The elements as AscendCL lays them out, which is how raw data of ONNX lies."""
    if tensor.HasField("raw_data"):
        return tensor.raw_data
    return numpy_helper.from_array(numpy_helper.to_array(tensor)).raw_data


def from_bytes(raw, data_type, shape):
    """An array to compare: the inverse of to_bytes, wider where numpy lacks the type."""
    array = numpy_helper.to_array(TensorProto(data_type=data_type, dims=shape, raw_data=raw))
    return array if array.dtype.isbuiltin == 1 else array.astype(np.float32)


def tolerances(case, data_type):
    """rtol and atol, as the package's own runner has them: two units of bfloat16's last place."""
    rtol = max(case.rtol, 2**-6) if data_type == TensorProto.BFLOAT16 else case.rtol
    return {"rtol": rtol, "atol": case.atol}


def expected_array(tensor):
    return from_bytes(to_bytes(tensor), tensor.data_type, tuple(tensor.dims))


def load(case):
    return onnx.load(case.model)


def link_node_folder(path):
    fresh = f"{path}.{os.getpid()}"
    os.symlink(node_folder(), fresh)
    os.replace(fresh, path)


if __name__ == "__main__":
    if sys.argv[1] == "--link":
        link_node_folder(sys.argv[2])
    else:
        write_node_cases(sys.argv[1])
