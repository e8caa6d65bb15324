# SPDX-License-Identifier: Apache-2.0
"""Memory of every round of a loop is never freed."""
import acl

SIZE = 4096
assert acl.init() == 0 and acl.rt.set_device(0) == 0
for _ in range(10):
    memory, ret = acl.rt.malloc(SIZE, 0)  # found: leak-device-memory
assert acl.rt.reset_device(0) == 0 and acl.finalize() == 0
