# SPDX-License-Identifier: Apache-2.0
"""The size is counted in elements of another type."""
import numpy as np

import acl

H2D = 1
SIZE = 4096
assert acl.init() == 0 and acl.rt.set_device(0) == 0
memory, ret = acl.rt.malloc(SIZE, 0)
data = np.ones(SIZE // 8, np.float32)
pointer = acl.util.numpy_to_ptr(data)
ret = acl.rt.memcpy(memory, SIZE, pointer, data.size * 8, H2D)  # found: past-the-end
assert acl.rt.free(memory) == 0 and ret == 0
assert acl.rt.reset_device(0) == 0 and acl.finalize() == 0
