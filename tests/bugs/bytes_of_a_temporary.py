# SPDX-License-Identifier: Apache-2.0
"""A pointer to bytes that no variable holds."""
import numpy as np

import acl

H2D = 1
SIZE = 4096
assert acl.init() == 0 and acl.rt.set_device(0) == 0
memory, ret = acl.rt.malloc(SIZE, 0)
data = np.ones(SIZE, np.uint8)
pointer = acl.util.bytes_to_ptr(data.tobytes())
assert acl.rt.memcpy(memory, SIZE, pointer, SIZE, H2D) == 0  # found: dangling-pointer
assert acl.rt.free(memory) == 0
assert acl.rt.reset_device(0) == 0 and acl.finalize() == 0
