# SPDX-License-Identifier: Apache-2.0
"""Eight bytes of a queued copy are read before the stream is waited for."""
import acl

D2H = 2
assert acl.init() == 0 and acl.rt.set_device(0) == 0
memory, ret = acl.rt.malloc(64, 0)
host, ret = acl.rt.malloc_host(8)
view = acl.util.ptr_to_numpy(host, (8,), 2)
view[:] = 0
stream, ret = acl.rt.create_stream()
assert acl.rt.memset(memory, 64, 7, 64) == 0
assert acl.rt.memcpy_async(host, 8, memory, 8, D2H, stream) == 0
first = int(view[0])  # found: read-before-synchronize
assert acl.rt.synchronize_stream(stream) == 0
assert acl.rt.destroy_stream(stream) == acl.rt.free(memory) == acl.rt.free_host(host) == 0
assert acl.rt.reset_device(0) == 0 and acl.finalize() == 0
