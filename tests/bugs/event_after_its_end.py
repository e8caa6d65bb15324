# SPDX-License-Identifier: Apache-2.0
"""An event is recorded after it was destroyed."""
import acl

assert acl.init() == 0 and acl.rt.set_device(0) == 0
event, ret = acl.rt.create_event()
stream, ret = acl.rt.create_stream()
assert acl.rt.destroy_event(event) == 0
assert acl.rt.record_event(event, stream) != 0  # found: use-after-destroy
assert acl.rt.destroy_stream(stream) == 0
assert acl.rt.reset_device(0) == 0 and acl.finalize() == 0
