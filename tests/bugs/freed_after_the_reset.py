# SPDX-License-Identifier: Apache-2.0
"""Memory is freed after the device was reset."""
import acl

SIZE = 4096
assert acl.init() == 0 and acl.rt.set_device(0) == 0
memory, ret = acl.rt.malloc(SIZE, 0)
assert acl.rt.reset_device(0) == 0
ret = acl.rt.free(memory)  # found: teardown-order
assert acl.finalize() == 0 or ret
