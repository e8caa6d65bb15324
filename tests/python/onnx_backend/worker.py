# SPDX-License-Identifier: Apache-2.0
"""Runs cases through the public path and reports one JSON line each.

    echo test_abs | python worker.py

Per case: the model file through atc's library (libanynpu, in process) to a .om file, then acl.mdl:
load, execute, unload. The name of a case is announced before it runs, so that a crash is known by
its case. A line is {"case":, "outcome": "start" | "passed" | "failed" | "out of scope", "reason":}.
"""
import ctypes
import json
import os
import sys
import tempfile

import cases
import numpy as np

import acl

BUILD = os.environ.get("ANYNPU_BUILD_DIR", "build")
SOC = b"Ascend310P3"
BF16 = 27
ROOM = 1 << 22  # for outputs whose size the model leaves open
HUGE_FIRST, HOST_TO_DEVICE, DEVICE_TO_HOST = 0, 1, 2


class Mismatch(Exception):
    """The case failed; the text is the reason."""


def check(ret, what):
    if ret != 0:
        raise Mismatch(f"{what} returned {ret}: {acl.get_recent_err_msg()}")


class Worker:
    def __init__(self, folder):
        self.library = ctypes.CDLL(os.path.join(BUILD, "tests", "lib",
                                                "libcompile_model_for_test.so"))
        self.om = os.path.join(folder, "case.om")
        check(acl.init(), "acl.init")
        check(acl.rt.set_device(0), "acl.rt.set_device")

    def run(self, case):
        model = cases.load(case)
        reason = cases.why_out_of_scope(model)
        if reason:
            return "out of scope", reason
        try:
            sets = list(cases.data_sets(case))
            self.compile(case, open_shapes(model, sets[0][0]))
            model_id, ret = acl.mdl.load_from_file(self.om)
            check(ret, "acl.mdl.load_from_file")
            try:
                for inputs, outputs in sets:
                    self.compare(case, self.execute(model_id, inputs), outputs)
            finally:
                acl.mdl.unload(model_id)
        except Mismatch as failure:
            return "failed", str(failure)
        return "passed", ""

    def compile(self, case, input_shape):
        message = ctypes.create_string_buffer(2000)
        if self.library.compile_model_for_test(case.model.encode(), self.om.encode(), SOC,
                                               input_shape.encode(), message, len(message)) != 0:
            raise Mismatch("atc: " + message.value.decode(errors="replace"))

    def execute(self, model_id, inputs):
        """(bytes, aclDataType, shape) of each output."""
        desc = acl.mdl.create_desc()
        check(acl.mdl.get_desc(desc, model_id), "acl.mdl.get_desc")
        memory, buffers = [], []
        try:
            count = acl.mdl.get_num_inputs(desc)
            if count != len(inputs):
                raise Mismatch(f"the model has {count} inputs, the case {len(inputs)}")
            feeds = acl.mdl.create_dataset()
            for index, tensor in enumerate(inputs):
                raw = cases.to_bytes(tensor)
                size = acl.mdl.get_input_size_by_index(desc, index)
                if size != len(raw):
                    raise Mismatch(f"input {index} has {size} bytes, the case {len(raw)}")
                device = self.buffer(feeds, size, memory, buffers)
                if raw:
                    check(acl.rt.memcpy(device, size, acl.util.bytes_to_ptr(raw), len(raw),
                                        HOST_TO_DEVICE), "acl.rt.memcpy")
            results = acl.mdl.create_dataset()
            places = []
            for index in range(acl.mdl.get_num_outputs(desc)):
                size = acl.mdl.get_output_size_by_index(desc, index)
                dims, ret = acl.mdl.get_output_dims(desc, index)
                check(ret, "acl.mdl.get_output_dims")
                is_open = min(dims["dims"], default=0) < 0
                size = ROOM if is_open else size
                places.append((self.buffer(results, size, memory, buffers), size, is_open,
                               tuple(dims["dims"])))
            check(acl.mdl.execute(model_id, feeds, results), "acl.mdl.execute")
            outputs = []
            for index, (device, size, is_open, dims) in enumerate(places):
                if is_open:
                    size, dims = self.real_output(results, index)
                raw = bytes(size)
                if size:
                    check(acl.rt.memcpy(acl.util.bytes_to_ptr(raw), size, device, size,
                                        DEVICE_TO_HOST), "acl.rt.memcpy")
                outputs.append((raw, acl.mdl.get_output_data_type(desc, index), dims))
            acl.mdl.destroy_dataset(feeds)
            acl.mdl.destroy_dataset(results)
            return outputs
        finally:
            for buffer in buffers:
                acl.destroy_data_buffer(buffer)
            for device in memory:
                acl.rt.free(device)
            acl.mdl.destroy_desc(desc)

    @staticmethod
    def real_output(dataset, index):
        """Bytes and shape of an output that the model leaves open, after the run."""
        desc = acl.mdl.get_dataset_tensor_desc(dataset, index)
        dims = [acl.get_tensor_desc_dim_v2(desc, i)[0]
                for i in range(acl.get_tensor_desc_num_dims(desc))]
        return acl.get_tensor_desc_size(desc), tuple(dims)

    def buffer(self, dataset, size, memory, buffers):
        device, ret = acl.rt.malloc(max(size, 1), HUGE_FIRST)
        check(ret, "acl.rt.malloc")
        memory.append(device)
        buffers.append(acl.create_data_buffer(device, size))
        check(acl.mdl.add_dataset_buffer(dataset, buffers[-1])[1], "acl.mdl.add_dataset_buffer")
        return device

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


def main():
    known = {case.name: case for case in cases.all_cases()}
    with tempfile.TemporaryDirectory(prefix="anynpu-onnx-") as folder:
        worker = Worker(folder)
        for line in sys.stdin:
            name = line.strip()
            print(json.dumps({"case": name, "outcome": "start"}), flush=True)
            try:
                outcome, reason = worker.run(known[name])
            except Exception as error:  # noqa: BLE001  a case must not end the others
                outcome, reason = "failed", f"{type(error).__name__}: {error}"
            print(json.dumps({"case": name, "outcome": outcome, "reason": reason}), flush=True)


if __name__ == "__main__":
    main()
