# SPDX-License-Identifier: Apache-2.0
"""Functions of acl.himpi that the other files leave out: regions with borders, conversions, tables,
settings of decoders, descriptors, single frames with wishes of their own."""
import io
import select
import threading

import cv2
import numpy as np
import pytest
import video_files
from media_programs import NV12, NV21, RGB, RGBA, download, jpeg_bytes, nv12_bytes, ok
from PIL import Image
from test_himpi import (  # noqa: F401  (fixtures among them)
    H264,
    H265,
    JPEG,
    encoder,
    fetch,
    frame_of,
    jpeg_encoder,
    picture,
    pixels,
    upload,
    vpc,
)
from video_channels import key_frames

import acl

himpi = acl.himpi
pytestmark = pytest.mark.usefixtures("system")


def run(chn, call, *arguments):
    ok(himpi.vpc_get_process_result(chn, ok(call(chn, *arguments, -1)), -1))


def luma(info):
    width, height = info["picture_width"], info["picture_height"]
    return pixels(info)[:width * height].reshape(height, width)


def scaled(source, left, top, width, height, size):
    part = luma(source)[top:top + height, left:left + width]
    return cv2.resize(part, size, interpolation=cv2.INTER_LINEAR)


def near(got, wanted):
    return np.abs(got.astype(int) - wanted.astype(int)).max() <= 1


REGION = {"crop_region": {"left_offset": 16, "top_offset": 8, "crop_width": 32, "crop_height": 24},
          "resize_info": {"resize_width": 48, "resize_height": 40, "interpolation": 0}}


def test_a_region_is_cropped_and_scaled(vpc):  # noqa: F811
    source, target = picture(64, 48, nv12_bytes(64, 48, smooth=False)), picture(48, 40)
    run(vpc, himpi.vpc_crop_resize, source, [dict(REGION, dest_pic_info=target)], 1)
    assert near(luma(target), scaled(source, 16, 8, 32, 24, (48, 40)))


@pytest.mark.parametrize("batch", [False, True])
def test_a_scaled_region_gets_a_border(vpc, batch):  # noqa: F811
    source, target = picture(64, 48, nv12_bytes(64, 48, smooth=False)), picture(64, 48)
    info = dict(REGION, dest_pic_info=target, dest_left_offset=8, dest_top_offset=4, border_type=0,
                scalar_value={"val": [30, 128, 128, 0]})
    if batch:
        run(vpc, himpi.vpc_batch_crop_resize_make_border, [source], 1, [info], [1])
    else:
        run(vpc, himpi.vpc_crop_resize_make_border, source, [info], 1)
    inside = scaled(source, 16, 8, 32, 24, (48, 40))
    wanted = cv2.copyMakeBorder(inside, 4, 4, 8, 8, cv2.BORDER_CONSTANT, value=30)
    assert near(luma(target), wanted)


def test_conversions_to_yuv420_and_with_an_alpha(vpc):  # noqa: F811
    source = picture(64, 48, nv12_bytes(64, 48))
    target = dict(picture(64, 48), picture_format=NV21)
    run(vpc, himpi.vpc_convert_color_to_yuv420, source, target)
    assert np.array_equal(pixels(target)[64 * 48::2], pixels(source)[64 * 48 + 1::2])
    assert himpi.vpc_convert_color_to_yuv420(vpc, source, dict(target, picture_format=RGB),
                                             -1)[-1] == 0xA0078003
    size = 64 * 4 * 48
    rgba = dict(target, picture_format=RGBA, picture_width_stride=256, picture_buffer_size=size,
                picture_address=upload(bytes(size)))
    run(vpc, himpi.vpc_convert_color_v2, source, rgba, {"alpha": 77})
    assert (pixels(rgba).reshape(-1, 4)[:, 3] == 77).all()


def test_counts_and_tables_of_values(vpc):  # noqa: F811
    source, target = picture(64, 48, nv12_bytes(64, 48, smooth=False)), picture(64, 48)
    counts = upload(bytes(3 * 1024))
    run(vpc, himpi.vpc_calc_hist_v2, source, counts)
    found = download(counts, 1024).view(np.uint32)
    assert np.array_equal(found, np.bincount(luma(source).ravel(), minlength=256))
    table = {"map_value_y_or_r": [255 - i for i in range(256)],
             "map_value_u_or_g": list(range(256)), "map_value_v_or_b": [9] * 256}
    run(vpc, himpi.vpc_equalize_hist, source, target, table)
    assert np.array_equal(luma(target), 255 - luma(source))
    assert np.array_equal(pixels(target)[64 * 48::2], pixels(source)[64 * 48::2])
    assert (pixels(target)[64 * 48 + 1::2] == 9).all()


def slow_task(chn):
    source, target = picture(2048, 1024), picture(4096, 2048)
    return ok(himpi.vpc_resize(chn, source, target, 0, 0, 5, -1))


def test_a_result_is_waited_for_as_long_as_asked(vpc):  # noqa: F811
    for wait in (0, 1):
        task = slow_task(vpc)
        while (code := himpi.vpc_get_process_result(vpc, task, wait)) == 0:
            task = slow_task(vpc)  # it was done before this thread came to ask
        assert code == 0xA007800E
        ok(himpi.vpc_get_process_result(vpc, task, 300000))


def test_of_two_threads_that_wait_for_one_result_one_gets_it(vpc):  # noqa: F811
    task, codes = slow_task(vpc), []
    threads = [threading.Thread(target=lambda: codes.append(
        himpi.vpc_get_process_result(vpc, task, -1))) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(codes) == [0, 0xA0078005]


def test_a_channel_with_a_number_of_the_systems_choice_and_the_version():
    first, second = (ok(himpi.vpc_sys_create_chn({"attr": 0})) for _ in range(2))
    assert first != second
    source, target = picture(64, 48, nv12_bytes(64, 48)), picture(32, 24)
    run(second, himpi.vpc_resize, source, target, 0, 0, 1)
    assert np.array_equal(luma(target), luma(source)[::2, ::2])
    for chn in (first, second):
        ok(himpi.vpc_destroy_chn(chn))
    major, minor, patch = ok(himpi.dvpp_get_version())
    assert major >= 1 and minor >= 0 and patch >= 0


ATTR = {"type": H264, "mode": 1, "pic_width": 128, "pic_height": 96, "stream_buf_size": 1 << 20,
        "frame_buf_cnt": 16, "video_attr": {"ref_frame_num": 12}}
SIZE = 128 * 96 * 3 // 2


def send(chn, packet, out=None):
    stream = {"end_of_frame": 1, "end_of_stream": int(not packet), "need_display": 1,
              "len": len(packet), "addr": upload(packet) if packet else 0}
    ok(himpi.vdec_send_stream(chn, stream, {"width_stride": 128, "height_stride": 96,
                                            "pixel_format": NV12, "buffer_size": SIZE,
                                            "vir_addr": out or upload(bytes(SIZE))}, -1))


def flag(chn):
    frame, *_, ret = himpi.vdec_get_frame(chn, -1)
    ok(ret)
    ok(himpi.vdec_release_frame(chn, frame))
    return frame["v_frame"]["frame_flag"]


def test_attributes_of_a_decoder_take_effect_while_it_is_stopped():
    packet = video_files.units("h264", video_files.make("h264", 128, 96, 1, ("-bf", "0")))[0]
    ok(himpi.vdec_create_chn(1, dict(ATTR, pic_width=64, pic_height=64)))
    ok(himpi.vdec_start_recv_stream(1))
    send(1, packet)
    assert flag(1) == 4, "larger than the channel"
    attr = ok(himpi.vdec_get_chn_attr(1))
    assert (attr["pic_width"], attr["video_attr"]["ref_frame_num"]) == (64, 12)
    attr.update(pic_width=128, pic_height=96)
    assert himpi.vdec_set_chn_attr(1, attr) == 0xA0058009
    assert "stop" in acl.get_recent_err_msg()
    ok(himpi.vdec_stop_recv_stream(1))
    assert himpi.vdec_set_chn_attr(1, dict(attr, type=H265)) == 0xA0058009
    ok(himpi.vdec_set_chn_attr(1, attr))
    ok(himpi.vdec_start_recv_stream(1))
    send(1, packet)
    assert flag(1) == 0
    ok(himpi.vdec_destroy_chn(1))


def test_a_decoder_is_waited_for_by_its_descriptor_and_reset():
    packet = video_files.units("h264", video_files.make("h264", 128, 96, 1, ("-bf", "0")))[0]
    ok(himpi.vdec_create_chn(1, ATTR))
    fd = himpi.vdec_get_fd(1)
    assert select.select([fd], [], [], 0)[0] == []
    ok(himpi.vdec_start_recv_stream(1))
    send(1, packet)
    send(1, b"")
    assert select.select([fd], [], [])[0] == [fd]
    assert himpi.vdec_reset_chn(1) == 0xA0058009, "it still receives"
    ok(himpi.vdec_stop_recv_stream(1))
    ok(himpi.vdec_reset_chn(1))
    assert select.select([fd], [], [], 0)[0] == [], "what was decoded is gone"
    assert ok(himpi.vdec_query_status(1))["left_decoded_frames"] == 0
    ok(himpi.vdec_start_recv_stream(1))
    send(1, packet)
    assert flag(1) == 0, "and it decodes again"
    ok(himpi.vdec_close_fd(1))
    ok(himpi.vdec_destroy_chn(1))


def test_settings_of_decoders_are_kept():
    ok(himpi.vdec_create_chn(1, ATTR))
    ok(himpi.vdec_set_display_mode(1, 1))
    assert ok(himpi.vdec_get_display_mode(1)) == 1
    assert himpi.vdec_set_display_mode(1, 2) == 0xA0058003
    protocol = ok(himpi.vdec_get_protocol_param(1))
    protocol["h264_param"]["max_slice_num"] = 20
    ok(himpi.vdec_set_protocol_param(1, protocol))
    assert ok(himpi.vdec_get_protocol_param(1))["h264_param"]["max_slice_num"] == 20
    assert himpi.vdec_set_jpegd_precision_mode(1, 0) == 0xA0058009, "the channel decodes video"
    ok(himpi.vdec_destroy_chn(1))
    ok(himpi.vdec_create_chn(1, dict(ATTR, type=JPEG)))
    ok(himpi.vdec_set_jpegd_precision_mode(1, 1))
    assert himpi.vdec_set_jpegd_precision_mode(1, 3) == 0xA0058003
    ok(himpi.vdec_destroy_chn(1))


def test_what_a_jpeg_file_will_take_in_another_format():
    data = jpeg_bytes(100, 60)
    stream = {"len": len(data), "addr": upload(data)}
    info = ok(himpi.vdec_get_jpegd_output_info(stream, RGB))
    assert (info["width"], info["height"], info["img_pixel_format"]) == (100, 60, RGB)
    assert info["img_buf_size"] >= info["width_stride"] * 60 and info["width_stride"] >= 300


def test_attributes_and_descriptors_of_an_encoder():
    ok(encoder(0, gop=50))
    attr = ok(himpi.venc_get_chn_attr(0))
    assert attr["rc_attr"]["h264_cbr"]["gop"] == 50
    attr["rc_attr"]["h264_cbr"]["gop"] = 2
    ok(himpi.venc_set_chn_attr(0, attr))
    ok(himpi.venc_start_chn(0, {"recv_pic_num": -1}))
    heads = []
    for number in range(4):
        ok(himpi.venc_send_frame(0, frame_of(nv12_bytes(128, 96, number)), -1))
        heads.append(fetch(0)[4] & 31)
    assert heads == [7, 1, 7, 1], "a key frame every second time"
    ok(himpi.venc_close_fd(0))
    ok(himpi.venc_destroy_chn(0))
    assert himpi.venc_get_qpmap_stride(1920) == 128
    assert himpi.venc_get_qpmap_size(H264, 1920, 1080) == 128 * 68


def test_a_single_frame_may_be_wished_to_be_a_key_frame():
    ok(encoder(0, gop=100))
    ok(himpi.venc_start_chn(0, {"recv_pic_num": -1}))
    for number in range(3):
        frame = {"user_frame": frame_of(nv12_bytes(128, 96, number)),
                 "user_rc_info": {"frame_type": 2 if number == 2 else 1}}
        ok(himpi.venc_send_frame_ex(0, frame, -1))
    heads = [fetch(0)[4] & 31 for _ in range(3)]
    assert heads == [7, 1, 7], "that frame, although others were on their way"
    frame["user_rc_info"]["frame_type"] = 3
    assert himpi.venc_send_frame_ex(0, frame, -1) == 200006
    assert "frame_type is 3" in acl.get_recent_err_msg()
    frame["user_rc_info"].update(frame_type=1, qp_map_valid=1)
    assert himpi.venc_send_frame_ex(0, frame, -1) == 200006
    assert "maps of QP" in acl.get_recent_err_msg()
    ok(himpi.venc_destroy_chn(0))


@pytest.mark.parametrize("name, codec", [("h264", H264), ("hevc", H265)])
def test_intra_refresh_takes_the_place_of_key_frames(name, codec):
    keys = {}
    for on in (0, 1):
        ok(encoder(0, codec, gop=6, kbps=400))
        refresh = ok(himpi.venc_get_intra_refresh(0))
        refresh["refresh_enable"] = on
        ok(himpi.venc_set_intra_refresh(0, refresh))
        ok(himpi.venc_start_chn(0, {"recv_pic_num": -1}))
        packets = []
        for _ in range(14):
            ok(himpi.venc_send_frame(0, frame_of(nv12_bytes(128, 96, 0)), -1))
            packets.append((None, fetch(0)))
        ok(himpi.venc_destroy_chn(0))
        keys[on] = key_frames(name, packets)
        assert len(video_files.decode(name, b"".join(p for _, p in packets), 128, 96)) == 14
    assert keys == {0: [0, 6, 12], 1: [0]}


def test_huffman_tables_are_those_of_the_program():
    """A table in which every code has eight bits, as Pillow finds it in the file."""
    jpeg_encoder(2, 1 << 20)
    tables = ok(himpi.venc_get_jpeg_huffman_param(2))
    values = ([run << 4 | size for run in range(16) for size in range(1, 11)] + [0x00, 0xF0])
    for table in tables["ac_tables"]:
        table["ac_bits"] = [0] * 7 + [162] + [0] * 8
        table["ac_value"] = values
    ok(himpi.venc_set_jpeg_huffman_param(2, tables))
    ok(himpi.venc_send_frame(2, frame_of(nv12_bytes(128, 96)), -1))
    data = fetch(2)
    assert bytes([0] * 7 + [162] + [0] * 8) + bytes(values) in data
    assert Image.open(io.BytesIO(data)).convert("L").size == (128, 96)
    for kind in (0, 1):
        ok(himpi.venc_compact_jpeg_tables(2, kind, 1))
    ok(himpi.venc_destroy_chn(2))


@pytest.mark.parametrize("sampling, layout", [("4:2:0", NV12), ("4:2:2", 3), ("4:4:4", 5)])
def test_a_jpeg_file_keeps_its_format_when_none_is_named(sampling, layout):
    data = jpeg_bytes(64, 48, sampling)
    ok(himpi.vdec_create_chn(1, dict(ATTR, type=JPEG)))
    ok(himpi.vdec_start_recv_stream(1))
    assert ok(himpi.vdec_get_chn_param(1))["pic_param"]["pixel_format"] == 10000, "UNKNOWN"
    ok(himpi.vdec_send_stream(1, {"len": len(data), "addr": upload(data), "end_of_frame": 1,
                                  "need_display": 1},
                              {"pixel_format": 10000, "buffer_size": 1 << 16,
                               "vir_addr": upload(bytes(1 << 16))}, -1))
    frame, *_, ret = himpi.vdec_get_frame(1, -1)
    ok(ret)
    assert (frame["v_frame"]["frame_flag"], frame["v_frame"]["pixel_format"]) == (0, layout)
    ok(himpi.vdec_release_frame(1, frame))
    ok(himpi.vdec_destroy_chn(1))


def test_a_jpeg_file_gets_the_alpha_of_the_channel():
    data = jpeg_bytes(64, 48, "4:4:4")
    ok(himpi.vdec_create_chn(1, dict(ATTR, type=JPEG)))
    param = ok(himpi.vdec_get_chn_param(1))
    param["pic_param"].update(pixel_format=RGBA, alpha=300)
    assert himpi.vdec_set_chn_param(1, param) == 0xA0058003
    param["pic_param"]["alpha"] = 77
    ok(himpi.vdec_set_chn_param(1, param))
    ok(himpi.vdec_start_recv_stream(1))
    out = upload(bytes(64 * 4 * 48))
    ok(himpi.vdec_send_stream(1, {"len": len(data), "addr": upload(data), "end_of_frame": 1,
                                  "need_display": 1},
                              {"pixel_format": 10000, "buffer_size": 64 * 4 * 48, "vir_addr": out,
                               "width_stride": 256, "height_stride": 48}, -1))
    assert flag(1) == 0
    got = download(out, 64 * 4 * 48).reshape(48, 64, 4)
    assert (got[..., 3] == 77).all()
    wanted = np.asarray(Image.open(io.BytesIO(data)).convert("RGB")).astype(int)
    assert np.abs(got[..., :3] - wanted).max() <= 2
    ok(himpi.vdec_destroy_chn(1))
