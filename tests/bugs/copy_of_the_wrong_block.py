# SPDX-License-Identifier: Apache-2.0
"""The filled block and the one that is read are two."""
import acl

D2D = 3
SIZE = 4096
assert acl.init() == 0 and acl.rt.set_device(0) == 0
filled, ret = acl.rt.malloc(SIZE, 0)
other, ret = acl.rt.malloc(SIZE, 0)
third, ret = acl.rt.malloc(SIZE, 0)
assert acl.rt.memset(filled, SIZE, 1, SIZE) == 0
assert acl.rt.memcpy(third, SIZE, other, SIZE, D2D) == 0  # found: read-before-write
assert acl.rt.free(filled) == acl.rt.free(other) == acl.rt.free(third) == 0
assert acl.rt.reset_device(0) == 0 and acl.finalize() == 0
