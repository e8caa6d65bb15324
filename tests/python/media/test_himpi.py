# SPDX-License-Identifier: Apache-2.0
"""The second media interface, acl.himpi: pictures, files, video and waiting."""
import io
import select
import threading

import numpy as np
import pytest
import video_files
from media_programs import NV12, RGB, download, jpeg_bytes, nv12_bytes, ok, psnr, rgb_picture
from PIL import Image

import acl

JPEG, H264, H265, PNG = 26, 96, 265, 268
UNKNOWN = 10000
BUF_EMPTY = {"vdec": 0xA005800E, "venc": 0xA008800E, "vpc": 0xA007800E, "pngd": 0xA040800E}
himpi = acl.himpi


def upload(data):
    address = ok(himpi.dvpp_malloc(0, max(len(data), 1)))
    assert address % 128 == 0
    if data:
        ok(acl.rt.memcpy(address, len(data), acl.util.bytes_to_ptr(bytes(data)), len(data), 1))
    return address


def picture(width, height, data=None):
    size = width * height * 3 // 2
    return {"picture_width": width, "picture_height": height, "picture_width_stride": width,
            "picture_height_stride": height, "picture_format": NV12, "picture_buffer_size": size,
            "picture_address": upload(data or bytes(size))}


def pixels(info):
    return download(info["picture_address"], info["picture_buffer_size"])


@pytest.fixture
def vpc(system):
    ok(himpi.vpc_create_chn(0, {"attr": 0, "pic_width": 0, "pic_height": 0}))
    yield 0
    ok(himpi.vpc_destroy_chn(0))


def test_calls_before_the_start_are_refused():
    ok(acl.init())
    ok(acl.rt.set_device(0))
    assert himpi.vpc_create_chn(0, {}) == 0xA0078010
    assert "sys_init" in acl.get_recent_err_msg()
    ok(acl.rt.reset_device(0))
    ok(acl.finalize())


def test_crop_and_resize_with_task_numbers(vpc):
    data = nv12_bytes(64, 48, smooth=False)
    source, half = picture(64, 48, data), picture(32, 24)
    task = ok(himpi.vpc_resize(vpc, source, half, 0, 0, 2, -1))
    ok(himpi.vpc_get_process_result(vpc, task, -1))
    luma = np.frombuffer(data, np.uint8)[:64 * 48].reshape(48, 64)
    assert np.array_equal(pixels(half)[:32 * 24].reshape(24, 32), luma[::2, ::2])
    assert himpi.vpc_get_process_result(vpc, task, 0) == 0xA0078005
    part = picture(32, 24)
    info = {"dest_pic_info": part, "crop_region": {"left_offset": 16, "top_offset": 8,
                                                   "crop_width": 32, "crop_height": 24}}
    task = ok(himpi.vpc_crop(vpc, source, [info], 1, -1))
    thread = threading.Thread(target=lambda: ok(himpi.vpc_get_process_result(vpc, task, -1)))
    thread.start()
    thread.join()
    assert np.array_equal(pixels(part)[:32 * 24].reshape(24, 32), luma[8:32, 16:48])
    with pytest.raises(ValueError, match="expected 2"):
        himpi.vpc_crop(vpc, source, [info], 2, -1)


def test_paste_border_conversion_and_histogram(vpc):
    source = picture(64, 48, nv12_bytes(64, 48))
    target = picture(64, 48, bytes([7]) * (64 * 48 * 3 // 2))
    region = {"dest_pic_info": target, "crop_region": {"crop_width": 32, "crop_height": 24},
              "resize_info": {"resize_width": 16, "resize_height": 16, "interpolation": 0},
              "dest_left_offset": 8, "dest_top_offset": 4}
    ok(himpi.vpc_get_process_result(vpc, ok(himpi.vpc_crop_resize_paste(
        vpc, source, [region], 1, -1)), -1))
    luma = pixels(target)[:64 * 48].reshape(48, 64)
    assert (luma[:4] == 7).all() and not (luma[4:20, 8:24] == 7).all()
    batch = ok(himpi.vpc_batch_crop_resize_paste(vpc, [source, source], 2, [region, region], [1, 1],
                                                 -1))
    ok(himpi.vpc_get_process_result(vpc, batch, -1))
    wide = picture(80, 64)
    border = {"left": 8, "right": 8, "top": 8, "bottom": 8, "border_type": 0,
              "scalar_value": {"val": [9, 0, 0, 0]}}
    ok(himpi.vpc_get_process_result(vpc, ok(himpi.vpc_copy_make_border(vpc, source, wide, border,
                                                                       -1)), -1))
    assert (pixels(wide)[:80 * 8] == 9).all()
    rgb = dict(picture(64, 48), picture_format=RGB, picture_width_stride=192,
               picture_buffer_size=192 * 48, picture_address=upload(bytes(192 * 48)))
    ok(himpi.vpc_get_process_result(vpc, ok(himpi.vpc_convert_color(vpc, source, rgb, -1)), -1))
    assert pixels(rgb).any()
    counts = upload(bytes(3 * 1024))
    ok(himpi.vpc_get_process_result(vpc, ok(himpi.vpc_calc_hist(vpc, source, counts, -1)), -1))
    found = download(counts, 1024).view(np.uint32)
    assert np.array_equal(found, np.bincount(pixels(source)[:64 * 48], minlength=256))


def test_png(system):
    image = rgb_picture(60, 40)
    out = io.BytesIO()
    Image.fromarray(image).save(out, "PNG")
    data = out.getvalue()
    ok(himpi.pngd_create_chn(3, {"stream_que_cnt": 2}))
    stream = {"type": PNG, "addr": upload(data), "len": len(data), "pts": 5}
    for call in (himpi.png_get_image_info, himpi.pngd_get_image_info):
        info = ok(call(stream))
    assert (info["width"], info["height"], info["png_pixel_format"]) == (60, 40, 2)
    assert himpi.pngd_get_image_data(3, 0)[-1] == BUF_EMPTY["pngd"]
    wanted = {"picture_address": upload(bytes(info["img_buf_size"])),
              "picture_buffer_size": info["img_buf_size"], "picture_format": UNKNOWN}
    ok(himpi.pngd_send_stream(3, stream, wanted, 0))
    got, sent, ret = himpi.pngd_get_image_data(3, -1)
    ok(ret)
    assert sent["pts"] == 5 and got["picture_format"] == RGB
    rows = download(got["picture_address"], got["picture_width_stride"] * 40).reshape(40, -1)
    assert np.array_equal(rows[:, :180].reshape(40, 60, 3), image)
    broken = dict(stream, addr=upload(data[:60]), len=60)
    ok(himpi.pngd_send_stream(3, broken, wanted, 0))
    assert himpi.pngd_get_image_data(3, -1)[-1] == 0xA0408003
    ok(himpi.pngd_destroy_chn(3))


def test_jpeg_decoding(system):
    data = jpeg_bytes(100, 60)
    ok(himpi.vdec_create_chn(0, {"type": JPEG, "mode": 1, "pic_width": 100, "pic_height": 60,
                                 "stream_buf_size": 10000, "frame_buf_cnt": 2}))
    param = ok(himpi.vdec_get_chn_param(0))
    param["pic_param"]["pixel_format"] = NV12
    ok(himpi.vdec_set_chn_param(0, param))
    stream = {"end_of_frame": 1, "end_of_stream": 0, "need_display": 1, "pts": 9,
              "len": len(data), "addr": acl.util.bytes_to_ptr(data)}
    info = ok(himpi.dvpp_get_image_info(JPEG, stream))
    assert (info["width"], info["height"], info["pixel_format"]) == (100, 60, 2)
    stream["addr"] = upload(data)
    out = {"width_stride": info["width_stride"], "height_stride": info["height_stride"],
           "pixel_format": UNKNOWN, "buffer_size": info["img_buf_size"],
           "vir_addr": upload(bytes(info["img_buf_size"]))}
    assert himpi.vdec_send_stream(0, stream, out, 0) == 0xA0058009
    ok(himpi.vdec_start_rcv_stream(0))
    ok(himpi.vdec_send_stream(0, stream, out, 0))
    frame, supplement, back, ret = himpi.vdec_get_frame(0, -1)
    ok(ret)
    assert frame["v_frame"]["frame_flag"] == 0 and back["pts"] == frame["v_frame"]["pts"] == 9
    luma = download(frame["v_frame"]["virt_addr"][0], info["width_stride"] * 60)
    image = Image.open(io.BytesIO(data))
    image.draft("YCbCr", image.size)
    rows = luma.reshape(60, -1)[:, :100]
    assert np.array_equal(rows, np.asarray(image)[..., 0])
    ok(himpi.vdec_release_frame(0, frame))
    assert himpi.vdec_release_frame(0, frame) == 0xA0058003
    ok(himpi.vdec_send_stream(0, dict(stream, len=30), out, 0))
    frame, *_, ret = himpi.vdec_get_frame(0, -1)
    assert ret == 0 and frame["v_frame"]["frame_flag"] == 1
    assert himpi.vdec_get_frame(0, 0)[-1] == BUF_EMPTY["vdec"]
    ok(himpi.vdec_stop_rcv_stream(0))
    ok(himpi.vdec_destroy_chn(0))


def decode(codec, packets, width=128, height=96, mode=1, order=0, dec_mode=0, **attr):
    """All pictures and flags of a stream."""
    ok(himpi.vdec_create_chn(1, {"type": codec, "mode": mode, "pic_width": width,
                                 "pic_height": height, "stream_buf_size": 1 << 20,
                                 "frame_buf_cnt": 16, "video_attr": {"ref_frame_num": 12, **attr}}))
    param = ok(himpi.vdec_get_chn_param(1))
    param["video_param"].update(out_order=order, dec_mode=dec_mode)
    param["video_param"]["compress_mode"] = 3
    param["display_frame_num"] = 3
    ok(himpi.vdec_set_chn_param(1, param))
    ok(himpi.vdec_start_recv_stream(1))
    size = 128 * 96 * 3 // 2
    for number, packet in enumerate([*packets, b""]):
        stream = {"end_of_frame": 1, "end_of_stream": int(not packet), "need_display": 1,
                  "pts": number, "len": len(packet), "addr": upload(packet) if packet else 0}
        out = {"width_stride": 128, "height_stride": 96, "pixel_format": NV12,
               "vir_addr": upload(bytes(size)), "buffer_size": size}
        ok(himpi.vdec_send_stream(1, stream, out, -1))
    got = []
    while True:
        frame, _, _, ret = himpi.vdec_get_frame(1, 50)
        if ret != 0:
            assert ret == BUF_EMPTY["vdec"]
            left = ok(himpi.vdec_query_status(1))
            if left["left_stream_frames"] == left["left_decoded_frames"] == 0:
                break
            continue
        v = frame["v_frame"]
        got.append((v["frame_flag"], v["pts"], download(v["virt_addr"][0], size)))
        ok(himpi.vdec_release_frame(1, frame))
    status = ok(himpi.vdec_query_status(1))
    ok(himpi.vdec_stop_recv_stream(1))
    ok(himpi.vdec_destroy_chn(1))
    return got, status


@pytest.mark.parametrize("name, codec", [("h264", H264), ("hevc", H265)])
@pytest.mark.parametrize("mode", [0, 1])
def test_video_is_decoded_as_ffmpeg_does(system, name, codec, mode):
    data = video_files.make(name, 128, 96, 10)
    packets = video_files.units(name, data)
    if mode == 0:
        packets = [data[i * 700:(i + 1) * 700] for i in range(-(-len(data) // 700))]
        packets += [b"\0"] * max(0, 11 - len(packets))
    got, status = decode(codec, packets, mode=mode)
    expected = video_files.decode(name, data, 128, 96)
    assert [flag for flag, *_ in got] == [0] * 10
    assert all(np.array_equal(a, b) for (_, _, a), b in zip(got, expected))
    assert status["dec_stream_frames"] == 10


def test_order_of_decoding_and_flags(system):
    data = video_files.make("h264", 128, 96, 8, ("-bf", "3"))
    packets = video_files.units("h264", data)
    got, _ = decode(H264, packets, order=1)
    assert [pts for _, pts, _ in got] == list(range(8))
    got, _ = decode(H264, packets, ref_frame_num=1)
    assert {flag for flag, *_ in got} == {3}
    got, status = decode(H264, packets, width=64, height=64)
    assert {flag for flag, *_ in got} == {4} and status["dec_err"]["set_pic_size_err"] == 8
    got, _ = decode(H264, [packets[0], bytes(range(256))])
    assert {flag for flag, *_ in got} == {0, 1}
    without_b, key_alone = ([flag for flag, *_ in decode(H264, packets, dec_mode=mode)[0]]
                            for mode in (1, 2))
    assert set(without_b) == {0, 2} and 1 < without_b.count(0) < 8
    assert set(key_alone) == {0, 2} and key_alone.count(0) == 1


def frame_of(data, width=128, height=96, pts=0):
    return {"v_frame": {"width": width, "height": height, "field": 4, "pixel_format": NV12,
                        "width_stride": [width, 0, 0], "height_stride": [0, 0, 0],
                        "virt_addr": [upload(data), 0, 0], "pts": pts},
            "pool_id": 0, "mod_id": 8}


RATE = {"cbr": (1, 11, "bit_rate"), "vbr": (2, 12, "max_bit_rate"), "avbr": (3, 13, "max_bit_rate"),
        "qvbr": (4, 14, "target_bit_rate"), "cvbr": (5, 15, "max_bit_rate"), "fixqp": (6, 16, None)}


def encoder(chn, codec=H264, mode="cbr", gop=5, kbps=1000, gop_attr=None, **more):
    name = "h264" if codec == H264 else "h265"
    number, bits = RATE[mode][codec == H265], RATE[mode][2]
    rate = {"gop": gop, "stats_time": 1, "src_frame_rate": 25, "dst_frame_rate": 25, **more}
    rate.update({bits: kbps} if bits else {})
    return himpi.venc_create_chn(chn, {
        "venc_attr": {"type": codec, "profile": 0, "max_pic_width": 128, "pic_width": 128,
                      "max_pic_height": 96, "pic_height": 96, "buf_size": 2 << 20,
                      "is_by_frame": 1},
        "rc_attr": {"rc_mode": number, f"{name}_{mode}": rate},
        "gop_attr": gop_attr or {"gop_mode": 0, "normal_p": {"ip_qp_delta": 3}}})


def fetch(chn):
    """The next packet, waited for with epoll."""
    fd = himpi.venc_get_fd(chn)
    epoll = ok(himpi.sys_create_epoll(10))
    ok(himpi.sys_ctl_epoll(epoll, 1, fd, {"events": 1, "data": fd}))
    events, count, ret = himpi.sys_wait_epoll(epoll, 3, -1)
    ok(ret)
    assert count == 1 and events == [{"events": 1, "data": fd}]
    ok(himpi.sys_ctl_epoll(epoll, 3, fd, {}))
    ok(himpi.sys_close_epoll(epoll))
    status = ok(himpi.venc_query_status(chn))
    stream = ok(himpi.venc_get_stream(chn, {"pack_cnt": status["cur_packs"]}, -1))
    data = b"".join(download(p["addr"], p["len"]).tobytes() for p in stream["pack"])
    ok(himpi.venc_release_stream(chn, stream))
    return data


def encode(chn, frames):
    ok(himpi.venc_start_chn(chn, {"recv_pic_num": -1}))
    packets = []
    for number, data in enumerate(frames):
        ok(himpi.venc_send_frame(chn, frame_of(data, pts=number), -1))
        packets.append(fetch(chn))
    ok(himpi.venc_stop_chn(chn))
    ok(himpi.venc_destroy_chn(chn))
    return packets


@pytest.mark.parametrize("name, codec", [("h264", H264), ("hevc", H265)])
@pytest.mark.parametrize("mode", list(RATE))
def test_video_is_encoded_with_every_rate_control(system, name, codec, mode):
    more = {"i_qp": 25, "p_qp": 28, "b_qp": 30} if mode == "fixqp" else {}
    ok(encoder(0, codec, mode, **more))
    frames = [nv12_bytes(128, 96, seed) for seed in range(6)]
    packets = encode(0, frames)
    decoded = video_files.decode(name, b"".join(packets), 128, 96)
    assert len(decoded) == 6
    assert all(psnr(np.frombuffer(a, np.uint8), b) > 25 for a, b in zip(frames, decoded))


def test_key_frames_packs_and_select(system):
    ok(encoder(0, gop=100))
    ok(himpi.venc_start_chn(0, {"recv_pic_num": -1}))
    fd = himpi.venc_get_fd(0)
    assert select.select([fd], [], [], 0)[0] == []
    ok(himpi.venc_send_frame(0, frame_of(nv12_bytes(128, 96)), -1))
    assert select.select([fd], [], [])[0] == [fd]
    assert himpi.venc_get_stream(0, {"pack_cnt": 0}, 0)[-1] == 0xA0088003
    stream = ok(himpi.venc_get_stream(0, {"pack_cnt": 1}, 0))
    kinds = [info["pack_type"]["h264_type"] for info in stream["pack"][0]["pack_info"]]
    assert {7, 8, 5} <= set(kinds[:stream["pack"][0]["data_num"]])
    ok(himpi.venc_release_stream(0, stream))
    assert himpi.venc_release_stream(0, stream) == 0xA0088003
    assert himpi.venc_get_stream(0, {"pack_cnt": 1}, 0)[-1] == BUF_EMPTY["venc"]
    ok(himpi.venc_send_frame(0, frame_of(nv12_bytes(128, 96, 1)), -1))
    assert fetch(0)[4] & 31 == 1
    ok(himpi.venc_request_idr(0, 1))
    ok(himpi.venc_send_frame(0, frame_of(nv12_bytes(128, 96, 2)), -1))
    assert fetch(0)[4] & 31 == 7
    ok(himpi.venc_destroy_chn(0))


def test_settings_are_kept_and_change_the_stream(system):
    frames = [nv12_bytes(128, 96, seed, smooth=False) for seed in range(3)]
    ok(encoder(0))
    plain = encode(0, frames)
    ok(encoder(0))
    rc = ok(himpi.venc_get_rc_param(0))
    rc["h264_cbr_param"].update(min_qp=45, max_qp=51)
    ok(himpi.venc_set_rc_param(0, rc))
    assert ok(himpi.venc_get_rc_param(0))["h264_cbr_param"]["min_qp"] == 45
    rc["h264_cbr_param"]["max_qp"] = 60
    assert himpi.venc_set_rc_param(0, rc) == 0xA0088003
    coarse = encode(0, frames)
    assert sum(map(len, coarse)) < sum(map(len, plain))
    ok(encoder(0))
    ok(himpi.venc_set_slice_split(0, {"split_enable": 1, "split_size": 2}))
    assert encode(0, frames[:1])[0].count(b"\0\0\1") > plain[0].count(b"\0\0\1")
    ok(encoder(0))
    ok(himpi.venc_set_scene_mode(0, 1))
    assert ok(himpi.venc_get_scene_mode(0)) == 1
    encode(0, frames[:1])
    param = ok(himpi.venc_get_mod_param({"mod_type": 3}))
    param["h265_mod_param"]["one_stream_buf"] = 1
    ok(himpi.venc_set_mod_param(param))
    assert ok(himpi.venc_get_mod_param({"mod_type": 3}))["h265_mod_param"]["one_stream_buf"] == 1


def jpeg_encoder(chn, buffer):
    ok(himpi.venc_create_chn(chn, {"venc_attr": {
        "type": JPEG, "pic_width": 128, "pic_height": 96, "max_pic_width": 128,
        "max_pic_height": 96, "buf_size": buffer, "is_by_frame": 1}}))
    ok(himpi.venc_start_chn(chn, {"recv_pic_num": -1}))


def test_jpeg_encoding_in_memory_of_the_channel_or_of_the_program(system):
    data = nv12_bytes(128, 96)
    luma = np.frombuffer(data, np.uint8)[:128 * 96].reshape(96, 128)
    jpeg_encoder(2, 1 << 20)
    sizes = []
    for quality in (100, 10):
        param = ok(himpi.venc_get_jpeg_param(2))
        param["qfactor"] = quality
        ok(himpi.venc_set_jpeg_param(2, param))
        ok(himpi.venc_send_frame(2, frame_of(data), -1))
        sizes.append(len(fetch(2)))
    assert sizes[0] > sizes[1]
    param["y_qt"] = [1] * 64
    ok(himpi.venc_set_jpeg_param(2, param))
    ok(himpi.venc_send_frame(2, frame_of(data), -1))
    image = Image.open(io.BytesIO(fetch(2)))
    assert image.quantization[0] == [1] * 64
    ok(himpi.venc_destroy_chn(2))
    jpeg_encoder(2, 0)
    frame = frame_of(data)
    size = ok(himpi.venc_get_jpege_predicted_size(frame, ok(himpi.venc_get_jpeg_param(2))))
    out = upload(bytes(size))
    assert himpi.venc_send_frame(2, frame, -1) == 0xA0088009
    ok(himpi.venc_send_jpege_frame(2, frame, {"addr": out, "len": size}, -1))
    written = fetch(2)
    assert download(out, len(written)).tobytes() == written and b"\xff\xfe" in written
    image = Image.open(io.BytesIO(written))
    image.draft("YCbCr", image.size)
    assert psnr(np.asarray(image)[..., 0], luma) > 30
    ok(himpi.venc_destroy_chn(2))


def test_a_buffer_that_is_not_released_stops_the_encoder(system):
    ok(encoder(0))
    ok(himpi.venc_destroy_chn(0))
    jpeg_encoder(2, 3000)
    for _ in range(2):
        himpi.venc_send_frame(2, frame_of(nv12_bytes(128, 96, smooth=False)), 1000)
    assert himpi.venc_send_frame(2, frame_of(nv12_bytes(128, 96)), 10) == 0xA008800F
    assert "release" in acl.get_recent_err_msg()
    fetch(2)
    ok(himpi.venc_destroy_chn(2))


def test_channels_are_numbered_by_the_program(system):
    assert himpi.vpc_create_chn(512, {}) == 0xA0078002
    ok(himpi.vpc_create_chn(5, {}))
    assert himpi.vpc_create_chn(5, {}) == 0xA0078004
    assert himpi.vpc_destroy_chn(6) == 0xA0078005
    ok(himpi.vpc_destroy_chn(5))
    assert himpi.vdec_get_tmv_buf_size(H264, 1920, 1080) > 0
    assert himpi.vdec_get_pic_buf_size(H264, [1920, 1080, 0, 8, 1, 0]) == 1920 * 1080 * 3 // 2
