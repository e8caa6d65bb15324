# SPDX-License-Identifier: Apache-2.0
"""The media units are given memory of acl.rt.malloc (second version)."""
import acl

assert acl.init() == 0 and acl.rt.set_device(0) == 0
himpi = acl.himpi
assert himpi.sys_init() == 0


def picture(address, width, height):
    return {"picture_address": address, "picture_buffer_size": width * height * 3 // 2,
            "picture_width": width, "picture_height": height, "picture_width_stride": width,
            "picture_height_stride": height, "picture_format": 1}


channel, ret = himpi.vpc_sys_create_chn({"attr": 0, "pic_width": 64, "pic_height": 64})
source, ret = acl.rt.malloc(64 * 48 * 3 // 2, 0)
target, ret = himpi.dvpp_malloc(0, 32 * 32 * 3 // 2)
task, ret = himpi.vpc_resize(channel, picture(source, 64, 48),  # found: not-media-memory
                             picture(target, 32, 32), 0, 0, 0, -1)
ret = himpi.vpc_get_process_result(channel, task, -1) or ret
assert himpi.vpc_destroy_chn(channel) == himpi.dvpp_free(target) == acl.rt.free(source) == 0
assert himpi.sys_exit() == 0
assert acl.rt.reset_device(0) == 0 and acl.finalize() == 0
