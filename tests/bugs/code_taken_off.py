# SPDX-License-Identifier: Apache-2.0
"""Only the first item of the result is taken."""
import acl

assert acl.init() == 0 and acl.rt.set_device(0) == 0
memory = acl.rt.malloc(0, 0)[0]  # found: ignored-error
assert acl.rt.reset_device(0) == 0 and acl.finalize() == 0
