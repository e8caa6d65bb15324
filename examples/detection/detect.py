# SPDX-License-Identifier: Apache-2.0
"""Detection on a device from file to file: JPEG decoding, scaling, a model with AIPP, boxes drawn
into the picture, JPEG encoding. Nothing but the scores and the drawing comes to the host.

    python make_detector.py data
    atc --model=data/detector.onnx --framework=5 --output=data/detector --soc_version=Ascend310P3 \
        --insert_op_conf=data/aipp.cfg
    python detect.py data/discs.jpg data/found.jpg --model data/detector.om
"""
import argparse
import os
import sys

import numpy as np

import acl

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "media_resnet50"))
from boxes import COLOURS, draw, find  # noqa: E402
from dvpp import Dvpp  # noqa: E402
from model import Model  # noqa: E402
from session import HOST_TO_DEVICE, Session, check  # noqa: E402

NAMES = ["red", "green", "blue"]


def draw_boxes(picture, found):
    """On the host, because the units of Ascend310P3 draw no frames."""
    rows = picture.high * 3 // 2
    pixels = np.frombuffer(bytearray(picture.bytes()), np.uint8).reshape(rows, picture.wide)
    for name, _, *box in found:
        draw(pixels, box, COLOURS[name])
    check("acl.rt.memcpy", acl.rt.memcpy(picture.address, picture.size,
                                         acl.util.numpy_to_ptr(pixels), picture.size,
                                         HOST_TO_DEVICE))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("picture")
    parser.add_argument("result")
    parser.add_argument("--model", default="detector.om")
    args = parser.parse_args()
    session = Session(0)
    model, dvpp = Model(args.model), Dvpp(session)
    model.make_outputs()

    with open(args.picture, "rb") as file:
        picture = dvpp.decode(file.read())
    small = dvpp.resize(picture)
    model.take(small)
    model.execute()
    found = find(model.scores().reshape(3, 56, 56), NAMES, picture.width, picture.height)
    for name, score, *box in found:
        print(f"{name} {score:.2f} {box}")
    draw_boxes(picture, found)
    with open(args.result, "wb") as file:
        file.write(dvpp.encode(picture))
    print(f"{len(found)} boxes in {args.result}")

    for thing in (small, picture, dvpp, model, session):
        (getattr(thing, "free", None) or thing.release)()


if __name__ == "__main__":
    main()
