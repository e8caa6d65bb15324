# SPDX-License-Identifier: Apache-2.0
"""Host memory is never freed."""
import acl

SIZE = 4096
assert acl.init() == 0 and acl.rt.set_device(0) == 0
host, ret = acl.rt.malloc_host(SIZE)  # found: leak-host-memory
assert acl.rt.reset_device(0) == 0 and acl.finalize() == 0
