# SPDX-License-Identifier: Apache-2.0
"""A data buffer that is larger than its memory; the call that gets it fails."""
import acl

SIZE = 4096
assert acl.init() == 0 and acl.rt.set_device(0) == 0
memory, ret = acl.rt.malloc(SIZE, 0)
assert acl.rt.memset(memory, SIZE, 0, SIZE) == 0
whole = acl.create_data_buffer(memory, SIZE)
half = acl.create_data_buffer(memory + SIZE // 2, SIZE)  # found: past-the-end
desc = acl.create_tensor_desc(0, [SIZE // 4], 2)
attributes = acl.op.create_attr()
ret = acl.op.compile_and_execute("Neg", [desc], [whole], [desc], [half], attributes, 0, 0, "", 0)
assert ret != 0
acl.op.destroy_attr(attributes)
acl.destroy_tensor_desc(desc)
assert acl.destroy_data_buffer(whole) == acl.destroy_data_buffer(half) == 0
assert acl.rt.free(memory) == 0
assert acl.rt.reset_device(0) == 0 and acl.finalize() == 0
