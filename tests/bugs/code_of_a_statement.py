# SPDX-License-Identifier: Apache-2.0
"""A call fails as a statement of its own."""
import acl

assert acl.init() == 0 and acl.rt.set_device(0) == 0
acl.rt.set_device(99)  # found: ignored-error
assert acl.rt.reset_device(0) == 0 and acl.finalize() == 0
