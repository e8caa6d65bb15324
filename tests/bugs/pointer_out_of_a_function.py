# SPDX-License-Identifier: Apache-2.0
"""A function returns the address of its own bytes."""
import acl

H2D = 1
SIZE = 4096
assert acl.init() == 0 and acl.rt.set_device(0) == 0
def load(path):
    with open(path, "rb") as file:
        content = file.read()
    return acl.util.bytes_to_ptr(content), len(content)


memory, ret = acl.rt.malloc(SIZE, 0)
pointer, size = load(__file__)
assert acl.rt.memcpy(memory, SIZE, pointer, size, H2D) == 0  # found: dangling-pointer
assert acl.rt.free(memory) == 0
assert acl.rt.reset_device(0) == 0 and acl.finalize() == 0
