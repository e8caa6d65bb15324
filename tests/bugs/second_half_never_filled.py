# SPDX-License-Identifier: Apache-2.0
"""Only the first half was filled; the second is read."""
import acl

D2H = 2
SIZE = 4096
assert acl.init() == 0 and acl.rt.set_device(0) == 0
memory, ret = acl.rt.malloc(2 * SIZE, 0)
host, ret = acl.rt.malloc_host(SIZE)
stream, ret = acl.rt.create_stream()
assert acl.rt.memset_async(memory, SIZE, 1, SIZE, stream) == 0
ret = acl.rt.memcpy_async(host, SIZE, memory + SIZE, SIZE, D2H, stream)  # found: read-before-write
assert ret == 0
assert acl.rt.synchronize_stream(stream) == 0
assert acl.rt.destroy_stream(stream) == acl.rt.free(memory) == acl.rt.free_host(host) == 0
assert acl.rt.reset_device(0) == 0 and acl.finalize() == 0
