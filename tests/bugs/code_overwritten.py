# SPDX-License-Identifier: Apache-2.0
"""The code of a failed call is overwritten by the next one."""
import acl

assert acl.init() == 0 and acl.rt.set_device(0) == 0
def load():
    model, ret = acl.mdl.load_from_file("there/is/none.om")  # found: ignored-error
    desc = acl.mdl.create_desc()
    ret = acl.mdl.destroy_desc(desc)
    return ret


assert load() == 0
assert acl.rt.reset_device(0) == 0 and acl.finalize() == 0
