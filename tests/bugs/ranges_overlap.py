# SPDX-License-Identifier: Apache-2.0
"""Two streams write ranges of which a few bytes overlap."""
import acl

SIZE = 4096
assert acl.init() == 0 and acl.rt.set_device(0) == 0
memory, ret = acl.rt.malloc(2 * SIZE, 0)
host, ret = acl.rt.malloc_host(SIZE)
one, ret = acl.rt.create_stream()
two, ret = acl.rt.create_stream()
event, ret = acl.rt.create_event()
assert acl.rt.memset(memory, 2 * SIZE, 0, 2 * SIZE) == 0
assert acl.rt.memset_async(memory, SIZE, 1, SIZE, one) == 0
assert acl.rt.memset_async(memory + SIZE - 64, SIZE, 2, SIZE, two) == 0  # found: race
assert acl.rt.synchronize_device() == 0
assert acl.rt.destroy_stream(one) == acl.rt.destroy_stream(two) == acl.rt.destroy_event(event) == 0
assert acl.rt.free(memory) == acl.rt.free_host(host) == 0
assert acl.rt.reset_device(0) == 0 and acl.finalize() == 0
