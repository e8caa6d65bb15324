# SPDX-License-Identifier: Apache-2.0
"""A data buffer over bytes that are gone."""
import acl

SIZE = 4096
assert acl.init() == 0 and acl.rt.set_device(0) == 0
buffer = acl.create_data_buffer(acl.util.bytes_to_ptr(bytes(SIZE)), SIZE)  # found: dangling-pointer
assert acl.destroy_data_buffer(buffer) == 0
assert acl.rt.reset_device(0) == 0 and acl.finalize() == 0
