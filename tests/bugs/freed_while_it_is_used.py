# SPDX-License-Identifier: Apache-2.0
"""Memory is freed while queued work uses it."""
import acl

SIZE = 4096
assert acl.init() == 0 and acl.rt.set_device(0) == 0
memory, ret = acl.rt.malloc(SIZE, 0)
stream, ret = acl.rt.create_stream()
assert acl.rt.memset_async(memory, SIZE, 1, SIZE, stream) == 0
assert acl.rt.free(memory) == 0  # found: free-before-synchronize
assert acl.rt.synchronize_stream(stream) == acl.rt.destroy_stream(stream) == 0
assert acl.rt.reset_device(0) == 0 and acl.finalize() == 0
