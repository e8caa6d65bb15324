# SPDX-License-Identifier: Apache-2.0
"""What public programs do with video channels: one input buffer for all frames, files closed right
after the end of a stream."""
import numpy as np
import pytest
import video_files
from media_programs import nv12_bytes, ok
from video_channels import Decoder, Encoder, report_thread

import acl


@pytest.fixture(scope="module")
def reporter():
    with report_thread() as thread:
        yield thread


def test_the_end_of_a_stream_returns_after_the_last_callback_and_has_none(reporter):
    data = video_files.make("h264", 128, 96, 12, ("-bf", "3"))
    decoder = Decoder(reporter)
    for number, packet in enumerate(video_files.units("h264", data)):
        ok(decoder.send(packet, number))
    ok(decoder.send(b"", "end", eos=True))
    users = [user for user, *_ in decoder.results]
    assert sorted(users) == list(range(12))
    decoder.close()
    assert len(decoder.results) == 12


def test_the_bytes_of_a_packet_are_taken_at_the_call(reporter):
    data = video_files.make("h264", 128, 96, 10)
    decoder = Decoder(reporter)
    buffer = ok(acl.media.dvpp_malloc(1 << 16))
    packets = video_files.units("h264", data)
    for packet in packets:  # one buffer for all, overwritten at once
        ok(acl.rt.memcpy(buffer, 1 << 16, acl.util.bytes_to_ptr(packet), len(packet), 1))
        ok(decoder.send(packet, address=buffer))
        ok(acl.rt.memset(buffer, 1 << 16, 0, 1 << 16))
    ok(decoder.send(b"", eos=True))
    expected = video_files.decode("h264", data, 128, 96)
    assert all(np.array_equal(got, wanted)
               for (_, _, got, _), wanted in zip(decoder.results, expected))
    assert len(decoder.results) == len(expected)
    decoder.close()
    ok(acl.media.dvpp_free(buffer))


def test_a_file_closed_after_the_end_of_the_encoding_is_whole(reporter, tmp_path):
    path = tmp_path / "out.h264"
    encoder = Encoder(reporter)
    with open(path, "wb") as file:
        for number in range(6):
            ok(encoder.send(nv12_bytes(128, 96, number), number))
        ok(acl.media.venc_set_frame_config_eos(encoder.config, 1))
        ok(acl.media.venc_send_frame(encoder.desc, 0, 0, encoder.config, 0))
        file.write(b"".join(data for _, data in encoder.packets))
    assert len(video_files.decode("h264", path.read_bytes(), 128, 96)) == 6
    encoder.close()
