# SPDX-License-Identifier: Apache-2.0
"""A dataset and its buffer are never destroyed."""
import acl

SIZE = 4096
assert acl.init() == 0 and acl.rt.set_device(0) == 0
memory, ret = acl.rt.malloc(SIZE, 0)
dataset = acl.mdl.create_dataset()  # found: leak-dataset
buffer = acl.create_data_buffer(memory, SIZE)  # found: leak-data-buffer
assert acl.mdl.add_dataset_buffer(dataset, buffer)[1] == 0
assert acl.rt.free(memory) == 0
assert acl.rt.reset_device(0) == 0 and acl.finalize() == 0
