# SPDX-License-Identifier: Apache-2.0
"""The media units are given memory of acl.rt.malloc (first version)."""
import acl

assert acl.init() == 0 and acl.rt.set_device(0) == 0
def picture(address, width, height):
    desc = media.dvpp_create_pic_desc()
    for name, value in (("data", address), ("size", width * height * 3 // 2), ("format", 1),
                        ("width", width), ("height", height), ("width_stride", width),
                        ("height_stride", height)):
        assert getattr(media, "dvpp_set_pic_desc_" + name)(desc, value) == 0
    return desc


media = acl.media
stream, ret = acl.rt.create_stream()
channel = media.dvpp_create_channel_desc()
assert media.dvpp_create_channel(channel) == 0
source, ret = media.dvpp_malloc(64 * 48 * 3 // 2)
target, ret = acl.rt.malloc(32 * 24 * 3 // 2, 0)
pictures = [picture(source, 64, 48), picture(target, 32, 24)]
config = media.dvpp_create_resize_config()
ret = media.dvpp_vpc_resize_async(channel, *pictures, config, stream)  # found: not-media-memory
assert acl.rt.synchronize_stream(stream) == 0 or ret
for desc in pictures:
    assert media.dvpp_destroy_pic_desc(desc) == 0
assert media.dvpp_destroy_resize_config(config) == media.dvpp_destroy_channel(channel) == 0
assert media.dvpp_destroy_channel_desc(channel) == media.dvpp_free(source) == 0
assert acl.rt.free(target) == acl.rt.destroy_stream(stream) == 0
assert acl.rt.reset_device(0) == 0 and acl.finalize() == 0
