# SPDX-License-Identifier: Apache-2.0
"""The count is larger than the room that the call itself states."""
import acl

H2D = 1
SIZE = 4096
assert acl.init() == 0 and acl.rt.set_device(0) == 0
memory, ret = acl.rt.malloc(SIZE, 0)
host, ret = acl.rt.malloc_host(SIZE)
ret = acl.rt.memcpy(memory, 1024, host, 2048, H2D)  # found: past-the-end
assert acl.rt.free(memory) == acl.rt.free_host(host) == 0 and ret != 0
assert acl.rt.reset_device(0) == 0 and acl.finalize() == 0
