# SPDX-License-Identifier: Apache-2.0
"""The code of a failed call is stored and never read."""
import acl

assert acl.init() == 0 and acl.rt.set_device(0) == 0
def prepare():
    memory, ret = acl.rt.malloc(1 << 60, 0)  # found: ignored-error
    return memory


prepare()
assert acl.rt.reset_device(0) == 0 and acl.finalize() == 0
