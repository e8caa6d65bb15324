# SPDX-License-Identifier: Apache-2.0
"""Compiles models through atc's library, in process, and runs them through acl.mdl.

Suites with thousands of models use it: starting atc for each would take longer than the work.
"""
import ctypes
import os

import acl

BUILD = os.environ.get("ANYNPU_BUILD_DIR", "build")
SOC = b"Ascend310P3"
TENSORFLOW, ONNX = 3, 5
ROOM = 1 << 22  # for outputs whose size the model leaves open
INITIALIZED_BEFORE = 100002
HUGE_FIRST, HOST_TO_DEVICE, DEVICE_TO_HOST = 0, 1, 2


class Mismatch(Exception):
    """The case failed; the text is the reason."""


def check(ret, what):
    if ret != 0:
        raise Mismatch(f"{what} returned {ret}: {acl.get_recent_err_msg()}")


class ModelRunner:
    """One .om file at a time, in `folder`, on device 0."""

    def __init__(self, folder):
        self.library = ctypes.CDLL(os.path.join(BUILD, "tests", "lib",
                                                "libcompile_model_for_test.so"))
        self.om = os.path.join(folder, "case.om")
        ret = acl.init()
        if ret != INITIALIZED_BEFORE:  # by another test of this process
            check(ret, "acl.init")
        check(acl.rt.set_device(0), "acl.rt.set_device")

    def compile(self, model, framework, input_shape="", out_nodes=""):
        message = ctypes.create_string_buffer(2000)
        if self.library.compile_model_for_test(model.encode(), framework, self.om.encode(), SOC,
                                               input_shape.encode(), out_nodes.encode(),
                                               message, len(message)) != 0:
            raise Mismatch("atc: " + message.value.decode(errors="replace"))

    def load(self):
        model_id, ret = acl.mdl.load_from_file(self.om)
        check(ret, "acl.mdl.load_from_file")
        return model_id

    def execute(self, model_id, feed):
        """(bytes, aclDataType, shape) of each output. `feed` gets the names of the model's inputs
        and returns the bytes of each."""
        desc = acl.mdl.create_desc()
        check(acl.mdl.get_desc(desc, model_id), "acl.mdl.get_desc")
        memory, buffers = [], []
        try:
            feeds = acl.mdl.create_dataset()
            names = [acl.mdl.get_input_name_by_index(desc, i)
                     for i in range(acl.mdl.get_num_inputs(desc))]
            for index, raw in enumerate(feed(names)):
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

    @staticmethod
    def buffer(dataset, size, memory, buffers):
        device, ret = acl.rt.malloc(max(size, 1), HUGE_FIRST)
        check(ret, "acl.rt.malloc")
        memory.append(device)
        buffers.append(acl.create_data_buffer(device, size))
        check(acl.mdl.add_dataset_buffer(dataset, buffers[-1])[1], "acl.mdl.add_dataset_buffer")
        return device
