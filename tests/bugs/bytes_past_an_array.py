# SPDX-License-Identifier: Apache-2.0
"""ptr_to_bytes reads more than the array has."""
import numpy as np

import acl

assert acl.init() == 0 and acl.rt.set_device(0) == 0
data = np.ones(1000, np.uint8)
text = acl.util.ptr_to_bytes(acl.util.numpy_to_ptr(data), 1001)  # found: past-the-end
assert acl.rt.reset_device(0) == 0 and acl.finalize() == 0
