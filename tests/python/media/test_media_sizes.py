# SPDX-License-Identifier: Apache-2.0
"""Sizes that public programs state for decoded pictures: rounded to even numbers or as a chip
aligns them, and other sizes, to which a channel of acl.himpi scales."""
import cv2
import numpy as np
import pytest
import video_files
from media_programs import NV12, download, jpeg_bytes, ok, up, upload
from test_himpi import BUF_EMPTY, H264, JPEG

import acl

himpi = acl.himpi
pytestmark = pytest.mark.usefixtures("system")


def decode_jpeg(data, width, height):
    """As the samples do it: the size by the program's own reckoning, strides of 128 and 16."""
    stream = ok(acl.rt.create_stream())
    channel = acl.media.dvpp_create_channel_desc()
    ok(acl.media.dvpp_create_channel(channel))
    wide, high = up(width, 128), up(height, 16)
    size = wide * high * 3 // 2
    out = ok(acl.media.dvpp_malloc(size))
    desc = acl.media.dvpp_create_pic_desc()
    for name, value in (("data", out), ("size", size), ("format", NV12), ("width", width),
                        ("height", height), ("width_stride", wide), ("height_stride", high)):
        ok(getattr(acl.media, "dvpp_set_pic_desc_" + name)(desc, value))
    file = upload(data)
    queued = acl.media.dvpp_jpeg_decode_async(channel, file, len(data), desc, stream)
    code = queued or acl.rt.synchronize_stream(stream)
    rows = download(out, size).reshape(-1, wide)
    described = (acl.media.dvpp_get_pic_desc_width(desc), acl.media.dvpp_get_pic_desc_height(desc))
    ok(acl.media.dvpp_destroy_pic_desc(desc))
    ok(acl.media.dvpp_free(out))
    ok(acl.media.dvpp_free(file))
    ok(acl.media.dvpp_destroy_channel(channel))
    ok(acl.media.dvpp_destroy_channel_desc(channel))
    ok(acl.rt.destroy_stream(stream))
    return code, described, rows[:height, :width], rows[high:high + -(-height // 2), :width]


@pytest.mark.parametrize("width, height", [(1024, 683), (511, 300), (333, 251)])
def test_a_jpeg_file_is_described_with_even_sides(width, height):
    data = jpeg_bytes(width, height)
    exact = decode_jpeg(data, width, height)
    code, described, luma, chroma = decode_jpeg(data, up(width, 2), up(height, 2))
    assert code == 0 and described == (up(width, 2), up(height, 2))
    assert np.array_equal(luma[:height, :width], exact[2])
    for row in luma[height:]:
        assert np.array_equal(row[:width], exact[2][-1])
    for column in luma.T[width:]:
        assert np.array_equal(column[:height], exact[2][:, -1])
    assert np.array_equal(chroma[:, :width], exact[3])


def test_a_jpeg_file_may_be_described_as_the_chip_aligns_it():
    data = jpeg_bytes(500, 301)
    code, described, luma, _ = decode_jpeg(data, 512, 304)
    assert code == 0 and described == (512, 304)
    assert np.array_equal(luma[301:, :500], np.repeat(luma[300:301, :500], 3, 0))
    assert np.array_equal(luma[:, 500:], np.repeat(luma[:, 499:500], 12, 1))
    assert decode_jpeg(data, 502, 301)[0] != 0
    assert "500x301" in acl.get_recent_err_msg()


def frames_of(chn, packets, output, size):
    """All frames of a decoder channel; `output` describes each picture."""
    ok(himpi.vdec_start_recv_stream(chn))
    for packet in [*packets, b""]:
        stream = {"end_of_frame": 1, "end_of_stream": int(not packet), "need_display": 1,
                  "len": len(packet), "addr": upload(packet) if packet else 0}
        out = dict(output, vir_addr=upload(bytes(size)), buffer_size=size)
        ok(himpi.vdec_send_stream(chn, stream, out, -1))
    got = []
    for _ in packets:
        frame, _, _, ret = himpi.vdec_get_frame(chn, -1)
        ok(ret)
        v = frame["v_frame"]
        got.append((v["frame_flag"], (v["width"], v["height"]), download(v["virt_addr"][0], size)))
        ok(himpi.vdec_release_frame(chn, frame))
    assert himpi.vdec_get_frame(chn, 0)[-1] == BUF_EMPTY["vdec"]
    ok(himpi.vdec_stop_recv_stream(chn))
    ok(himpi.vdec_destroy_chn(chn))
    return got


def channel_of(chn, codec):
    ok(himpi.vdec_create_chn(chn, {"type": codec, "mode": 1, "pic_width": 256, "pic_height": 256,
                                   "stream_buf_size": 1 << 20, "frame_buf_cnt": 16,
                                   "video_attr": {"ref_frame_num": 12}}))


def test_himpi_video_is_scaled_to_the_size_of_the_output():
    data = video_files.make("h264", 128, 96, 3)
    channel_of(2, H264)
    got = frames_of(2, video_files.units("h264", data),
                    {"width": 64, "height": 48, "pixel_format": NV12}, 64 * 48 * 3 // 2)
    for (flag, size, picture), full in zip(got, video_files.decode("h264", data, 128, 96)):
        assert flag == 0 and size == (64, 48)
        wanted = cv2.resize(np.asarray(full)[:128 * 96].reshape(96, 128), (64, 48))
        assert np.abs(picture[:64 * 48].reshape(48, 64).astype(int) - wanted).max() <= 1


@pytest.mark.parametrize("width, height, rows", [(64, 52, "repeated"), (32, 24, "scaled")])
def test_a_himpi_channel_of_jpeg_type_writes_the_size_of_the_output(width, height, rows):
    data = jpeg_bytes(64, 51)
    size = up(width, 16) * height * 3 // 2
    channel_of(2, JPEG)
    (_, _, plain), = frames_of(2, [data], {"pixel_format": NV12, "width_stride": 64,
                                           "height_stride": 52}, 64 * 52 * 3 // 2)
    channel_of(2, JPEG)
    (flag, found, picture), = frames_of(2, [data], {
        "width": width, "height": height, "width_stride": up(width, 16), "height_stride": height,
        "pixel_format": NV12}, size)
    assert flag == 0 and found == (width, height)
    full, luma = plain[:64 * 51].reshape(51, 64), picture[:width * height].reshape(height, width)
    if rows == "repeated":
        assert np.array_equal(luma[:51], full) and np.array_equal(luma[51], full[50])
    else:
        assert np.abs(luma.astype(int) - cv2.resize(full, (width, height))).max() <= 1
