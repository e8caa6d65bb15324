# SPDX-License-Identifier: Apache-2.0
"""Rules that all units share (guide 5.3.1, 5.3.2, 5.4.1): conversion and scaling wherever formats
or sizes differ, memory around pictures, memory that is gone, chips that lack a unit."""
import os

import cv2
import numpy as np
import program
import pytest
import video_files
from build_tree import SUPPORT
from media_programs import NV12, RGB, Picture, jpeg_bytes, nv12_bytes, ok, upload
from video_channels import Decoder, Encoder, report_thread

import acl

media = acl.media
COLOUR = (100, 90, 160)  # Y, U, V


def region(left, top, right, bottom):
    return media.dvpp_create_roi_config(left, right - 1, top, bottom - 1)


CALLS = {
    "resize": lambda c, a, b, s: media.dvpp_vpc_resize_async(c, a, b, resizing(), s),
    "crop": lambda c, a, b, s: media.dvpp_vpc_crop_async(c, a, b, region(8, 8, 40, 32), s),
    "crop_resize": lambda c, a, b, s: media.dvpp_vpc_crop_resize_async(
        c, a, b, region(8, 8, 40, 32), resizing(), s),
    "crop_and_paste": lambda c, a, b, s: media.dvpp_vpc_crop_and_paste_async(
        c, a, b, region(8, 8, 40, 32), region(0, 0, 32, 24), s),
    "crop_resize_paste": lambda c, a, b, s: media.dvpp_vpc_crop_resize_paste_async(
        c, a, b, region(8, 8, 40, 32), region(0, 0, 32, 24), resizing(), s),
}


def resizing(interpolation=0):
    config = media.dvpp_create_resize_config()
    ok(media.dvpp_set_resize_config_interpolation(config, interpolation))
    return config


@pytest.mark.parametrize("call", list(CALLS))
def test_a_call_converts_when_formats_differ(channel, stream, call):
    y, u, v = COLOUR
    data = bytes([y]) * (64 * 48) + bytes([u, v]) * (64 * 48 // 4)
    source, target = Picture(NV12, 64, 48, data), Picture(RGB, 32, 24)
    ok(CALLS[call](channel, source.desc, target.desc, stream))
    ok(acl.rt.synchronize_stream(stream))
    wanted = np.array([y + 1.402 * (v - 128), y - 0.344136 * (u - 128) - 0.714136 * (v - 128),
                       y + 1.772 * (u - 128)])
    assert np.abs(target.planes()[0] - wanted).max() <= 1


def test_a_region_that_differs_from_the_output_or_the_paste_area_is_scaled(channel, stream):
    source = Picture(NV12, 64, 48, nv12_bytes(64, 48, smooth=False))
    luma = source.planes()[0]
    whole, pasted = Picture(NV12, 64, 48), Picture(NV12, 64, 48, fill=7)
    ok(media.dvpp_vpc_crop_async(channel, source.desc, whole.desc, region(16, 8, 48, 32), stream))
    ok(media.dvpp_vpc_crop_and_paste_async(channel, source.desc, pasted.desc,
                                           region(16, 8, 48, 32), region(4, 6, 20, 18), stream))
    ok(acl.rt.synchronize_stream(stream))
    doubled, halved = (cv2.resize(luma[8:32, 16:48], size) for size in ((64, 48), (16, 12)))
    assert np.abs(whole.planes()[0].astype(int) - doubled).max() <= 1, "bilinear by default"
    got = pasted.planes()[0]
    assert np.abs(got[6:18, 4:20].astype(int) - halved).max() <= 1, "half as large"
    got = got.copy()
    got[6:18, 4:20] = 7
    assert (got == 7).all(), "and the rest as it was"


def test_convert_color_needs_equal_sizes(channel, stream):
    source, target = Picture(NV12, 64, 48), Picture(RGB, 32, 24)
    assert media.dvpp_vpc_convert_color_async(channel, source.desc, target.desc, stream) != 0
    message = acl.get_recent_err_msg()
    assert "64x48" in message and "32x24" in message


def wide_picture(fill=0xEE):
    """64x48 of NV12 in rows of 128 bytes and 64 rows."""
    address = upload(bytes([fill]) * (128 * 96))
    desc = media.dvpp_create_pic_desc()
    for name, value in (("data", address), ("size", 128 * 96), ("format", NV12), ("width", 64),
                        ("height", 48), ("width_stride", 128), ("height_stride", 64)):
        ok(getattr(media, "dvpp_set_pic_desc_" + name)(desc, value))
    return address, desc


def padding(address):
    rows = np.frombuffer(acl.util.ptr_to_bytes(address, 128 * 96), np.uint8).reshape(96, 128)
    return np.concatenate([rows[:48, 64:].ravel(), rows[48:64].ravel(), rows[64:88, 64:].ravel(),
                           rows[88:].ravel()])


def test_bytes_around_an_output_are_left_as_they_were(channel, stream):
    source = Picture(NV12, 32, 24, nv12_bytes(32, 24))
    address, desc = wide_picture()
    ok(media.dvpp_vpc_resize_async(channel, source.desc, desc, resizing(1), stream))
    ok(acl.rt.synchronize_stream(stream))
    assert (padding(address) == 0xEE).all()


def test_memory_that_was_freed_is_refused(channel, stream):
    source, target = Picture(NV12, 64, 48), Picture(NV12, 32, 24)
    ok(media.dvpp_free(source.address))
    assert media.dvpp_vpc_resize_async(channel, source.desc, target.desc, resizing(), stream) != 0
    assert "input" in acl.get_recent_err_msg()
    file = jpeg_bytes(64, 48)
    address = upload(file)
    ok(media.dvpp_free(address))
    assert media.dvpp_jpeg_decode_async(channel, address, len(file), target.desc, stream) != 0


def test_memory_freed_while_its_work_waits_is_kept_for_it(channel):
    from held_stream import HeldStream
    source = Picture(NV12, 64, 48, nv12_bytes(64, 48, smooth=False))
    wanted = source.planes()[0][::2, ::2].copy()
    target, held = Picture(NV12, 32, 24), HeldStream()
    with held:
        ok(media.dvpp_vpc_resize_async(channel, source.desc, target.desc, resizing(2), held.handle))
        ok(media.dvpp_free(source.address))
    assert np.array_equal(target.planes()[0], wanted)


def test_frames_of_another_codec_fail_and_the_channel_goes_on():
    good = {codec: video_files.units(codec, video_files.make(codec, 128, 96, 2, options))
            for codec, options in (("h264", ("-bf", "0")),
                                   ("hevc", ("-x265-params", "bframes=0:log-level=none")))}
    with report_thread() as reporter:
        for codec, other in (("h264", "hevc"), ("hevc", "h264")):
            decoder = Decoder(reporter, codec)
            for packet in [*good[other], jpeg_bytes(128, 96)]:
                ok(decoder.send(packet, "wrong"))
            ok(decoder.send(good[codec][0], "right"))
            results = decoder.close()
            assert [(user, code) for user, code, *_ in results] == [("wrong", 1)] * 3 + [
                ("right", 0)]
            assert all("0x" in message for user, _, _, message in results if user == "wrong")


def test_a_decoder_writes_nv12_unless_told_otherwise(device_0):
    desc = media.vdec_create_channel_desc()
    assert media.vdec_get_channel_desc_out_pic_format(desc) == NV12
    ok(media.vdec_destroy_channel_desc(desc))


def test_packets_lie_in_the_programs_buffer_when_they_fit():
    with report_thread() as reporter:
        for room, inside in ((1 << 20, True), (16, False)):
            buffer, places = ok(media.dvpp_malloc(room)), []

            def callback(picture, packet, user_data, places=places):
                places.append(media.dvpp_get_stream_desc_data(packet))

            encoder = Encoder(reporter, callback=callback, buf_addr=buffer, buf_size=room)
            ok(encoder.send(nv12_bytes(128, 96)))
            encoder.close()
            assert [place == buffer for place in places] == [inside]
            ok(media.dvpp_free(buffer))


CHIPS = """
import acl
acl.init(), acl.rt.set_device(0)
media, himpi = acl.media, acl.himpi
desc = media.venc_create_channel_desc()
for number, value in {0: 1, 1: print, 2: 1, 3: 2, 4: 128, 5: 96, 6: 10}.items():
    assert media.venc_set_channel_desc_param(desc, number, value) == 0
print(media.venc_create_channel(desc), acl.get_recent_err_msg().count("CHIP"))
code = himpi.sys_init() or himpi.vpc_create_chn(0, {"attr": 0})
print(code, acl.get_recent_err_msg().count("CHIP"))
"""


@pytest.mark.parametrize("chip, codes", [
    ("Ascend910", [200006, 200006]), ("Ascend310", [None, 200006]), ("Ascend910B1", [200006, 0]),
    ("Ascend310P3", [None, 0])])
def test_what_a_chip_lacks_is_200006_with_its_name(chip, codes):
    words = program.run(CHIPS.replace("CHIP", chip), ANYNPU_SOC=chip)
    for code, count, wanted in zip(words[::2], words[1::2], codes):
        if wanted == 200006:
            assert (int(code), int(count) > 0) == (200006, True)
        else:
            assert int(code) != 200006, "the chip has it"


PROGRESSIVE = """
import acl
from media_programs import NV12, Picture, jpeg_bytes, ok, upload
ok(acl.init()), ok(acl.rt.set_device(0))
stream, desc = ok(acl.rt.create_stream()), acl.media.dvpp_create_channel_desc()
ok(acl.media.dvpp_create_channel(desc))
data = jpeg_bytes(64, 48, progressive=WHETHER)
picture = Picture(NV12, 64, 48)
ok(acl.media.dvpp_jpeg_decode_async(desc, upload(data), len(data), picture.desc, stream))
ok(acl.rt.synchronize_stream(stream))
"""


@pytest.mark.parametrize("whether", [False, True])
def test_the_log_notes_progressive_files_which_some_chips_refuse(whether):
    words = program.run(PROGRESSIVE.replace("WHETHER", str(whether)),
                        PYTHONPATH=f"{SUPPORT}:{os.environ['PYTHONPATH']}",
                        ASCEND_SLOG_PRINT_TO_STDOUT="1", ASCEND_GLOBAL_LOG_LEVEL="1")
    assert ("progressive;" in words) == whether
