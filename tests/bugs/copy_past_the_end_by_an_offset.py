# SPDX-License-Identifier: Apache-2.0
"""A copy that fits the allocation, but not from its middle."""
import acl

D2H = 2
SIZE = 4096
assert acl.init() == 0 and acl.rt.set_device(0) == 0
memory, ret = acl.rt.malloc(SIZE, 0)
host, ret = acl.rt.malloc_host(SIZE)
assert acl.rt.memset(memory, SIZE, 0, SIZE) == 0
ret = acl.rt.memcpy(host, SIZE, memory + 1024, SIZE - 1000, D2H)  # found: past-the-end
assert acl.rt.free(memory) == acl.rt.free_host(host) == 0 or ret
assert acl.rt.reset_device(0) == 0 and acl.finalize() == 0
