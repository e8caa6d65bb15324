# SPDX-License-Identifier: Apache-2.0
"""H.264 of 1080p: decoding to NV12 and encoding against the ffmpeg program on one thread."""

import re
import shutil
import subprocess
import threading
import time

import numpy as np
from harness import ratio_of

import acl

W, H, FRAMES = 1920, 1080, 48
SIZE = W * H * 3 // 2
FFMPEG = shutil.which("ffmpeg")
SOURCE = ["-f", "lavfi", "-i", f"testsrc2=s={W}x{H}:r=25", "-frames:v", str(FRAMES)]
KBPS = 4000
X264 = ["-c:v", "libx264", "-preset", "veryfast", "-tune", "zerolatency", "-threads", "1",
        "-g", "25", "-b:v", f"{KBPS}k", "-maxrate", f"{KBPS}k", "-bufsize", f"{KBPS}k"]


def ffmpeg(*args, data=b""):
    """What it wrote, and the seconds between its start and end of work as it tells them."""
    done = subprocess.run([FFMPEG, "-v", "info", "-nostdin", "-benchmark", *args], input=data,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=True)
    return done.stdout, float(re.search(rb"rtime=([\d.]+)s", done.stderr)[1])


def access_units(stream):
    """Each picture begins with an access unit delimiter (aud=1)."""
    delimiter = b"\0\0\0\1\x09"
    return [delimiter + unit for unit in stream.split(delimiter)[1:]]


def upload(data):
    address = acl.media.dvpp_malloc(len(data))[0]
    acl.rt.memcpy(address, len(data), acl.util.bytes_to_ptr(data), len(data), 1)
    return address


class Channel:
    """A decoder or an encoder whose callbacks count."""

    def __init__(self, kind, settings):
        self.kind, self.count, self.running = kind, 0, True
        self.context = acl.rt.get_context()[0]
        self.thread = acl.util.start_thread(self.reports, [])[0]
        self.desc = getattr(acl.media, kind + "_create_channel_desc")()
        for name, value in {"thread_id": self.thread, "callback": self.done, **settings}.items():
            call = getattr(acl.media, f"{kind}_set_channel_desc_{name}")
            assert call(self.desc, value) == 0, name
        assert getattr(acl.media, kind + "_create_channel")(self.desc) == 0
        self.config = getattr(acl.media, kind + "_create_frame_config")()
        self.came = threading.Semaphore(0)

    def reports(self, _):
        acl.rt.set_context(self.context)
        while self.running:
            acl.rt.process_report(50)

    def done(self, first, second, user_data):
        self.came.release()

    def wait(self, count):
        for _ in range(count):
            self.came.acquire()

    def close(self):
        assert getattr(acl.media, self.kind + "_destroy_channel")(self.desc) == 0
        self.running = False
        acl.util.stop_thread(self.thread)


def decode_row(report, stream):
    units = access_units(stream)
    assert len(units) == FRAMES
    packets = [(upload(unit), len(unit)) for unit in units]
    outputs = [acl.media.dvpp_malloc(SIZE)[0] for _ in range(FRAMES)]
    channel = Channel("vdec", {"channel_id": 1, "entype": 2, "out_pic_format": 1})

    def ours():
        begin = time.perf_counter()
        for (address, size), output in zip(packets, outputs):
            packet = acl.media.dvpp_create_stream_desc()
            acl.media.dvpp_set_stream_desc_data(packet, address)
            acl.media.dvpp_set_stream_desc_size(packet, size)
            picture = acl.media.dvpp_create_pic_desc()
            acl.media.dvpp_set_pic_desc_data(picture, output)
            acl.media.dvpp_set_pic_desc_size(picture, SIZE)
            acl.media.dvpp_set_pic_desc_format(picture, 1)
            assert acl.media.vdec_send_frame(channel.desc, packet, picture, channel.config,
                                             None) == 0
        channel.wait(FRAMES)
        return time.perf_counter() - begin

    def theirs():
        return ffmpeg("-threads", "1", "-f", "h264", "-i", "-", "-pix_fmt", "nv12", "-f",
                      "rawvideo", "-y", "/dev/null", data=stream)[1]

    report.add("H.264 1080p decoded to NV12 / ffmpeg", 1.05, "x", ratio_of(ours, theirs, 21),
               f"{FRAMES} frames, one thread each; ffmpeg's own time without its start")
    channel.close()


def encode_row(report, pictures):
    channel = Channel("venc", {"entype": 2, "pic_format": 1, "key_frame_interval": 25,
                               "pic_width": W, "pic_height": H, "src_rate": 25, "rc_mode": 2,
                               "max_bit_rate": KBPS})
    raw = pictures.tobytes()
    memory = [upload(picture.tobytes()) for picture in pictures]
    acl.media.venc_set_frame_config_eos(channel.config, 0)

    def ours():
        begin = time.perf_counter()
        for address in memory:
            picture = acl.media.dvpp_create_pic_desc()
            acl.media.dvpp_set_pic_desc_data(picture, address)
            acl.media.dvpp_set_pic_desc_size(picture, SIZE)
            assert acl.media.venc_send_frame(channel.desc, picture, 0, channel.config, 0) == 0
        channel.wait(len(memory))
        return time.perf_counter() - begin

    def theirs():
        return ffmpeg("-f", "rawvideo", "-pix_fmt", "nv12", "-s", f"{W}x{H}", "-r", "25", "-i", "-",
                      *X264, "-pix_fmt", "nv12", "-f", "null", "-", data=raw)[1]

    report.add("NV12 1080p encoded to H.264 / ffmpeg with x264", None, "x",
               ratio_of(ours, theirs, 21),
               f"{len(memory)} frames, CBR {KBPS} kbit/s, preset veryfast, one thread each")
    channel.close()


def rows(report):
    if FFMPEG is None:
        report.skip("H.264 against ffmpeg", "the ffmpeg program is not installed")
        return
    assert acl.init() == 0 and acl.rt.set_device(0) == 0
    stream, _ = ffmpeg(*SOURCE, "-c:v", "libx264", "-preset", "veryfast", "-bf", "0",
                       "-x264-params", "aud=1", "-pix_fmt", "yuv420p", "-f", "h264", "-")
    raw, _ = ffmpeg(*SOURCE[:-1], "12", "-pix_fmt", "nv12", "-f", "rawvideo", "-")
    decode_row(report, stream)
    encode_row(report, np.frombuffer(raw, np.uint8).reshape(12, SIZE))
    acl.rt.reset_device(0)
    acl.finalize()
