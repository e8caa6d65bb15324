# SPDX-License-Identifier: Apache-2.0
"""Runs a .om once through acl.mdl: arrays in, arrays out, in the shapes the model states."""
import numpy as np

import acl

TYPES = {
    0: np.float32,
    1: np.float16,
    2: np.int8,
    3: np.int32,
    4: np.uint8,
    9: np.int64,
    11: np.float64,
     12: np.bool_}
HOST_TO_DEVICE, DEVICE_TO_HOST = 1, 2


def run_om(path, arrays):
    """{"node:0:tensor": array} of one run. The caller has initialised acl and set a device."""
    model, ret = acl.mdl.load_from_file(str(path))
    assert ret == 0, acl.get_recent_err_msg()
    desc = acl.mdl.create_desc()
    assert acl.mdl.get_desc(desc, model) == 0
    memories, buffers, sets = [], [], []

    def dataset(sizes):
        made = acl.mdl.create_dataset()
        sets.append(made)
        out = []
        for size in sizes:
            memory, ret = acl.rt.malloc(max(size, 1), 0)
            assert ret == 0
            buffer = acl.create_data_buffer(memory, size)
            assert acl.mdl.add_dataset_buffer(made, buffer)[1] == 0
            memories.append(memory)
            buffers.append(buffer)
            out.append((memory, size))
        return made, out

    inputs, feeds = dataset(
        [acl.mdl.get_input_size_by_index(desc, i) for i in range(acl.mdl.get_num_inputs(desc))])
    count = acl.mdl.get_num_outputs(desc)
    outputs, results = dataset([acl.mdl.get_output_size_by_index(desc, i) for i in range(count)])
    assert len(arrays) == len(feeds)
    for array, (memory, size) in zip(arrays, feeds):
        raw = np.ascontiguousarray(array).tobytes()
        assert len(raw) == size
        assert acl.rt.memcpy(memory, size, acl.util.bytes_to_ptr(raw), size, HOST_TO_DEVICE) == 0
    assert acl.mdl.execute(model, inputs, outputs) == 0, acl.get_recent_err_msg()
    read = {}
    for i, (memory, size) in enumerate(results):
        raw = bytes(size)
        assert acl.rt.memcpy(acl.util.bytes_to_ptr(raw), size, memory, size, DEVICE_TO_HOST) == 0
        dims, ret = acl.mdl.get_output_dims(desc, i)
        assert ret == 0
        kind = TYPES[acl.mdl.get_output_data_type(desc, i)]
        name = acl.mdl.get_output_name_by_index(desc, i)
        read[name] = np.frombuffer(raw, kind).reshape(dims["dims"])
    for buffer in buffers:
        assert acl.destroy_data_buffer(buffer) == 0
    for memory in memories:
        assert acl.rt.free(memory) == 0
    for made in sets:
        assert acl.mdl.destroy_dataset(made) == 0
    assert acl.mdl.destroy_desc(desc) == 0
    assert acl.mdl.unload(model) == 0
    return read
