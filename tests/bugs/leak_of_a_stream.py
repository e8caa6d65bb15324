# SPDX-License-Identifier: Apache-2.0
"""A stream of a context of its own is never destroyed."""
import acl

assert acl.init() == 0 and acl.rt.set_device(0) == 0
context, ret = acl.rt.create_context(0)  # found: leak-context
stream, ret = acl.rt.create_stream()  # found: leak-stream
assert acl.rt.reset_device(0) == 0 and acl.finalize() == 0
