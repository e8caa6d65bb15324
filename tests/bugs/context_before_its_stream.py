# SPDX-License-Identifier: Apache-2.0
"""A context is destroyed before its stream."""
import acl

assert acl.init() == 0 and acl.rt.set_device(0) == 0
context, ret = acl.rt.create_context(0)
stream, ret = acl.rt.create_stream()
assert acl.rt.destroy_context(context) == 0  # found: teardown-order
assert acl.rt.reset_device(0) == 0 and acl.finalize() == 0
