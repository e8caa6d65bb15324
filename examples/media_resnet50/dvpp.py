# SPDX-License-Identifier: Apache-2.0
"""Pictures of the media units: decode, scale, crop, paste, encode."""
import numpy as np
from session import check, checked, to_device, to_host

import acl

NV12 = 1
SIDE = 224  # of what the model takes


def up(value, multiple):
    return -(-value // multiple) * multiple


def jpeg_size(file):
    return checked("acl.media.dvpp_jpeg_get_image_info", acl.media.dvpp_jpeg_get_image_info(
        acl.util.bytes_to_ptr(file), len(file)))[:2]


class Picture:
    """An NV12 picture in memory of the media units, with its description."""

    def __init__(self, width, height, data=None, desc=None):
        self.width, self.height = width, height
        self.wide, self.high = up(width, 16), up(height, 2)
        self.size = self.wide * self.high * 3 // 2
        if data is None:
            self.address = checked("acl.media.dvpp_malloc", acl.media.dvpp_malloc(self.size))
            check("acl.rt.memset", acl.rt.memset(self.address, self.size, 0, self.size))
        elif len(data) == self.size:
            self.address = to_device(data)
        else:
            raise SystemExit(f"the picture has {len(data)} bytes; {width}x{height} of NV12 take "
                             f"{self.size}")
        self.own = desc is None
        self.desc = desc or acl.media.dvpp_create_pic_desc()
        for name, value in (("data", self.address), ("size", self.size), ("format", NV12),
                            ("width", width), ("height", height), ("width_stride", self.wide),
                            ("height_stride", self.high)):
            call = "dvpp_set_pic_desc_" + name
            check("acl.media." + call, getattr(acl.media, call)(self.desc, value))

    def bytes(self):
        return to_host(self.address, self.size)

    def free(self):
        check("acl.media.dvpp_free", acl.media.dvpp_free(self.address))
        if self.own:
            check("acl.media.dvpp_destroy_pic_desc", acl.media.dvpp_destroy_pic_desc(self.desc))


class Area:
    """A region; right and bottom edge belong to it."""

    def __init__(self, left, top, width, height):
        self.config = acl.media.dvpp_create_roi_config(left, left + width - 1, top,
                                                       top + height - 1)

    def free(self):
        check("acl.media.dvpp_destroy_roi_config", acl.media.dvpp_destroy_roi_config(self.config))


class Dvpp:
    def __init__(self, session):
        self.session = session
        self.channel = acl.media.dvpp_create_channel_desc()
        check("acl.media.dvpp_create_channel", acl.media.dvpp_create_channel(self.channel))
        self.resize_config = acl.media.dvpp_create_resize_config()

    def finish(self, call, ret):
        check(call, ret)
        self.session.wait()

    def decode(self, file):
        memory, out = to_device(file), Picture(*jpeg_size(file))
        self.finish("acl.media.dvpp_jpeg_decode_async", acl.media.dvpp_jpeg_decode_async(
            self.channel, memory, len(file), out.desc, self.session.stream))
        check("acl.media.dvpp_free", acl.media.dvpp_free(memory))
        return out

    def resize(self, picture, width=SIDE, height=SIDE):
        out = Picture(width, height)
        self.finish("acl.media.dvpp_vpc_resize_async", acl.media.dvpp_vpc_resize_async(
            self.channel, picture.desc, out.desc, self.resize_config, self.session.stream))
        return out

    def crop(self, picture):
        """The middle of the picture, in the size of the model."""
        out, area = Picture(SIDE, SIDE), middle(picture)
        self.finish("acl.media.dvpp_vpc_crop_async", acl.media.dvpp_vpc_crop_async(
            self.channel, picture.desc, out.desc, area.config, self.session.stream))
        area.free()
        return out

    def crop_and_paste(self, picture):
        """The middle of the picture, pasted over a black one."""
        out, area, paste = Picture(SIDE, SIDE), middle(picture), Area(0, 0, SIDE, SIDE)
        self.finish("acl.media.dvpp_vpc_crop_and_paste_async",
                    acl.media.dvpp_vpc_crop_and_paste_async(
                        self.channel, picture.desc, out.desc, area.config, paste.config,
                        self.session.stream))
        area.free()
        paste.free()
        return out

    def encode(self, picture, level=100):
        """The bytes of a JPEG file."""
        config = acl.media.dvpp_create_jpege_config()
        check("acl.media.dvpp_set_jpege_config_level",
              acl.media.dvpp_set_jpege_config_level(config, level))
        size = checked("acl.media.dvpp_jpeg_predict_enc_size",
                       acl.media.dvpp_jpeg_predict_enc_size(picture.desc, config))
        memory = checked("acl.media.dvpp_malloc", acl.media.dvpp_malloc(size))
        length = np.array([size], np.uint32)
        self.finish("acl.media.dvpp_jpeg_encode_async", acl.media.dvpp_jpeg_encode_async(
            self.channel, picture.desc, memory, acl.util.numpy_to_ptr(length), config,
            self.session.stream))
        file = to_host(memory, int(length[0]))
        check("acl.media.dvpp_free", acl.media.dvpp_free(memory))
        check("acl.media.dvpp_destroy_jpege_config", acl.media.dvpp_destroy_jpege_config(config))
        return file

    def batch(self, width, height, files, count, paste):
        """`count` regions of the pictures `files`, shared out evenly; with `paste` each is put into
        the middle of a black picture of twice the size."""
        source = acl.media.dvpp_create_batch_pic_desc(len(files))
        target = acl.media.dvpp_create_batch_pic_desc(count)
        inputs = [Picture(width, height, file, acl.media.dvpp_get_pic_desc(source, i))
                  for i, file in enumerate(files)]
        side = 2 * SIDE if paste else SIDE
        outputs = [Picture(side, side, desc=acl.media.dvpp_get_pic_desc(target, i))
                   for i in range(count)]
        shares = [count // len(files)] * len(files)
        shares[-1] += count % len(files)
        steps = max(count - 1, 1)
        crops = [Area((width - SIDE) * i // steps // 2 * 2, (height - SIDE) * i // steps // 2 * 2,
                      SIDE, SIDE) for i in range(count)]
        areas = [area.config for area in crops]
        if paste:
            pastes = [Area(SIDE // 2, SIDE // 2, SIDE, SIDE) for _ in range(count)]
            result = acl.media.dvpp_vpc_batch_crop_and_paste_async(
                self.channel, source, shares, target, areas, [p.config for p in pastes],
                self.session.stream)
        else:
            pastes = []
            result = acl.media.dvpp_vpc_batch_crop_async(self.channel, source, shares, target,
                                                         areas, self.session.stream)
        self.finish("acl.media.dvpp_vpc_batch_crop", result[-1])
        found = [out.bytes() for out in outputs]
        for thing in (*inputs, *outputs, *crops, *pastes):
            thing.free()
        for desc in (source, target):
            check("acl.media.dvpp_destroy_batch_pic_desc",
                  acl.media.dvpp_destroy_batch_pic_desc(desc))
        return found

    def release(self):
        check("acl.media.dvpp_destroy_resize_config",
              acl.media.dvpp_destroy_resize_config(self.resize_config))
        check("acl.media.dvpp_destroy_channel", acl.media.dvpp_destroy_channel(self.channel))
        check("acl.media.dvpp_destroy_channel_desc",
              acl.media.dvpp_destroy_channel_desc(self.channel))


def middle(picture):
    if picture.width < SIDE or picture.height < SIDE:
        raise SystemExit(f"the picture is {picture.width}x{picture.height}; a crop of "
                         f"{SIDE}x{SIDE} does not fit into it")
    return Area((picture.width - SIDE) // 4 * 2, (picture.height - SIDE) // 4 * 2, SIDE, SIDE)
