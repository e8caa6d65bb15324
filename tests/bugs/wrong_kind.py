# SPDX-License-Identifier: Apache-2.0
"""The kind of the copy is the wrong way round."""
import acl

D2H = 2
SIZE = 4096
assert acl.init() == 0 and acl.rt.set_device(0) == 0
memory, ret = acl.rt.malloc(SIZE, 0)
host, ret = acl.rt.malloc_host(SIZE)
assert acl.rt.memcpy(memory, SIZE, host, SIZE, D2H) != 1  # found: copy-kind
assert acl.rt.free(memory) == acl.rt.free_host(host) == 0
assert acl.rt.reset_device(0) == 0 and acl.finalize() == 0
