# SPDX-License-Identifier: Apache-2.0
"""Encodes a grey picture as JPEG and decodes it again with acl.media."""
import array

import acl

NV12, WIDTH, HEIGHT = 1, 128, 64


def picture(size):
    desc = acl.media.dvpp_create_pic_desc()
    memory, ret = acl.media.dvpp_malloc(size)
    assert ret == 0 and acl.rt.memset(memory, size, 128, size) == 0
    for field, value in (("data", memory), ("size", size), ("format", NV12), ("width", WIDTH),
                         ("height", HEIGHT), ("width_stride", WIDTH), ("height_stride", HEIGHT)):
        assert getattr(acl.media, "dvpp_set_pic_desc_" + field)(desc, value) == 0
    return desc, memory


assert acl.init() == 0 and acl.rt.set_device(0) == 0
stream, ret = acl.rt.create_stream()
channel = acl.media.dvpp_create_channel_desc()
assert acl.media.dvpp_create_channel(channel) == 0, acl.get_recent_err_msg()
grey, _ = picture(WIDTH * HEIGHT * 3 // 2)
config = acl.media.dvpp_create_jpege_config()
assert acl.media.dvpp_set_jpege_config_level(config, 90) == 0
room, ret = acl.media.dvpp_jpeg_predict_enc_size(grey, config)
jpeg, ret = acl.media.dvpp_malloc(room)
length = array.array("I", [room])
assert acl.media.dvpp_jpeg_encode_async(
    channel, grey, jpeg, length.buffer_info()[0], config, stream) == 0, acl.get_recent_err_msg()
assert acl.rt.synchronize_stream(stream) == 0
size, ret = acl.media.dvpp_jpeg_predict_dec_size(jpeg, length[0], NV12)
assert ret == 0
back, memory = picture(size)
assert acl.rt.memset(memory, size, 0, size) == 0
assert acl.media.dvpp_jpeg_decode_async(channel, jpeg, length[0], back, stream) == 0
assert acl.rt.synchronize_stream(stream) == 0, acl.get_recent_err_msg()
assert acl.util.ptr_to_bytes(memory, WIDTH) == bytes([128]) * WIDTH
assert acl.media.dvpp_destroy_channel(channel) == 0
acl.rt.destroy_stream(stream)
acl.rt.reset_device(0)
acl.finalize()
