# SPDX-License-Identifier: Apache-2.0
"""Tables 5-2 and 5-3 of the guide: each setting that is not listed as without effect changes the
stream, which stays one that ffmpeg reads."""
import numpy as np
import pytest
import video_files
from media_programs import nv12_bytes, ok
from test_himpi import H264, H265, encode, encoder, jpeg_encoder
from test_himpi import fetch as fetch_packet
from test_himpi import frame_of as frame
from video_channels import key_frames

import acl

himpi = acl.himpi
pytestmark = pytest.mark.usefixtures("system")
CODECS = [("h264", H264), ("hevc", H265)]


def pictures():
    """Detail that moves, and another scene after eight pictures."""
    random = np.random.RandomState(4)
    still = np.frombuffer(nv12_bytes(128, 96), np.uint8).reshape(144, 128) // 2
    noise = random.randint(0, 60, (144, 128)).astype(np.uint8)
    return [(np.roll(still if n < 8 else 255 - still[::-1], 3 * n, 1) // 2
             + np.roll(noise, 5 * n, 1)).astype(np.uint8).tobytes() for n in range(16)]


def stream(codec, mode="cbr", group=None, change=None, count=16, **settings):
    ok(encoder(0, codec, mode, **{"gop": 8, "kbps": 300, **settings}))
    if group == "scene":
        ok(himpi.venc_set_scene_mode(0, change))
    elif group:
        values = ok(getattr(himpi, "venc_get_" + group)(0))
        change(values)
        ok(getattr(himpi, "venc_set_" + group)(0, values))
    ok(himpi.venc_start_chn(0, {"recv_pic_num": -1}))
    for number, data in enumerate(pictures()):
        ok(himpi.venc_send_frame(0, frame(data, pts=number), -1))
    ok(himpi.venc_stop_chn(0))
    packets = [fetch_packet(0) for _ in range(count)]
    ok(himpi.venc_destroy_chn(0))
    return packets


def threshold(name):
    return lambda rc: rc.update({name: [8] * 16})


CHANGES = {
    "rate control": {"mode": "vbr"},
    "constant QP": {"mode": "fixqp", "i_qp": 30, "p_qp": 32, "b_qp": 32},
    "key frame interval": {"gop": 4},
    "bit rate": {"kbps": 150},
    "frame rate": {"src_frame_rate": 25, "dst_frame_rate": 24, "count": 15},
    "stats_time": {"stats_time": 4},
    "threshold_i": {"group": "rc_param", "change": threshold("threshold_i")},
    "threshold_p": {"group": "rc_param", "change": threshold("threshold_p")},
    "scene mode": {"group": "scene", "change": 1},
    "difference of I and P frames": {"gop_attr": {"gop_mode": 0, "normal_p": {"ip_qp_delta": 8}}},
    "B frames": {"gop_attr": {"gop_mode": 4, "bipred_b": {"b_frame_num": 2, "ip_qp_delta": 3}}},
}


@pytest.mark.parametrize("name, codec", CODECS)
@pytest.mark.parametrize("what", list(CHANGES))
def test_a_setting_of_the_tables_changes_the_stream(name, codec, what):
    changed = stream(codec, **CHANGES[what])
    assert changed != stream(codec)
    assert len(video_files.decode(name, b"".join(changed), 128, 96)) == len(changed)


def test_a_change_of_scene_may_be_a_key_frame():
    def detect(rc):
        rc["scene_chg_detect"].update(detect_scene_chg_en=1, adapt_insert_idr_frame_en=1)

    plain = stream(H264, gop=100, kbps=2000)
    detected = stream(H264, group="rc_param", change=detect, gop=100, kbps=2000)
    keys = [key_frames("h264", [(None, packet) for packet in packets])
            for packets in (plain, detected)]
    assert keys == [[0], [0, 8]]


def test_profiles_are_those_asked_for():
    for profile, number in ((0, 66), (1, 77), (2, 100)):
        ok(himpi.venc_create_chn(0, {
            "venc_attr": {"type": H264, "profile": profile, "pic_width": 128, "pic_height": 96,
                          "max_pic_width": 128, "max_pic_height": 96, "buf_size": 1 << 20,
                          "is_by_frame": 1},
            "rc_attr": {"rc_mode": 1, "h264_cbr": {"gop": 8, "stats_time": 1, "src_frame_rate": 25,
                                                   "dst_frame_rate": 25, "bit_rate": 500}},
            "gop_attr": {"gop_mode": 0, "normal_p": {"ip_qp_delta": 3}}}))
        packet = encode(0, pictures()[:1])[0]
        assert packet[packet.index(b"\0\0\1\x67") + 4] == number


def test_jpeg_files_restart_as_often_as_asked():
    jpeg_encoder(2, 1 << 20)
    param = ok(himpi.venc_get_jpeg_param(2))
    param["mcu_per_ecs"] = 8  # a row of blocks
    ok(himpi.venc_set_jpeg_param(2, param))
    ok(himpi.venc_send_frame(2, frame(nv12_bytes(128, 96)), -1))
    data = fetch_packet(2)
    assert b"\xff\xdd\x00\x04\x00\x08" in data
    assert sum(data.count(bytes([0xff, 0xd0 + i])) for i in range(8)) == 5, "between six rows"
    ok(himpi.venc_destroy_chn(2))
