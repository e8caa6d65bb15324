# SPDX-License-Identifier: Apache-2.0
"""A fill of more bytes than were allocated."""
import acl

assert acl.init() == 0 and acl.rt.set_device(0) == 0
memory, ret = acl.rt.malloc(100, 0)
ret = acl.rt.memset(memory, 128, 0, 128)  # found: past-the-end
assert acl.rt.free(memory) == 0 or ret
assert acl.rt.reset_device(0) == 0 and acl.finalize() == 0
