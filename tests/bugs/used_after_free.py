# SPDX-License-Identifier: Apache-2.0
"""Memory is filled after it was freed."""
import acl

SIZE = 4096
assert acl.init() == 0 and acl.rt.set_device(0) == 0
memory, ret = acl.rt.malloc(SIZE, 0)
assert acl.rt.free(memory) == 0
assert acl.rt.memset(memory, SIZE, 0, SIZE) != 0  # found: use-after-free
assert acl.rt.reset_device(0) == 0 and acl.finalize() == 0
