# SPDX-License-Identifier: Apache-2.0
"""The first and the second version of the media functions in one program."""
import acl

assert acl.init() == 0 and acl.rt.set_device(0) == 0
picture = acl.media.dvpp_create_pic_desc()
acl.media.dvpp_destroy_pic_desc(picture)
assert acl.himpi.sys_init() == 0  # found: mixed-media
assert acl.himpi.sys_exit() == 0
assert acl.rt.reset_device(0) == 0 and acl.finalize() == 0
