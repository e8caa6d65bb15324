# SPDX-License-Identifier: Apache-2.0
"""Datasets for tests of acl.mdl, made as the guide makes them, and models made by atc."""
import subprocess

import numpy as np
import onnx

import acl

HOST_TO_DEVICE, DEVICE_TO_HOST = 1, 2


def atc(*args):
    return subprocess.run(["atc", *args], capture_output=True, text=True, timeout=300)


def atc_over(folder, name, model, *options):
    """Saves `model` and gives it to atc; how that ended."""
    onnx.save(model, folder / f"{name}.onnx")
    return atc(f"--model={folder}/{name}.onnx", "--framework=5", f"--output={folder}/{name}",
               "--soc_version=Ascend310P3", *options)


def convert(folder, name, model, *options):
    """Saves `model`, converts it and returns the path of the .om."""
    done = atc_over(folder, name, model, *options)
    assert done.returncode == 0, done.stderr
    return str(folder / f"{name}.om")


class Model:
    """A loaded model with its description and datasets of the sizes given, or of its own."""

    def __init__(self, path, input_sizes=None, output_sizes=None):
        model_id, ret = acl.mdl.load_from_file(path)
        assert ret == 0, acl.get_recent_err_msg()
        self.describe(model_id, input_sizes, output_sizes)

    @classmethod
    def of_id(cls, model_id, input_sizes=None, output_sizes=None):
        """Of a model that is loaded; free() leaves it so."""
        model = cls.__new__(cls)
        model.describe(model_id, input_sizes, output_sizes)
        return model

    def describe(self, model_id, input_sizes=None, output_sizes=None):
        self.id = model_id
        self.desc = acl.mdl.create_desc()
        assert acl.mdl.get_desc(self.desc, self.id) == 0
        self.inputs, self.input_data = self.dataset(
            acl.mdl.get_num_inputs, acl.mdl.get_input_size_by_index, input_sizes)
        self.outputs, self.output_data = self.dataset(
            acl.mdl.get_num_outputs, acl.mdl.get_output_size_by_index, output_sizes)

    def dataset(self, count, size_of, sizes):
        sizes = sizes or [size_of(self.desc, i) for i in range(count(self.desc))]
        dataset, data = acl.mdl.create_dataset(), []
        for size in sizes:
            memory, ret = acl.rt.malloc(max(size, 1), 0)
            assert ret == 0
            buffer = acl.create_data_buffer(memory, size)
            assert acl.mdl.add_dataset_buffer(dataset, buffer)[1] == 0
            data.append((memory, buffer, size))
        return dataset, data

    def feed(self, *arrays):
        for array, (memory, _, size) in zip(arrays, self.input_data):
            raw = array.tobytes()
            assert acl.rt.memcpy(memory, size, acl.util.bytes_to_ptr(raw), len(raw),
                                 HOST_TO_DEVICE) == 0

    def execute(self):
        return acl.mdl.execute(self.id, self.inputs, self.outputs)

    def run(self, *arrays):
        self.feed(*arrays)
        assert self.execute() == 0, acl.get_recent_err_msg()

    def execute_on_stream(self, submit=acl.mdl.execute_async):
        """The code of the submission, or of the wait where that went well."""
        stream, ret = acl.rt.create_stream()
        assert ret == 0
        code = (submit(self.id, self.inputs, self.outputs, stream)
                or acl.rt.synchronize_stream(stream))
        assert acl.rt.destroy_stream(stream) == 0
        return code

    def read(self, index, shape, dtype=np.float32):
        memory, _, _ = self.output_data[index]
        return self.read_memory(memory, shape, dtype)

    def read_all(self, dtype=np.float32):
        """Every output, flat."""
        return [self.read_memory(memory, [size // np.dtype(dtype).itemsize], dtype)
                for memory, _, size in self.output_data]

    @staticmethod
    def read_memory(memory, shape, dtype):
        size = int(np.prod(shape)) * np.dtype(dtype).itemsize
        raw = bytes(size)
        assert acl.rt.memcpy(acl.util.bytes_to_ptr(raw), size, memory, size, DEVICE_TO_HOST) == 0
        return np.frombuffer(raw, dtype).reshape(shape)

    def index(self, name):
        index, ret = acl.mdl.get_input_index_by_name(self.desc, name)
        assert ret == 0, acl.get_recent_err_msg()
        return index

    def close(self):
        self.free()
        assert acl.mdl.unload(self.id) == 0

    def free(self):
        for memory, buffer, _ in self.input_data + self.output_data:
            assert acl.destroy_data_buffer(buffer) == 0
            assert acl.rt.free(memory) == 0
        assert acl.mdl.destroy_dataset(self.inputs) == 0
        assert acl.mdl.destroy_dataset(self.outputs) == 0
        assert acl.mdl.destroy_desc(self.desc) == 0
