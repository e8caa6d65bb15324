# SPDX-License-Identifier: Apache-2.0
"""The next input is written while the queued work reads the last."""
import acl

D2D = 3
SIZE = 4096
assert acl.init() == 0 and acl.rt.set_device(0) == 0
memory, ret = acl.rt.malloc(SIZE, 0)
target, ret = acl.rt.malloc(SIZE, 0)
stream, ret = acl.rt.create_stream()
assert acl.rt.memset(memory, SIZE, 1, SIZE) == 0
assert acl.rt.memcpy_async(target, SIZE, memory, SIZE, D2D, stream) == 0
assert acl.rt.memset(memory, SIZE, 2, SIZE) == 0  # found: write-before-synchronize
assert acl.rt.synchronize_stream(stream) == 0
assert acl.rt.destroy_stream(stream) == acl.rt.free(memory) == acl.rt.free(target) == 0
assert acl.rt.reset_device(0) == 0 and acl.finalize() == 0
