# SPDX-License-Identifier: Apache-2.0
"""A device is used without acl.init."""
import acl

assert acl.rt.set_device(0) == 0  # found: no-init
assert acl.rt.reset_device(0) == 0
