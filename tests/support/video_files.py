# SPDX-License-Identifier: Apache-2.0
"""Video streams for tests, made and read by the ffmpeg program: the reference of decoder and
encoder."""
import functools
import shutil
import subprocess

import numpy as np

FFMPEG = shutil.which("ffmpeg")


def run(arguments, data=b""):
    done = subprocess.run([FFMPEG, "-v", "error", "-nostdin", "-threads", "1", *arguments],
                          input=data, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=300)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


@functools.lru_cache(maxsize=None)
def make(codec, width=128, height=96, frames=10, options=(), source="testsrc2"):
    """A stream with start codes; `options` are ffmpeg's, as a tuple. testsrc2 has even sizes only,
    testsrc any."""
    encoder = {"h264": "libx264", "hevc": "libx265"}[codec]
    quiet = ["-x265-params", "log-level=none"] if codec == "hevc" and not any(
        "x265" in o for o in options) else []
    join = ":" if "=" in source else "="
    return run(["-f", "lavfi", "-i", f"{source}{join}s={width}x{height}:r=25", "-frames:v",
                str(frames), "-c:v", encoder, "-pix_fmt", "yuv420p", *quiet, *options, "-f", codec,
                "-"])


def decode(codec, data, width, height):
    """What ffmpeg -pix_fmt nv12 makes of a stream: [frames, bytes]."""
    raw = subprocess.run([FFMPEG, "-v", "quiet", "-threads", "1", "-f", codec, "-i", "-",
                          "-fps_mode", "passthrough", "-pix_fmt", "nv12", "-f", "rawvideo", "-"],
                         input=data, stdout=subprocess.PIPE, timeout=300).stdout
    return np.frombuffer(raw, np.uint8).reshape(-1, nv12_size(width, height))


def nv12_size(width, height):
    """Bytes of a picture without padding; the last chroma of an odd size counts whole."""
    return width * height + 2 * -(-width // 2) * -(-height // 2)


def units(codec, data):
    """The access units of a stream, by the first slice of each picture."""
    starts = []
    at = data.find(b"\0\0\1")
    while at >= 0:
        starts.append(at)
        at = data.find(b"\0\0\1", at + 3)
    out, begin, has_picture = [], starts[0], False
    for start in starts:
        head = data[start + 3]
        if codec == "h264":
            kind = head & 31
            picture, first = kind in (1, 5), data[start + 4] & 0x80
        else:
            kind = head >> 1 & 63
            picture, first = kind < 32, data[start + 5] & 0x80
        if has_picture and (not picture or first):
            out.append(data[begin:start])
            begin, has_picture = start, False
        has_picture = has_picture or picture
    return [*out, data[begin:]]
