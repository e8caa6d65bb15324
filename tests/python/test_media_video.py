# SPDX-License-Identifier: Apache-2.0
"""Video of acl.media: decoding against ffmpeg, encoding read back by ffmpeg, callbacks."""
import threading

import numpy as np
import pytest
import video_files
from media_programs import NV12, NV21, RGB, download, nv12_bytes, ok, psnr, upload

import acl

H265, H264 = 0, 2
ENTYPE = {"h264": H264, "hevc": H265}


@pytest.fixture
def ready():
    ok(acl.init())
    ok(acl.rt.set_device(0))
    yield
    ok(acl.rt.reset_device(0))
    ok(acl.finalize())


@pytest.fixture
def reporter(ready):
    """The thread that callbacks run in."""
    context = ok(acl.rt.get_context())
    running = threading.Event()
    running.set()

    def work(_):
        acl.rt.set_context(context)
        while running.is_set():
            acl.rt.process_report(50)

    thread = ok(acl.util.start_thread(work, []))
    yield thread
    running.clear()
    ok(acl.util.stop_thread(thread))


class Decoder:
    """A channel, and what its callback got."""

    def __init__(self, reporter, codec="h264", out_format=NV12, **settings):
        self.results, self.out_format = [], out_format
        self.desc = acl.media.vdec_create_channel_desc()
        settings = {"channel_id": 1, "thread_id": reporter, "callback": self.callback,
                    "entype": ENTYPE[codec], "out_pic_format": out_format, **settings}
        for name, value in settings.items():
            ok(getattr(acl.media, "vdec_set_channel_desc_" + name)(self.desc, value))
        ok(acl.media.vdec_create_channel(self.desc))
        self.config = acl.media.vdec_create_frame_config()

    def callback(self, packet, picture, user_data):
        code = acl.media.dvpp_get_pic_desc_ret_code(picture) if picture else None
        message = acl.get_recent_err_msg() if code else ""
        data = None
        if picture:
            size = [getattr(acl.media, "dvpp_get_pic_desc_" + n)(picture)
                    for n in ("width", "height", "width_stride", "height_stride")]
            if code == 0 and size[0]:
                data = self.crop(acl.media.dvpp_get_pic_desc_data(picture), *size)
            ok(acl.media.dvpp_free(acl.media.dvpp_get_pic_desc_data(picture)))
            ok(acl.media.dvpp_destroy_pic_desc(picture))
        ok(acl.media.dvpp_destroy_stream_desc(packet))
        self.results.append((user_data, code, data, message))

    def crop(self, address, width, height, wstride, hstride):
        if self.out_format == RGB:
            raw = download(address, wstride * hstride).reshape(hstride, wstride)
            return raw[:height, :width * 3].reshape(height, width, 3)
        raw = download(address, wstride * hstride * 3 // 2).reshape(-1, wstride)
        return np.concatenate([raw[:height, :width].ravel(),
                               raw[hstride:hstride + height // 2, :width].ravel()])

    def send(self, data, user_data=None, size=1 << 20, skip=False, eos=False):
        packet = acl.media.dvpp_create_stream_desc()
        if data:
            ok(acl.media.dvpp_set_stream_desc_data(packet, upload(data)))
        ok(acl.media.dvpp_set_stream_desc_size(packet, len(data)))
        ok(acl.media.dvpp_set_stream_desc_eos(packet, int(eos)))
        if skip:
            return acl.media.vdec_send_skipped_frame(self.desc, packet, self.config, user_data)
        picture = acl.media.dvpp_create_pic_desc()
        ok(acl.media.dvpp_set_pic_desc_data(picture, ok(acl.media.dvpp_malloc(size))))
        ok(acl.media.dvpp_set_pic_desc_size(picture, size))
        ok(acl.media.dvpp_set_pic_desc_format(picture, self.out_format))
        return acl.media.vdec_send_frame(self.desc, packet, picture, self.config, user_data)

    def close(self):
        ok(acl.media.vdec_destroy_channel(self.desc))
        ok(acl.media.vdec_destroy_channel_desc(self.desc))
        ok(acl.media.vdec_destroy_frame_config(self.config))
        return self.results


STREAMS = {
    "no B frames": ("h264", 128, 96, ("-bf", "0")),
    "B frames": ("h264", 128, 96, ("-bf", "3", "-g", "6")),
    "slices": ("h264", 128, 96, ("-x264-params", "slices=4:bframes=0")),
    "odd size": ("h264", 130, 98, ("-bf", "2")),
    "four references": ("h264", 128, 96, ("-refs", "4",)),
    "interlaced": ("h264", 128, 96, ("-x264-params", "interlaced=1:bframes=0")),
    "baseline": ("h264", 128, 96, ("-profile:v", "baseline")),
    "hevc": ("hevc", 128, 96, ()),
    "hevc without B frames": ("hevc", 128, 96, ("-x265-params", "bframes=0:log-level=none")),
}


@pytest.mark.parametrize("name", list(STREAMS))
def test_decoded_pictures_are_those_of_ffmpeg(reporter, name):
    codec, width, height, options = STREAMS[name]
    data = video_files.make(codec, width, height, 10, options)
    decoder = Decoder(reporter, codec)
    packets = video_files.units(codec, data)
    for number, packet in enumerate(packets):
        ok(decoder.send(packet, number))
    results = decoder.close()
    assert len(results) == len(packets)
    expected = video_files.decode(codec, data, width, height)
    got = [data for _, code, data, _ in results if code == 0]
    assert len(got) == len(expected)
    for picture, wanted in zip(got, expected):
        assert np.array_equal(picture, wanted)
    assert sorted(number for number, *_ in results) == list(range(len(packets)))


def test_other_output_formats(reporter):
    data = video_files.make("h264", 128, 96, 2, ("-bf", "0"))
    expected = video_files.decode("h264", data, 128, 96)
    packets = video_files.units("h264", data)
    swapped = Decoder(reporter, out_format=NV21)
    ok(swapped.send(packets[0]))
    picture = swapped.close()[0][2]
    chroma = picture[128 * 96:].reshape(-1, 2)[:, ::-1].ravel()
    assert np.array_equal(chroma, expected[0][128 * 96:])
    coloured = Decoder(reporter, out_format=RGB)
    ok(coloured.send(packets[0]))
    picture = coloured.close()[0][2]
    y = (expected[0][:128 * 96].reshape(96, 128).astype(float) - 16) * 255 / 219
    v = expected[0][128 * 96:].reshape(48, 64, 2)[..., 1].repeat(2, 0).repeat(2, 1) - 128.0
    red = (y + 1.402 * 255 / 224 * v).clip(0, 255)
    assert np.abs(picture[..., 0] - red).max() <= 1


def test_skipped_frames_have_no_picture(reporter):
    packets = video_files.units("h264", video_files.make("h264", 128, 96, 4, ("-bf", "0")))
    decoder = Decoder(reporter)
    ok(decoder.send(packets[0], "first"))
    ok(decoder.send(packets[1], "second", skip=True))
    ok(decoder.send(packets[2], "third"))
    results = decoder.close()
    assert [(user, code) for user, code, *_ in results] == [("first", 0), ("second", None),
                                                            ("third", 0)]


def test_end_of_stream_brings_everything_out(reporter):
    data = video_files.make("h264", 128, 96, 8, ("-bf", "3"))
    decoder = Decoder(reporter)
    for packet in video_files.units("h264", data):
        ok(decoder.send(packet, "frame"))
    ok(decoder.send(b"", "end", eos=True))
    results = decoder.close()
    assert [r[0] for r in results] == ["frame"] * 8 + ["end"]
    assert all(r[1] == 0 for r in results)


@pytest.mark.parametrize("what, code", [("first", "0x10008"), ("twice", "0x10008"),
                                        ("garbage", "0x"), ("small output", "0x4"),
                                        ("references", "0x20001"), ("size", "0x20002")])
def test_failures_are_1_with_the_detailed_code_in_the_message(reporter, what, code):
    data = video_files.make("h264", 128, 96, 4, ("-bf", "0", "-refs", "4"))
    packets = video_files.units("h264", data)
    settings = {"references": {"ref_frame_num": 1}, "size": {"out_pic_width": 64,
                                                            "out_pic_height": 64}}.get(what, {})
    decoder = Decoder(reporter, **settings)
    if what == "garbage":
        ok(decoder.send(bytes(np.random.RandomState(5).randint(0, 256, 2000, np.uint8))))
    elif what == "small output":
        ok(decoder.send(packets[0], size=100))
    elif what in ("references", "size"):
        for packet in packets:
            ok(decoder.send(packet))
    else:
        if what == "twice":
            ok(decoder.send(packets[0]))
            ok(decoder.send(b"", eos=True))
        ok(decoder.send(b"", eos=True))
    results = decoder.close()
    assert results[-1][1] == 1 and code in results[-1][3], results[-1]
    again = Decoder(reporter)
    ok(again.send(packets[0]))
    assert again.close()[0][1] == 0


def test_injected_faults(reporter, monkeypatch):
    monkeypatch.setenv("ANYNPU_VDEC_FAULT", "0x10002@1")
    packets = video_files.units("h264", video_files.make("h264", 128, 96, 4, ("-bf", "0")))
    decoder = Decoder(reporter)
    for packet in packets[:2]:
        ok(decoder.send(packet))
    results = decoder.close()
    assert results[0][1] == 0 and results[1][1] == 1
    assert "0x10002 (ERR_HARDWARE)" in results[1][3]


def test_there_are_at_most_sixteen_decoders(reporter):
    decoders = [Decoder(reporter) for _ in range(16)]
    with pytest.raises(AssertionError, match="0x10010"):
        Decoder(reporter)
    for decoder in decoders:
        decoder.close()
    Decoder(reporter).close()


class Encoder:
    def __init__(self, reporter, codec="h264", width=128, height=96, gop=5, by_number=False,
                 **settings):
        self.packets, self.width, self.height = [], width, height
        self.desc = acl.media.venc_create_channel_desc()
        if by_number:
            numbers = {0: reporter, 1: self.callback, 2: NV12, 3: ENTYPE[codec], 4: width,
                       5: height, 6: gop, **settings.get("numbers", {})}
            for number, value in numbers.items():
                ok(acl.media.venc_set_channel_desc_param(self.desc, number, value))
                assert ok(acl.media.venc_get_channel_desc_param(self.desc, number)) == value
        else:
            settings = {"thread_id": reporter, "callback": self.callback, "entype": ENTYPE[codec],
                        "pic_format": NV12, "key_frame_interval": gop, "pic_width": width,
                        "pic_height": height, **settings}
            for name, value in settings.items():
                ok(getattr(acl.media, "venc_set_channel_desc_" + name)(self.desc, value))
        ok(acl.media.venc_create_channel(self.desc))
        self.config = acl.media.venc_create_frame_config()

    def callback(self, picture, packet, user_data):
        size = acl.media.dvpp_get_stream_desc_size(packet)
        self.packets.append((user_data, download(acl.media.dvpp_get_stream_desc_data(packet),
                                                 size).tobytes()))

    def send(self, data, user_data=None, key=0):
        picture = acl.media.dvpp_create_pic_desc()
        ok(acl.media.dvpp_set_pic_desc_data(picture, upload(data)))
        ok(acl.media.dvpp_set_pic_desc_size(picture, len(data)))
        ok(acl.media.venc_set_frame_config_eos(self.config, 0))
        ok(acl.media.venc_set_frame_config_force_i_frame(self.config, key))
        assert acl.media.venc_get_frame_config_force_i_frame(self.config) == key
        return acl.media.venc_send_frame(self.desc, picture, 0, self.config, user_data)

    def close(self):
        ok(acl.media.venc_set_frame_config_eos(self.config, 1))
        ok(acl.media.venc_send_frame(self.desc, 0, 0, self.config, 0))
        ok(acl.media.venc_destroy_channel(self.desc))
        ok(acl.media.venc_destroy_channel_desc(self.desc))
        ok(acl.media.venc_destroy_frame_config(self.config))
        return self.packets


def key_frames(codec, packets):
    kinds = [{u[3] & 31 if codec == "h264" else u[3] >> 1 & 63
              for u in (b"\0\0\1" + p for p in data.split(b"\0\0\1")[1:])} for _, data in packets]
    return [i for i, found in enumerate(kinds) if found & ({5} if codec == "h264" else {19, 20})]


@pytest.mark.parametrize("codec", ["h264", "hevc"])
@pytest.mark.parametrize("by_number", [False, True])
def test_encoded_video_is_what_ffmpeg_reads(reporter, codec, by_number):
    encoder = Encoder(reporter, codec, by_number=by_number,
                      **({} if by_number else {"max_bit_rate": 2000}))
    frames = [nv12_bytes(128, 96, seed) for seed in range(12)]
    for number, frame in enumerate(frames):
        ok(encoder.send(frame, number))
    packets = encoder.close()
    assert [user for user, _ in packets] == list(range(12))
    decoded = video_files.decode(codec, b"".join(data for _, data in packets), 128, 96)
    assert len(decoded) == 12
    for frame, got in zip(frames, decoded):
        assert psnr(np.frombuffer(frame, np.uint8), got) > 25
    assert key_frames(codec, packets) == [0, 5, 10]


def test_a_key_frame_can_be_forced(reporter):
    encoder = Encoder(reporter, gop=100)
    for number in range(8):
        ok(encoder.send(nv12_bytes(128, 96, number), number, key=int(number == 3)))
    assert key_frames("h264", encoder.close()) == [0, 3]


def test_constant_rate_is_kept_over_ten_seconds(reporter):
    encoder = Encoder(reporter, width=160, height=128, gop=25, src_rate=25, max_bit_rate=300,
                      rc_mode=2)
    noise = np.random.RandomState(1).randint(0, 40, (192, 160)).astype(np.uint8)
    base = np.frombuffer(nv12_bytes(160, 128), np.uint8).reshape(192, 160) // 2
    for number in range(250):
        ok(encoder.send((base + np.roll(noise, number * 7, 1)).tobytes()))
    total = sum(len(data) for _, data in encoder.close())
    assert abs(total * 8 / 10 / 1000 - 300) < 30
