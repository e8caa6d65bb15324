# SPDX-License-Identifier: Apache-2.0
"""A device is set twice and reset once."""
import acl

assert acl.init() == 0
assert acl.rt.set_device(0) == 0  # found: not-reset
assert acl.rt.set_device(0) == 0
assert acl.rt.reset_device(0) == 0
assert acl.finalize() == 0
