# SPDX-License-Identifier: Apache-2.0
"""Copies bytes to the device and back with pyACL."""
import acl

sent = bytes(range(256))
assert acl.init() == 0
assert acl.rt.set_device(0) == 0
device, ret = acl.rt.malloc(len(sent), 0)
assert ret == 0
assert acl.rt.memcpy(device, len(sent), acl.util.bytes_to_ptr(sent), len(sent), 1) == 0
host, ret = acl.rt.malloc_host(len(sent))
assert ret == 0
assert acl.rt.memcpy(host, len(sent), device, len(sent), 2) == 0
assert acl.util.ptr_to_bytes(host, len(sent)) == sent
assert acl.rt.free(device) == 0 and acl.rt.free_host(host) == 0
assert acl.rt.reset_device(0) == 0
assert acl.finalize() == 0
