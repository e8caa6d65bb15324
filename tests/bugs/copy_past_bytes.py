# SPDX-License-Identifier: Apache-2.0
"""A copy reads more than the bytes object has."""
import acl

H2D = 1
SIZE = 4096
assert acl.init() == 0 and acl.rt.set_device(0) == 0
memory, ret = acl.rt.malloc(SIZE, 0)
data = bytes(SIZE // 2)
pointer = acl.util.bytes_to_ptr(data)
assert acl.rt.memcpy(memory, SIZE, pointer, SIZE // 2 + 64, H2D) == 0  # found: past-the-end
assert acl.rt.free(memory) == 0
assert acl.rt.reset_device(0) == 0 and acl.finalize() == 0
