# SPDX-License-Identifier: Apache-2.0
"""The program waits, but for another stream."""
import acl

D2H = 2
SIZE = 4096
assert acl.init() == 0 and acl.rt.set_device(0) == 0
memory, ret = acl.rt.malloc(SIZE, 0)
host, ret = acl.rt.malloc_host(SIZE)
one, ret = acl.rt.create_stream()
two, ret = acl.rt.create_stream()
assert acl.rt.memset_async(memory, SIZE, 7, SIZE, one) == 0
assert acl.rt.synchronize_stream(two) == 0
assert acl.rt.memcpy(host, SIZE, memory, SIZE, D2H) == 0  # found: read-before-synchronize
assert acl.rt.synchronize_device() == 0
assert acl.rt.destroy_stream(one) == acl.rt.destroy_stream(two) == 0
assert acl.rt.free(memory) == acl.rt.free_host(host) == 0
assert acl.rt.reset_device(0) == 0 and acl.finalize() == 0
