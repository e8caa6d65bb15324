# SPDX-License-Identifier: Apache-2.0
"""Settings of encoders of acl.himpi: each one that docs/media.md lists changes the stream."""
import subprocess

import numpy as np
import pytest
import video_files
from media_programs import nv12_bytes, ok, psnr
from test_himpi import H264, H265, encode, encoder, fetch, frame_of

import acl

himpi = acl.himpi
W, H = 128, 96
CODECS = [("h264", H264), ("hevc", H265)]


def noise(count, seed=0):
    return [nv12_bytes(W, H, seed + i, smooth=False) for i in range(count)]


def changed(getter, setter, change):
    """Reads a group of parameters of channel 0, changes it and writes it back."""
    values = ok(getter(0))
    change(values)
    ok(setter(0, values))


def key(name, codec, mode="cbr"):
    return f"{'h264' if codec == H264 else 'h265'}_{mode}_{name}"


def test_the_first_frame_starts_with_its_qp(system):
    sizes = {}
    for qp in (20, 45):
        ok(encoder(0, H264, gop=10, kbps=4000))
        changed(himpi.venc_get_rc_param, himpi.venc_set_rc_param,
                lambda rc, qp=qp: rc.update(first_frame_start_qp=qp))
        sizes[qp] = len(encode(0, [nv12_bytes(W, H)])[0])
    assert sizes[20] > 1.5 * sizes[45], sizes


@pytest.mark.parametrize("name, codec", CODECS)
def test_a_region_of_interest_is_finer_than_the_rest(system, name, codec):
    source = noise(1)
    found = {}
    for delta in (0, -20):
        ok(encoder(0, codec, kbps=2000))
        ok(himpi.venc_set_roi_attr(0, {"idx": 1, "enable": int(delta != 0), "is_abs_qp": 0,
                                       "qp": delta, "rect": {"x": 0, "y": 0, "width": 64,
                                                             "height": 64}}))
        assert ok(himpi.venc_get_roi_attr(0, 1))["qp"] == delta
        frame = video_files.decode(name, encode(0, source)[0], W, H)[0]
        luma = frame[:W * H].reshape(H, W)
        wanted = np.frombuffer(source[0], np.uint8)[:W * H].reshape(H, W)
        found[delta] = psnr(luma[:64, :64], wanted[:64, :64]), psnr(luma[64:], wanted[64:])
    gain = {delta: inside - outside for delta, (inside, outside) in found.items()}
    assert gain[-20] > gain[0] + 4, found


def test_regions_are_checked(system):
    ok(encoder(0))
    region = {"idx": 0, "enable": 1, "is_abs_qp": 0, "qp": -5,
              "rect": {"x": 100, "y": 0, "width": 64, "height": 64}}
    assert himpi.venc_set_roi_attr(0, region) != 0
    assert "lies at 100,0" in acl.get_recent_err_msg()
    region.update(is_abs_qp=1, rect={"x": 0, "y": 0, "width": 64, "height": 64})
    assert himpi.venc_set_roi_attr(0, region) != 0
    assert "FIXQP" in acl.get_recent_err_msg()
    ok(himpi.venc_destroy_chn(0))


@pytest.mark.parametrize("name, codec", CODECS)
def test_the_proportion_of_i_frames_bounds_them(system, name, codec):
    sizes = {}
    for most in (1, 100):
        ok(encoder(0, codec, gop=10, kbps=600))
        changed(himpi.venc_get_rc_param, himpi.venc_set_rc_param,
                lambda rc, most=most: rc[key("param", codec)].update(max_i_proportion=most))
        packets = encode(0, noise(20))
        sizes[most] = len(packets[10]) / np.mean([len(p) for p in packets[11:]])
    assert sizes[1] < sizes[100], sizes


@pytest.mark.parametrize("name, codec", CODECS)
def test_grey_pictures_have_no_colour(system, name, codec):
    ok(encoder(0, codec))
    changed(himpi.venc_get_chn_param, himpi.venc_set_chn_param,
            lambda chn: chn.update(color_to_grey_en=1))
    frame = video_files.decode(name, encode(0, [nv12_bytes(W, H)])[0], W, H)[0]
    assert np.abs(frame[W * H:].astype(int) - 128).max() <= 1
    assert frame[:W * H].std() > 20


@pytest.mark.parametrize("name, codec", CODECS)
def test_the_stream_says_what_its_colours_are(system, name, codec):
    ok(encoder(0, codec))
    vui = "h264" if codec == H264 else "h265"
    changed(getattr(himpi, f"venc_get_{vui}_vui"), getattr(himpi, f"venc_set_{vui}_vui"),
            lambda values: (values["vui_video_signal"].update(
                video_signal_type_present_flag=1, video_format=5, video_full_range_flag=1,
                colour_description_present_flag=1, colour_primaries=1,
                transfer_characteristics=1, matrix_coefficients=1),
                values["vui_aspect_ratio"].update(aspect_ratio_info_present_flag=1,
                                                  aspect_ratio_idc=255, sar_width=4,
                                                  sar_height=3)))
    data = encode(0, [nv12_bytes(W, H)])[0]
    told = subprocess.run([video_files.FFMPEG, "-hide_banner", "-f", name, "-i", "-", "-f", "null",
                           "-"], input=data, stderr=subprocess.PIPE).stderr.decode()
    assert "bt709" in told and "pc" in told and "SAR 4:3" in told, told


def test_fewer_frames_go_out_than_come_in(system):
    ok(encoder(0, src_frame_rate=30, dst_frame_rate=10))
    ok(himpi.venc_start_chn(0, {"recv_pic_num": -1}))
    for number in range(30):
        ok(himpi.venc_send_frame(0, frame_of(nv12_bytes(W, H, number), pts=number), -1))
    count = 0
    while count < 10:
        fetch(0)
        count += 1
    assert himpi.venc_get_stream(0, {"pack_cnt": 1}, 100)[-1] != 0, "one of three"
    ok(himpi.venc_destroy_chn(0))


def test_b_frames_that_wait_come_out_when_the_channel_stops(system):
    ok(encoder(0, gop=12, gop_attr={"gop_mode": 4, "bipred_b": {"b_frame_num": 2,
                                                               "ip_qp_delta": 2}}))
    ok(himpi.venc_start_chn(0, {"recv_pic_num": -1}))
    for number in range(8):
        ok(himpi.venc_send_frame(0, frame_of(nv12_bytes(W, H, number), pts=number), -1))
    ok(himpi.venc_stop_chn(0))
    data = b"".join(fetch(0) for _ in range(8))
    ok(himpi.venc_destroy_chn(0))
    assert len(video_files.decode("h264", data, W, H)) == 8


@pytest.mark.parametrize("setter, group, word", [
    ("venc_set_chn_param", {"crop_info": {"enable": 1}}, "crop_info"),
    ("venc_set_rc_param", {"first_frame_start_qp": 60}, "first_frame_start_qp is 60"),
])
def test_what_cannot_be_is_refused(system, setter, group, word):
    ok(encoder(0))
    values = ok(getattr(himpi, setter.replace("set", "get", 1))(0))
    values.update(group)
    assert getattr(himpi, setter)(0, values) != 0
    assert word in acl.get_recent_err_msg()
    ok(himpi.venc_destroy_chn(0))
    assert encoder(0, gop_attr={"gop_mode": 2}) != 0
    assert "GOP mode is 2" in acl.get_recent_err_msg()


# How much of the asked rate a mode may take, least and most; docs/media.md has its reading of QVBR.
SHARE = {"cbr": (0.9, 1.1), "vbr": (0, 1.03), "qvbr": (0, 1.55), "avbr": (0, 1.03),
         "cvbr": (0, 1.03)}


@pytest.mark.parametrize("mode, codec", [*((mode, H264) for mode in SHARE), ("cbr", H265),
                                         ("vbr", H265), ("qvbr", H265)])
def test_a_rate_is_kept_over_ten_seconds(system, mode, codec):
    ok(encoder(0, codec, mode, gop=25, kbps=400))
    total = sum(map(len, encode(0, noise(10) * 25)))
    least, most = SHARE[mode]
    assert least <= total * 8 / 10 / 1000 / 400 <= most
