# SPDX-License-Identifier: Apache-2.0
"""A copy of rows that runs over the end of its target."""
import acl

H2D = 1
SIZE = 4096
assert acl.init() == 0 and acl.rt.set_device(0) == 0
memory, ret = acl.rt.malloc(64 * 16, 0)
host, ret = acl.rt.malloc_host(SIZE)
ret = acl.rt.memcpy2d(memory, 64, host, 64, 60, 20, H2D)  # found: past-the-end
assert acl.rt.free(memory) == acl.rt.free_host(host) == 0 or ret
assert acl.rt.reset_device(0) == 0 and acl.finalize() == 0
