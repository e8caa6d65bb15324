# SPDX-License-Identifier: Apache-2.0
"""A stream is destroyed twice."""
import acl

assert acl.init() == 0 and acl.rt.set_device(0) == 0
stream, ret = acl.rt.create_stream()
assert acl.rt.destroy_stream(stream) == 0
assert acl.rt.destroy_stream(stream) != 0  # found: double-free
assert acl.rt.reset_device(0) == 0 and acl.finalize() == 0
