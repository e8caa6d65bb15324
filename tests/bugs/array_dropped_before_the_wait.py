# SPDX-License-Identifier: Apache-2.0
"""The source of a queued copy is dropped before the stream is waited for."""
import numpy as np

import acl

H2D = 1
SIZE = 4096
assert acl.init() == 0 and acl.rt.set_device(0) == 0
memory, ret = acl.rt.malloc(SIZE, 0)
stream, ret = acl.rt.create_stream()
data = np.ones(SIZE + 64, np.uint8)
pointer = acl.util.numpy_to_ptr(data)
pointer += -pointer % 64
assert acl.rt.memcpy_async(memory, SIZE, pointer, SIZE, H2D, stream) == 0  # found: dangling-pointer
del data
assert acl.rt.synchronize_stream(stream) == 0
assert acl.rt.destroy_stream(stream) == acl.rt.free(memory) == 0
assert acl.rt.reset_device(0) == 0 and acl.finalize() == 0
