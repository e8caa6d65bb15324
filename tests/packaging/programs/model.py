# SPDX-License-Identifier: Apache-2.0
"""Loads a model and runs it once on zeros: python model.py MODEL.om"""
import sys

import acl


def dataset(count, size_of):
    made = acl.mdl.create_dataset()
    for index in range(count):
        size = size_of(index)
        memory, ret = acl.rt.malloc(size, 0)
        assert ret == 0 and acl.rt.memset(memory, size, 0, size) == 0
        _, ret = acl.mdl.add_dataset_buffer(made, acl.create_data_buffer(memory, size))
        assert ret == 0
    return made


assert acl.init() == 0 and acl.rt.set_device(0) == 0
model, ret = acl.mdl.load_from_file(sys.argv[1])
assert ret == 0, acl.get_recent_err_msg()
desc = acl.mdl.create_desc()
assert acl.mdl.get_desc(desc, model) == 0
inputs = dataset(acl.mdl.get_num_inputs(desc), lambda i: acl.mdl.get_input_size_by_index(desc, i))
outputs = dataset(acl.mdl.get_num_outputs(desc),
                  lambda i: acl.mdl.get_output_size_by_index(desc, i))
assert acl.mdl.execute(model, inputs, outputs) == 0, acl.get_recent_err_msg()
assert acl.mdl.unload(model) == 0
acl.rt.reset_device(0)
acl.finalize()
