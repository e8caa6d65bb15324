# SPDX-License-Identifier: Apache-2.0
"""Compiles and runs the single operator Add with acl.op."""
import struct

import acl

INT32, ND = 3, 2


def tensor(values):
    memory, ret = acl.rt.malloc(len(values) * 4, 0)
    packed = struct.pack(f"{len(values)}i", *values)
    assert ret == 0
    assert acl.rt.memcpy(memory, len(packed), acl.util.bytes_to_ptr(packed), len(packed), 1) == 0
    return (acl.create_tensor_desc(INT32, [len(values)], ND),
            acl.create_data_buffer(memory, len(packed)), memory)


assert acl.init() == 0 and acl.rt.set_device(0) == 0
stream, ret = acl.rt.create_stream()
attributes = acl.op.create_attr()
a, b, c = tensor([1, 2, 3, 4]), tensor([10, 20, 30, 40]), tensor([0] * 4)
assert acl.op.compile_and_execute("Add", [a[0], b[0]], [a[1], b[1]], [c[0]], [c[1]], attributes,
                                  0, 0, "", stream) == 0, acl.get_recent_err_msg()
assert acl.rt.synchronize_stream(stream) == 0
host, ret = acl.rt.malloc_host(16)
assert acl.rt.memcpy(host, 16, c[2], 16, 2) == 0
assert struct.unpack("4i", acl.util.ptr_to_bytes(host, 16)) == (11, 22, 33, 44)
acl.op.destroy_attr(attributes)
for desc, buffer, memory in (a, b, c):
    acl.destroy_tensor_desc(desc)
    acl.destroy_data_buffer(buffer)
    acl.rt.free(memory)
acl.rt.free_host(host)
acl.rt.destroy_stream(stream)
acl.rt.reset_device(0)
acl.finalize()
