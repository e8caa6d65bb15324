# SPDX-License-Identifier: Apache-2.0
"""The end of media channels: destroying one waits for its work, and where the work could never be
done, inside a callback that stands in its way, it is refused at once instead of hanging."""
import threading
import time

import numpy as np
import pytest
import video_files
from held_stream import HeldStream
from media_programs import NV12, Picture, nv12_bytes, ok
from video_channels import Decoder, report_thread

import acl

BLOCK = 1


@pytest.fixture
def channel(device_0):
    desc = acl.media.dvpp_create_channel_desc()
    ok(acl.media.dvpp_create_channel(desc))
    yield desc
    acl.media.dvpp_destroy_channel(desc)
    ok(acl.media.dvpp_destroy_channel_desc(desc))


@pytest.fixture
def stream(device_0):
    handle = ok(acl.rt.create_stream())
    ok(acl.rt.subscribe_report(threading.get_ident(), handle))
    yield handle
    acl.rt.unsubscribe_report(threading.get_ident(), handle)
    acl.rt.destroy_stream_force(handle)


class Halving:
    """One resize, and whether its output is there."""

    def __init__(self):
        self.source = Picture(NV12, 64, 48, nv12_bytes(64, 48, smooth=False))
        self.target = Picture(NV12, 32, 24)
        self.config = acl.media.dvpp_create_resize_config()
        ok(acl.media.dvpp_set_resize_config_interpolation(self.config, 2))

    def submit(self, channel, stream):
        ok(acl.media.dvpp_vpc_resize_async(channel, self.source.desc, self.target.desc, self.config,
                                           stream))

    def done(self):
        return np.array_equal(self.target.planes()[0], self.source.planes()[0][::2, ::2])

    def free(self):
        self.source.free()
        self.target.free()
        ok(acl.media.dvpp_destroy_resize_config(self.config))


def test_inside_a_blocking_callback_that_holds_the_work_it_is_refused(channel, stream):
    work, answers = Halving(), []

    def inside(_):
        answers.append((acl.media.dvpp_destroy_channel(channel), acl.get_recent_err_msg()))

    ok(acl.rt.launch_callback(inside, None, BLOCK, stream))
    work.submit(channel, stream)
    while not answers:
        ok(acl.rt.process_report(-1))
    (code, message), = answers
    assert code != 0 and "not done (1 calls)" in message and "callback" in message
    ok(acl.rt.synchronize_stream(stream))
    assert work.done(), "the channel stayed open and did its work"
    ok(acl.media.dvpp_destroy_channel(channel))
    work.free()


def test_inside_a_blocking_callback_without_work_it_is_done(channel, stream):
    work, answers = Halving(), []
    work.submit(channel, stream)
    ok(acl.rt.launch_callback(lambda _: answers.append(acl.media.dvpp_destroy_channel(channel)),
                              None, BLOCK, stream))
    while not answers:
        ok(acl.rt.process_report(-1))
    assert answers == [0] and work.done()
    assert acl.media.dvpp_destroy_channel(channel) != 0, "it is gone"
    work.free()


def test_in_another_thread_it_waits_for_the_work(channel):
    work, held = Halving(), HeldStream()
    with held:
        work.submit(channel, held.handle)
        codes = []
        thread = threading.Thread(
            target=lambda: codes.append(acl.media.dvpp_destroy_channel(channel)))
        thread.start()
        while acl.media.dvpp_vpc_resize_async(channel, work.source.desc, work.target.desc,
                                              work.config, held.handle) == 0:
            time.sleep(0.001)  # until the channel takes no more
        assert codes == [], "the first call is still held"
    thread.join()
    assert codes == [0] and work.done()
    work.free()


def test_a_video_channel_in_the_callback_of_another_one_of_the_same_thread():
    packets = video_files.units("h264", video_files.make("h264", 128, 96, 2, ("-bf", "0")))
    with report_thread() as reporter:
        other = Decoder(reporter)
        answers = []

        def inside(*arguments):
            decoder.callback(*arguments)
            answers.append((acl.media.vdec_destroy_channel(other.desc), acl.get_recent_err_msg()))

        decoder = Decoder(reporter, callback=inside)
        ok(other.send(packets[0], "first"))
        ok(decoder.send(packets[0]))
        while not answers:
            time.sleep(0.001)
        decoder.close()
        (code, message), = answers
        assert code != 0 and "inside a callback of its own thread" in message
        assert [result[:2] for result in other.close()] == [("first", 0)]
