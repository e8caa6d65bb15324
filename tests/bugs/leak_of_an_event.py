# SPDX-License-Identifier: Apache-2.0
"""An event is never destroyed."""
import acl

assert acl.init() == 0 and acl.rt.set_device(0) == 0
event, ret = acl.rt.create_event()  # found: leak-event
assert acl.rt.reset_device(0) == 0 and acl.finalize() == 0
