# SPDX-License-Identifier: Apache-2.0
"""Pictures of 1080p: JPEG against libjpeg-turbo itself, crop and resize against OpenCV, a batch of
crops against single ones."""

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


def picture(data, width, height, desc=None):
    size = width * height * 3 // 2
    address = acl.media.dvpp_malloc(size)[0]
    if data:
        acl.rt.memcpy(address, size, acl.util.bytes_to_ptr(data), size, 1)
    desc = desc or acl.media.dvpp_create_pic_desc()
    for name, value in (("data", address), ("size", size), ("format", 1), ("width", width),
                        ("height", height), ("width_stride", width), ("height_stride", height)):
        assert getattr(acl.media, "dvpp_set_pic_desc_" + name)(desc, value) == 0
    return desc


def drawn_jpeg():
    y, x = np.mgrid[0:H, 0:W]
    image = np.stack([128 + 100 * np.sin(x / 9), 128 + 90 * np.cos(y / 13), (x + y) % 256], -1)
    noise = np.random.RandomState(1).randint(0, 16, image.shape)
    out = io.BytesIO()
    Image.fromarray((image + noise).clip(0, 255).astype(np.uint8)).save(out, "JPEG", quality=90)
    return out.getvalue()


def jpeg_rows(report, channel, stream, full):
    """Leaves the decoded picture in `full`."""
    file = drawn_jpeg()
    memory = acl.media.dvpp_malloc(len(file))[0]
    acl.rt.memcpy(memory, len(file), acl.util.bytes_to_ptr(file), len(file), 1)

    def decode():
        acl.media.dvpp_jpeg_decode_async(channel, memory, len(file), full, stream)
        assert acl.rt.synchronize_stream(stream) == 0

    decode()
    path = os.path.join(report.build, "bench", "libanynpu_bench_jpeg.so")
    if not os.path.exists(path):
        report.skip("JPEG against libjpeg-turbo", path + " is not built")
        return
    direct = ctypes.CDLL(path)
    for call in (direct.bench_jpeg_decode, direct.bench_jpeg_encode):
        call.restype = ctypes.c_double
    size = ctypes.c_ulong(len(file))
    report.add("JPEG 1080p to NV12 / libjpeg-turbo to planes", 1.05, "x",
               ratio_of(lambda: timed(decode), lambda: direct.bench_jpeg_decode(file, size)),
               "one thread each; ours also interleaves chroma")

    config = acl.media.dvpp_create_jpege_config()
    acl.media.dvpp_set_jpege_config_level(config, 90)
    room = acl.media.dvpp_jpeg_predict_enc_size(full, config)[0]
    out = acl.media.dvpp_malloc(room)[0]
    length = np.zeros(1, np.uint32)

    def encode():
        length[0] = room
        acl.media.dvpp_jpeg_encode_async(channel, full, out, acl.util.numpy_to_ptr(length), config,
                                         stream)
        assert acl.rt.synchronize_stream(stream) == 0

    nv12 = bytes(SIZE)
    acl.rt.memcpy(acl.util.bytes_to_ptr(nv12), SIZE, acl.media.dvpp_get_pic_desc_data(full), SIZE,
                  2)
    pairs = np.frombuffer(nv12, np.uint8)[W * H:].reshape(-1, 2)
    planes = nv12[:W * H] + pairs[:, 0].tobytes() + pairs[:, 1].tobytes()
    report.add("NV12 1080p to JPEG / libjpeg-turbo from planes", 1.05, "x",
               ratio_of(lambda: timed(encode),
                        lambda: direct.bench_jpeg_encode(planes, W, H, 90)),
               "quality 90, one thread each; ours also takes chroma apart")


def batch_row(report, channel, full):
    """64 crops of 224x224: one call, against single calls over two streams."""
    count = 64
    streams = [acl.rt.create_stream()[0] for _ in range(2)]
    source = acl.media.dvpp_create_batch_pic_desc(1)
    target = acl.media.dvpp_create_batch_pic_desc(count)
    picture(None, W, H, acl.media.dvpp_get_pic_desc(source, 0))
    outputs = [picture(None, SIDE, SIDE, acl.media.dvpp_get_pic_desc(target, i))
               for i in range(count)]
    areas = [acl.media.dvpp_create_roi_config(x, x + SIDE - 1, y, y + SIDE - 1)
             for i in range(count) for x, y in [(i % 8 * 208, i // 8 * 106)]]

    def batch():
        acl.media.dvpp_vpc_batch_crop_async(channel, source, [count], target, areas, streams[0])
        assert acl.rt.synchronize_stream(streams[0]) == 0

    def single():
        for i in range(count):
            acl.media.dvpp_vpc_crop_async(channel, full, outputs[i], areas[i], streams[i % 2])
        for stream in streams:
            assert acl.rt.synchronize_stream(stream) == 0

    report.add("64 crops of 224x224 in one batch / 64 calls over two streams", 1.11, "x",
               ratio_of(lambda: timed(batch), lambda: timed(single)))
    for stream in streams:
        acl.rt.destroy_stream(stream)


def rows(report):
    cv2.setNumThreads(1)
    assert acl.init() == 0 and acl.rt.set_device(0) == 0
    stream = acl.rt.create_stream()[0]
    channel = acl.media.dvpp_create_channel_desc()
    assert acl.media.dvpp_create_channel(channel) == 0
    full = picture(None, W, H)
    jpeg_rows(report, channel, stream, full)
    batch_row(report, channel, full)

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
