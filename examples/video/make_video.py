# SPDX-License-Identifier: Apache-2.0
"""Writes what annotate.py takes: an H.265 stream of two discs that move, made by the encoder of
acl.media, and the detector of examples/detection.

    python make_video.py FOLDER
"""
import os
import sys

import numpy as np
from PIL import Image, ImageDraw

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(os.path.dirname(HERE), "detection"),
                os.path.join(os.path.dirname(HERE), "media_resnet50")]
import make_detector  # noqa: E402
from codec import Encoder, Reports  # noqa: E402
from dvpp import Picture  # noqa: E402
from session import Session  # noqa: E402

WIDTH, HEIGHT, FRAMES = 640, 480, 8


def frame(number):
    image = Image.new("RGB", (WIDTH, HEIGHT), (128, 128, 128))
    pen = ImageDraw.Draw(image)
    left = 40 + 40 * number
    pen.ellipse((left, 60, left + 120, 180), fill="red")
    pen.ellipse((300, 280, 420, 400), fill="blue")
    return image


def nv12(image):
    y, cb, cr = (np.asarray(plane, np.uint8) for plane in image.convert("YCbCr").split())
    chroma = np.stack([cb[::2, ::2], cr[::2, ::2]], axis=-1)
    return y.tobytes() + chroma.tobytes()


def main(folder):
    make_detector.main(folder)
    session = Session(0)
    reports = Reports(session.context)
    with open(os.path.join(folder, "discs.h265"), "wb") as out:
        encoder = Encoder(reports.thread, WIDTH, HEIGHT, out)
        pictures = [Picture(WIDTH, HEIGHT, nv12(frame(number))) for number in range(FRAMES)]
        for picture in pictures:
            encoder.send(picture)
        encoder.finish()
    reports.stop()
    for picture in pictures:
        picture.free()
    session.release()


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else ".")
