# SPDX-License-Identifier: Apache-2.0
"""Damaged files and streams: a code, never a crash, and the channel goes on working."""
import io
import time

import numpy as np
import pytest
import video_files
from media_programs import NV12, RGB, jpeg_bytes, ok, rgb_picture
from PIL import Image

import acl

himpi = acl.himpi
JPEG, H264, H265, PNG, UNKNOWN = 26, 96, 265, 268, 10000
ROUNDS = 60


def damaged(data, random):
    """Bytes changed, cut out, repeated or cut off."""
    data = bytearray(data)
    for _ in range(random.randint(1, 6)):
        at, kind = random.randint(0, len(data)), random.randint(0, 4)
        if kind == 0:
            data[at] = random.randint(0, 256)
        elif kind == 1:
            del data[at:at + random.randint(1, 64)]
        elif kind == 2:
            data[at:at] = data[at:at + random.randint(1, 64)]
        else:
            data = data[:max(at, 8)]
        if len(data) < 8:
            break
    return bytes(data) or b"\0"


class Memory:
    """Input blocks that stay as they are until their picture came back, and one output block."""

    def __init__(self, room=1 << 20):
        self.room, self.inputs = room, []
        self.output = ok(himpi.dvpp_malloc(0, room))

    def put(self, data):
        self.inputs.append(ok(himpi.dvpp_malloc(0, len(data))))
        ok(acl.rt.memcpy(self.inputs[-1], len(data), acl.util.bytes_to_ptr(data), len(data), 1))
        return self.inputs[-1]

    def free(self):
        for block in [*self.inputs, self.output]:
            ok(himpi.dvpp_free(block))


def decode(chn, memory, data, end=0):
    stream = {"end_of_frame": 1, "end_of_stream": end, "need_display": 1, "len": len(data),
              "addr": memory.put(data) if data else 0}
    out = {"pixel_format": NV12, "vir_addr": memory.output, "buffer_size": memory.room}
    ok(himpi.vdec_send_stream(chn, stream, out, -1))


def flags(chn, count):
    """Of the next `count` pictures, after which nothing is left."""
    found = []
    for _ in range(count):
        frame, _, _, ret = himpi.vdec_get_frame(chn, -1)
        ok(ret)
        found.append(frame["v_frame"]["frame_flag"])
        ok(himpi.vdec_release_frame(chn, frame))
    while (left := ok(himpi.vdec_query_status(chn)))["left_stream_frames"]:
        time.sleep(0.001)
    assert left["left_decoded_frames"] == 0
    return found


@pytest.mark.parametrize("options", [{}, {"progressive": True}, {"grey": True}])
def test_damaged_jpeg_files(system, options):
    random, memory = np.random.RandomState(1), Memory()
    good = jpeg_bytes(96, 64, **options)
    ok(himpi.vdec_create_chn(0, {"type": JPEG, "mode": 1}))
    ok(himpi.vdec_start_recv_stream(0))
    for _ in range(ROUNDS):
        decode(0, memory, damaged(good, random))
        flags(0, 1)
    decode(0, memory, good)
    assert flags(0, 1) == [0]
    ok(himpi.vdec_destroy_chn(0))
    memory.free()


def test_damaged_png_files(system):
    random, memory = np.random.RandomState(2), Memory()
    out = io.BytesIO()
    Image.fromarray(rgb_picture(96, 64)).save(out, "PNG")
    good = out.getvalue()
    ok(himpi.pngd_create_chn(0, {}))
    wanted = {"picture_address": memory.output, "picture_buffer_size": memory.room,
              "picture_format": RGB}
    failed = 0
    for data in [damaged(good, random) for _ in range(ROUNDS)] + [good]:
        stream = {"type": PNG, "addr": memory.put(data), "len": len(data)}
        ok(himpi.pngd_send_stream(0, stream, wanted, -1))
        ret = himpi.pngd_get_image_data(0, -1)[-1]
        failed += ret != 0
    assert ret == 0 and failed > ROUNDS // 2
    ok(himpi.pngd_destroy_chn(0))
    memory.free()


@pytest.mark.parametrize("name, codec", [("h264", H264), ("hevc", H265)])
def test_damaged_video(system, name, codec):
    random, memory = np.random.RandomState(3), Memory()
    packets = video_files.units(name, video_files.make(name, 128, 96, 10))
    ok(himpi.vdec_create_chn(0, {"type": codec, "mode": 1}))
    ok(himpi.vdec_start_recv_stream(0))
    sent = 0
    for _ in range(ROUNDS // 10):
        for packet in packets:
            decode(0, memory, damaged(packet, random))
            sent += 1
    decode(0, memory, b"", end=1)
    flags(0, sent)
    for packet in packets:
        decode(0, memory, packet)
    decode(0, memory, b"", end=1)
    assert flags(0, 10) == [0] * 10
    ok(himpi.vdec_destroy_chn(0))
    memory.free()
