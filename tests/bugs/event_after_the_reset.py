# SPDX-License-Identifier: Apache-2.0
"""An event is destroyed after the device was reset."""
import acl

assert acl.init() == 0 and acl.rt.set_device(0) == 0
event, ret = acl.rt.create_event()
assert acl.rt.reset_device(0) == 0
ret = acl.rt.destroy_event(event)  # found: teardown-order
assert acl.finalize() == 0 or ret
