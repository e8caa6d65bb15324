# SPDX-License-Identifier: Apache-2.0
"""An asynchronous copy starts at an address that is not a multiple of 64."""
import acl

H2D = 1
SIZE = 4096
assert acl.init() == 0 and acl.rt.set_device(0) == 0
memory, ret = acl.rt.malloc(SIZE, 0)
host, ret = acl.rt.malloc_host(SIZE)
stream, ret = acl.rt.create_stream()
ret = acl.rt.memcpy_async(memory, 64, host + 4, 64, H2D, stream)  # found: unaligned-async-copy
assert ret == 0
assert acl.rt.synchronize_stream(stream) == acl.rt.destroy_stream(stream) == 0
assert acl.rt.free(memory) == acl.rt.free_host(host) == 0
assert acl.rt.reset_device(0) == 0 and acl.finalize() == 0
