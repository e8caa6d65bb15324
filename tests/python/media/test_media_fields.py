# SPDX-License-Identifier: Apache-2.0
"""Interlaced video whose frames are sent as two fields (guide, table 5-1, 0x20000): one of the two
has no picture, which is normal, and the whole picture is in the output of the first."""
import field_coded_video
import numpy as np
import pytest
import video_files
from test_himpi import H264, decode
from video_channels import Decoder, report_thread

WIDTH, HEIGHT, FRAMES = 128, 96, 3


@pytest.fixture(scope="module")
def stream():
    units, pictures = field_coded_video.make(WIDTH, HEIGHT, FRAMES)
    assert np.array_equal(video_files.decode("h264", b"".join(units), WIDTH, HEIGHT), pictures)
    return units, pictures


def test_the_second_field_has_the_code_0x20000_and_the_first_the_picture(stream):
    units, pictures = stream
    with report_thread() as reporter:
        decoder = Decoder(reporter)
        for number, unit in enumerate(units):
            assert decoder.send(unit, number) == 0
        results = {number: rest for number, *rest in decoder.close()}
    assert sorted(results) == list(range(2 * FRAMES))
    for number, (code, picture, message) in results.items():
        if number % 2:
            assert code == 1 and "0x20000 (ERR_DECODE_NOPIC)" in message, message
        else:
            assert code == 0 and np.array_equal(picture, pictures[number // 2])


def test_both_fields_of_a_frame_may_be_sent_at_once(stream):
    units, pictures = stream
    with report_thread() as reporter:
        decoder = Decoder(reporter)
        for number in range(FRAMES):
            assert decoder.send(b"".join(units[2 * number:2 * number + 2]), number) == 0
        results = decoder.close()
    assert [result[:2] for result in results] == [(number, 0) for number in range(FRAMES)]
    assert all(np.array_equal(result[2], wanted) for result, wanted in zip(results, pictures))


@pytest.mark.parametrize("order", [0, 1])
def test_the_second_field_has_frame_flag_2(system, stream, order):
    units, pictures = stream
    got, _ = decode(H264, units, order=order)
    by_pts = {pts: (flag, picture) for flag, pts, picture in got}
    assert sorted(by_pts) == list(range(2 * FRAMES))
    assert [by_pts[pts][0] for pts in sorted(by_pts)] == [0, 2] * FRAMES
    for number, wanted in enumerate(pictures):
        assert np.array_equal(by_pts[2 * number][1], wanted)
