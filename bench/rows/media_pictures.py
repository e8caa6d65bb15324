# SPDX-License-Identifier: Apache-2.0
"""Pictures of 1080p: JPEG decoding against libjpeg-turbo itself, crop and resize against OpenCV."""

import ctypes
import io
import os
import time

import cv2
import numpy as np
from harness import ratio_of
from PIL import Image

import acl

W, H, SIDE = 1920, 1080, 224
SIZE = W * H * 3 // 2


def timed(call):
    begin = time.perf_counter_ns()
    call()
    return time.perf_counter_ns() - begin


def picture(data, width, height):
    size = width * height * 3 // 2
    address = acl.media.dvpp_malloc(size)[0]
    if data:
        acl.rt.memcpy(address, size, acl.util.bytes_to_ptr(data), size, 1)
    desc = acl.media.dvpp_create_pic_desc()
    for name, value in (("data", address), ("size", size), ("format", 1), ("width", width),
                        ("height", height), ("width_stride", width), ("height_stride", height)):
        assert getattr(acl.media, "dvpp_set_pic_desc_" + name)(desc, value) == 0
    return desc


def rows(report):
    cv2.setNumThreads(1)
    y, x = np.mgrid[0:H, 0:W]
    image = np.stack([128 + 100 * np.sin(x / 9), 128 + 90 * np.cos(y / 13), (x + y) % 256], -1)
    noise = np.random.RandomState(1).randint(0, 16, image.shape)
    out = io.BytesIO()
    Image.fromarray((image + noise).clip(0, 255).astype(np.uint8)).save(out, "JPEG", quality=90)
    file = out.getvalue()
    assert acl.init() == 0 and acl.rt.set_device(0) == 0
    stream = acl.rt.create_stream()[0]
    channel = acl.media.dvpp_create_channel_desc()
    assert acl.media.dvpp_create_channel(channel) == 0
    memory = acl.media.dvpp_malloc(len(file))[0]
    acl.rt.memcpy(memory, len(file), acl.util.bytes_to_ptr(file), len(file), 1)
    full = picture(None, W, H)

    def decode():
        acl.media.dvpp_jpeg_decode_async(channel, memory, len(file), full, stream)
        assert acl.rt.synchronize_stream(stream) == 0

    path = os.path.join(report.build, "bench", "libanynpu_bench_jpeg.so")
    if os.path.exists(path):
        direct = ctypes.CDLL(path).bench_jpeg_decode
        direct.restype = ctypes.c_double
        times = ratio_of(lambda: timed(decode), lambda: direct(file, ctypes.c_ulong(len(file))))
        report.add("JPEG 1080p to NV12 / libjpeg-turbo to planes", 1.05, "x", times,
                   "one thread each; ours also interleaves chroma")

    small = picture(None, SIDE, SIDE)
    config = acl.media.dvpp_create_resize_config()
    acl.media.dvpp_set_resize_config_interpolation(config, 1)
    area = acl.media.dvpp_create_roi_config(0, W - 1, 0, H - 1)
    data = np.random.RandomState(2).randint(0, 256, SIZE, np.uint8)
    luma = data[:W * H].reshape(H, W)
    chroma = data[W * H:].reshape(H // 2, W // 2, 2)

    def ours():
        acl.media.dvpp_vpc_crop_resize_async(channel, full, small, area, config, stream)
        assert acl.rt.synchronize_stream(stream) == 0

    def opencv():
        cv2.resize(luma, (SIDE, SIDE), interpolation=cv2.INTER_LINEAR)
        cv2.resize(chroma, (SIDE // 2, SIDE // 2), interpolation=cv2.INTER_LINEAR)

    report.add("1080p NV12 cropped and scaled to 224x224 / OpenCV's resize", 1.0, "x",
               ratio_of(lambda: timed(ours), lambda: timed(opencv)),
               "both planes, bilinear; OpenCV on one thread")
    acl.media.dvpp_destroy_channel(channel)
    acl.rt.destroy_stream(stream)
    acl.rt.reset_device(0)
    acl.finalize()
