# SPDX-License-Identifier: Apache-2.0
"""Video of acl.media: decoding against ffmpeg, encoding read back by ffmpeg, callbacks."""
import time

import numpy as np
import pytest
import video_files
from media_programs import NV12, NV21, RGB, nv12_bytes, ok, psnr
from video_channels import Decoder, Encoder, key_frames, report_thread

import acl

STREAMS = {
    "no B frames": ("h264", 128, 96, ("-bf", "0")),
    "B frames": ("h264", 128, 96, ("-bf", "3", "-g", "6")),
    "slices": ("h264", 128, 96, ("-x264-params", "slices=4:bframes=0")),
    "odd size": ("h264", 130, 98, ("-bf", "2")),
    "four references": ("h264", 128, 96, ("-refs", "4",)),
    "interlaced": ("h264", 128, 96, ("-x264-params", "interlaced=1:bframes=0")),
    "baseline": ("h264", 128, 96, ("-profile:v", "baseline")),
    "hevc": ("hevc", 128, 96, ()),
    "CAVLC": ("h264", 128, 96, ("-x264-params", "cabac=0:bframes=2")),
    "one reference": ("h264", 128, 96, ("-refs", "1", "-bf", "0")),
    "two references": ("h264", 128, 96, ("-refs", "2", "-bf", "0")),
    "three references": ("h264", 128, 96, ("-refs", "3", "-bf", "1")),
    "open groups of pictures": ("h264", 128, 96, ("-x264-params", "open-gop=1:keyint=4:bframes=2")),
    "intra refresh": ("h264", 128, 96, ("-x264-params", "intra-refresh=1:bframes=0")),
    "hevc with slices": ("hevc", 256, 256, ("-x265-params", "slices=3:log-level=none")),
    "hevc without B frames": ("hevc", 128, 96, ("-x265-params", "bframes=0:log-level=none")),
}


@pytest.fixture
def reporter():
    with report_thread() as thread:
        yield thread


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


def decode_all(reporter, codec, data, size=1 << 20):
    decoder = Decoder(reporter, codec)
    for packet in video_files.units(codec, data):
        ok(decoder.send(packet, size=size))
    return [picture for _, code, picture, _ in decoder.close() if code == 0]


SAMPLES = ["yuv422p", "yuv444p", "gray", "yuv420p10le", "yuv422p10le", "yuv444p10le", "gray10le"]


@pytest.mark.parametrize("codec", ["h264", "hevc"])
@pytest.mark.parametrize("pixels", SAMPLES)
def test_video_with_other_samples_becomes_the_nv12_of_ffmpeg(reporter, codec, pixels):
    # As odd as the sampling lets them be.
    odd = {"yuv444": (131, 97), "yuv422": (130, 97)}.get(pixels[:6], (130, 98))
    for width, height in ((128, 96), odd):
        data = video_files.make(codec, width, height, 3, ("-pix_fmt", pixels), "testsrc")
        got = decode_all(reporter, codec, data)
        assert np.array_equal(got, video_files.decode(codec, data, width, height)), (width, height)


@pytest.mark.parametrize("codec", ["h264", "hevc"])
@pytest.mark.parametrize("pixels", ["yuv420p", "yuv444p", "yuv420p10le"])
def test_the_full_range_becomes_the_narrow_one_of_ffmpeg(reporter, codec, pixels):
    full = ("-vf", "scale=out_range=full", "-pix_fmt", pixels, "-color_range", "pc")
    data = video_files.make(codec, 128, 96, 2, full, "testsrc")
    got = decode_all(reporter, codec, data)
    assert np.array_equal(got, video_files.decode(codec, data, 128, 96))
    assert min(picture[:128 * 96].min() for picture in got) >= 15  # dithered


def test_grey_video_may_tell_that_it_is_narrow(reporter):
    data = video_files.make("hevc", 128, 96, 2, ("-pix_fmt", "gray", "-bsf:v",
                                                 "hevc_metadata=video_full_range_flag=0"))
    assert np.array_equal(decode_all(reporter, "hevc", data),
                          video_files.decode("hevc", data, 128, 96))


def test_nv21_of_video_with_other_samples_is_nv12_turned_about(reporter):
    data = video_files.make("h264", 128, 96, 1, ("-pix_fmt", "yuv444p"))
    decoder = Decoder(reporter, out_format=NV21)
    ok(decoder.send(data))
    (_, _, picture, _), = decoder.close()
    wanted = video_files.decode("h264", data, 128, 96)[0]
    assert np.array_equal(picture[:128 * 96], wanted[:128 * 96])
    assert np.array_equal(picture[128 * 96:].reshape(-1, 2)[:, ::-1].ravel(), wanted[128 * 96:])


@pytest.mark.parametrize("codec, width, height", [
    ("h264", 2, 2), ("h264", 2, 34), ("h264", 18, 34), ("h264", 1920, 1080), ("h264", 4096, 64),
    ("h264", 64, 4096), ("hevc", 16, 16), ("hevc", 18, 34), ("hevc", 1920, 1080),
    ("hevc", 8192, 64)])
def test_sizes_from_the_smallest_to_the_widest(reporter, codec, width, height):
    data = video_files.make(codec, width, height, 2 if width * height < 100000 else 1, ())
    got = decode_all(reporter, codec, data, -(-width // 16) * 16 * -(-height // 2) * 3)
    assert np.array_equal(got, video_files.decode(codec, data, width, height))


@pytest.mark.parametrize("codec", ["h264", "hevc"])
@pytest.mark.parametrize("width, height", [(2, 2), (4, 8), (10, 6), (30, 2), (46, 46)])
def test_pictures_cut_by_the_window_of_the_stream(reporter, codec, width, height):
    """Sizes that the encoders do not make themselves: 48x48 with a window for what is shown."""
    window = f"{codec}_metadata=crop_right={48 - width}:crop_bottom={48 - height}"
    data = video_files.make(codec, 48, 48, 3, ("-bsf:v", window))
    got = decode_all(reporter, codec, data)
    assert len(got) == 3
    assert np.array_equal(got, video_files.decode(codec, data, width, height))


@pytest.mark.parametrize("codec", ["h264", "hevc"])
@pytest.mark.parametrize("width, height", [(3, 5), (33, 17), (63, 35), (127, 95)])
def test_odd_sizes(reporter, codec, width, height):
    """4:4:4: the windows of 4:2:0 streams have even sides. x265 breaks on small pictures, so they
    are cut from larger ones."""
    window = f"{codec}_metadata=crop_right={128 - width}:crop_bottom={96 - height}"
    data = video_files.make(codec, 128, 96, 2, ("-pix_fmt", "yuv444p", "-bsf:v", window))
    got = decode_all(reporter, codec, data)
    assert len(got) == 2 and got[0].size == video_files.nv12_size(width, height)
    assert np.array_equal(got, video_files.decode(codec, data, width, height))


@pytest.mark.parametrize("codec", ["h264", "hevc"])
def test_pictures_of_8192x8192(reporter, codec):
    quick = ("-x265-params", "ctu=64:min-cu-size=32:bframes=0:log-level=none")
    options = ("-preset", "ultrafast", *(quick if codec == "hevc" else ()))
    data = video_files.make(codec, 8192, 8192, 1, options, "color=c=orange")
    decoder = Decoder(reporter, codec)
    ok(decoder.send(data, size=8192 * 8192 * 3 // 2))
    (_, code, picture, _), = decoder.close()
    assert code == 0 and np.array_equal(picture, video_files.decode(codec, data, 8192, 8192)[0])


@pytest.mark.parametrize("codec, width, height", [("h264", 8208, 64), ("h264", 64, 8208),
                                                  ("hevc", 8200, 64)])
def test_a_stream_beyond_the_range_has_its_own_code(reporter, codec, width, height):
    data = video_files.make(codec, width, height, 1, ())
    decoder = Decoder(reporter, codec)
    ok(decoder.send(data, size=1 << 21))
    ok(decoder.send(video_files.make(codec, 128, 96, 1, ()), "good"))
    wide, good = decoder.close()
    assert wide[1] == 1 and "0x10006 (ERR_ALLOC_DYNAMIC_MEM_FAIL)" in wide[3], wide
    assert good[:2] == ("good", 0)


@pytest.mark.parametrize("codec", ["h264", "hevc"])
def test_the_size_may_change_in_the_middle_of_a_stream(reporter, codec):
    parts = [(video_files.make(codec, width, height, 3, ()), width, height)
             for width, height in ((128, 96), (160, 128), (64, 64))]
    decoder = Decoder(reporter, codec)
    for data, *_ in parts:
        for packet in video_files.units(codec, data):
            ok(decoder.send(packet))
    got = [picture for _, code, picture, _ in decoder.close() if code == 0]
    assert len(got) == 9
    for number, (data, width, height) in enumerate(parts):
        wanted = video_files.decode(codec, data, width, height)
        assert np.array_equal(got[3 * number:3 * number + 3], wanted)


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
    assert [r[0] for r in results] == ["frame"] * 8
    assert all(r[1] == 0 for r in results)


@pytest.mark.parametrize("what, code", [("garbage", "0x"), ("small output", "0x4"),
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
    else:
        for packet in packets:
            ok(decoder.send(packet))
    results = decoder.close()
    assert results[-1][1] == 1 and code in results[-1][3], results[-1]
    assert "aclvdecSendFrame failed" in results[-1][3], "the call that caused it"
    again = Decoder(reporter)
    ok(again.send(packets[0]))
    assert again.close()[0][1] == 0


def test_there_are_at_most_sixteen_decoders(reporter):
    decoders = [Decoder(reporter) for _ in range(16)]
    with pytest.raises(AssertionError, match="0x10010"):
        Decoder(reporter)
    for decoder in decoders:
        decoder.close()
    Decoder(reporter).close()


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


@pytest.mark.parametrize("codec, mode", [("h264", 2), ("hevc", 2), ("h264", 0), ("h264", 1),
                                         ("hevc", 1)])
def test_a_rate_is_kept_over_ten_seconds(reporter, codec, mode):
    """Constant: within a tenth of the target. Variable (1): not above the ceiling."""
    encoder = Encoder(reporter, codec, width=160, height=128, gop=25, src_rate=25,
                      max_bit_rate=300, rc_mode=mode)
    noise = np.random.RandomState(1).randint(0, 40, (192, 160)).astype(np.uint8)
    base = np.frombuffer(nv12_bytes(160, 128), np.uint8).reshape(192, 160) // 2
    for number in range(250):
        ok(encoder.send((base + np.roll(noise, number * 7, 1)).tobytes()))
    total = sum(len(data) for _, data in encoder.close())
    rate = total * 8 / 10 / 1000
    assert rate < 330 if mode == 1 else abs(rate - 300) < 30


def test_an_encoder_goes_on_after_the_end_of_a_stream(reporter):
    encoder = Encoder(reporter, gop=10)
    for number in range(2):
        ok(encoder.send(nv12_bytes(128, 96, number), number))
    ok(acl.media.venc_set_frame_config_eos(encoder.config, 1))
    ok(acl.media.venc_send_frame(encoder.desc, 0, 0, encoder.config, 0))
    for number in range(2, 5):
        ok(encoder.send(nv12_bytes(128, 96, number), number))
    packets = encoder.close()
    assert [user for user, _ in packets] == [0, 1, 2, 3, 4]
    assert key_frames("h264", packets) == [0, 2], "a new stream begins with a key frame"


@pytest.mark.parametrize("codec", ["h264", "hevc"])
@pytest.mark.parametrize("layout", [NV12, NV21])
def test_both_layouts_with_wide_rows_are_encoded(reporter, codec, layout):
    width, height, stride = 128, 96, 160
    rows = np.full((height * 3 // 2, stride), 255, np.uint8)
    source = np.frombuffer(nv12_bytes(width, height, 3), np.uint8).reshape(-1, width)
    rows[:, :width] = source
    if layout == NV21:
        rows[height:, :width] = source[height:].reshape(-1, width // 2, 2)[..., ::-1].reshape(
            -1, width)
    encoder = Encoder(reporter, codec, pic_format=layout, max_bit_rate=4000)
    ok(encoder.send(rows.tobytes(), width_stride=stride))
    stream = b"".join(data for _, data in encoder.close())
    assert psnr(video_files.decode(codec, stream, width, height)[0], source.ravel()) > 33


@pytest.mark.parametrize("matrix", range(4))
def test_rgb_is_made_by_the_matrix_of_the_channel(reporter, matrix):
    data = video_files.make("h264", 128, 96, 1, ("-bf", "0"))
    expected = video_files.decode("h264", data, 128, 96)[0]
    decoder = Decoder(reporter, out_format=RGB, params={0: matrix})
    ok(decoder.send(video_files.units("h264", data)[0]))
    picture = decoder.close()[0][2]
    kr = (0.299, 0.2126)[matrix // 2]
    y = expected[:128 * 96].reshape(96, 128).astype(float)
    v = expected[128 * 96:].reshape(48, 64, 2)[..., 1].repeat(2, 0).repeat(2, 1) - 128.0
    if matrix % 2:
        y, v = (y - 16) * 255 / 219, v * 255 / 224
    assert np.abs(picture[..., 0] - (y + 2 * (1 - kr) * v).clip(0, 255)).max() <= 1


@pytest.mark.parametrize("codec", ["h264", "hevc"])
@pytest.mark.parametrize("mode", [0, 1])
def test_a_picture_does_not_wait_for_the_next_frame_without_b_frames(reporter, codec, mode):
    """What out_mode 1 asks for; mode 0 may hold pictures back, and does not need to."""
    options = ("-bf", "0") if codec == "h264" else ("-x265-params", "bframes=0:log-level=none")
    decoder = Decoder(reporter, codec, out_mode=mode)
    for number, packet in enumerate(video_files.units(codec, video_files.make(
            codec, 128, 96, 4, options))):
        ok(decoder.send(packet, number))
        while len(decoder.results) <= number:  # the time-out of the tests ends an endless wait
            time.sleep(0.001)
    assert [r[:2] for r in decoder.close()] == [(n, 0) for n in range(4)]
