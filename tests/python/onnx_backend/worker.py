# SPDX-License-Identifier: Apache-2.0
"""Runs cases through the public path and reports one JSON line each.

    echo test_abs | python worker.py

Per case: the model file through atc's library (libanynpu, in process) to a .om file, then acl.mdl:
load, execute, unload. The name of a case is announced before it runs, so that a crash is known by
its case. A line is {"case":, "outcome": "start" | "passed" | "failed" | "out of scope", "reason":}.
"""
import tempfile

import case_suite
import cases
import numpy as np
from model_in_process import ONNX, Mismatch, ModelRunner

import acl

BF16 = 27


class Worker(ModelRunner):
    def run(self, case):
        model = cases.load(case)
        reason = cases.why_out_of_scope(model)
        if reason:
            return "out of scope", reason
        try:
            sets = list(cases.data_sets(case))
            self.compile(case.model, ONNX, open_shapes(model, sets[0][0]))
            model_id = self.load()
            try:
                for inputs, outputs in sets:
                    self.compare(case, self.execute(model_id, in_order(inputs)), outputs)
            finally:
                acl.mdl.unload(model_id)
        except Mismatch as failure:
            return "failed", str(failure)
        return "passed", ""

    def compare(self, case, outputs, expected):
        if len(outputs) != len(expected):
            raise Mismatch(f"{len(outputs)} outputs, expected {len(expected)}")
        for index, ((raw, acl_type, shape), tensor) in enumerate(zip(outputs, expected)):
            if acl_type == BF16 and tensor.data_type == cases.TensorProto.UINT16:
                tensor.data_type = cases.TensorProto.BFLOAT16  # the suite stores its bits so
            if cases.ACL_TYPES.get(acl_type) != tensor.data_type:
                raise Mismatch(f"output {index} has aclDataType {acl_type}, expected TensorProto "
                               f"type {tensor.data_type}")
            if shape != tuple(tensor.dims):
                raise Mismatch(f"output {index} is {shape}, expected {tuple(tensor.dims)}")
            try:
                np.testing.assert_allclose(cases.from_bytes(raw, tensor.data_type, shape),
                                           cases.expected_array(tensor),
                                           **cases.tolerances(case, tensor.data_type))
            except AssertionError as error:
                raise Mismatch(f"output {index}: " + " ".join(str(error).split())[:300]) from None


def open_shapes(model, tensors):
    """--input_shape for models whose inputs leave extents open, with the shapes of the data."""
    values = cases.graph_inputs(model.graph)
    fixed = all(v.type.tensor_type.HasField("shape") and
                all(d.HasField("dim_value") for d in v.type.tensor_type.shape.dim) for v in values)
    if fixed:
        return ""
    return ";".join(f"{v.name}:{','.join(str(d) for d in t.dims)}"
                    for v, t in zip(values, tensors))


def in_order(tensors):
    def feed(names):
        if len(names) != len(tensors):
            raise Mismatch(f"the model has {len(names)} inputs, the case {len(tensors)}")
        return [cases.to_bytes(tensor) for tensor in tensors]

    return feed


def main():
    known = {case.name: case for case in cases.all_cases()}
    with tempfile.TemporaryDirectory(prefix="anynpu-onnx-") as folder:
        worker = Worker(folder)
        case_suite.serve(lambda name: worker.run(known[name]))


if __name__ == "__main__":
    main()
