# SPDX-License-Identifier: Apache-2.0
"""Video in, inference, video out: decodes H.265, detects on every frame, draws the boxes, encodes.

    python make_video.py data            moving discs: data/discs.h265, with detector.onnx beside it
    atc --model=data/detector.onnx --framework=5 --output=data/detector --soc_version=Ascend310P3 \
        --insert_op_conf=data/aipp.cfg
    python annotate.py data/discs.h265 data/found.h265 640 480 --model data/detector.om
"""
import argparse
import os
import sys

import acl

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(os.path.dirname(HERE), "detection"),
                os.path.join(os.path.dirname(HERE), "media_resnet50")]
from boxes import find  # noqa: E402
from codec import Decoder, Encoder, Reports, frames  # noqa: E402
from detect import NAMES, draw_boxes  # noqa: E402
from dvpp import Dvpp  # noqa: E402
from model import Model  # noqa: E402
from session import Session, check  # noqa: E402


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("video")
    parser.add_argument("result")
    parser.add_argument("width", type=int)
    parser.add_argument("height", type=int)
    parser.add_argument("--model", default="detector.om")
    args = parser.parse_args()
    session = Session(0)
    model, dvpp = Model(args.model), Dvpp(session)
    model.make_outputs()
    reports = Reports(session.context)

    with open(args.video, "rb") as file:
        packets = frames(file.read())
    decoder = Decoder(reports.thread, args.width, args.height)
    pictures = decoder.run(packets)

    with open(args.result, "wb") as out:
        encoder = Encoder(reports.thread, args.width, args.height, out)
        for number, picture in enumerate(pictures):
            small = dvpp.resize(picture)
            model.take(small)
            model.execute()
            found = find(model.scores().reshape(3, 56, 56), NAMES, args.width, args.height)
            places = [f"{box[0]} at {box[2]},{box[3]}" for box in found]
            print(f"frame {number}: " + ", ".join(places))
            draw_boxes(picture, found)
            encoder.send(picture)
            small.free()
        encoder.finish()
    print(f"{len(pictures)} frames in {args.result}")

    reports.stop()
    for picture in pictures:
        picture.free()
    for thing in (decoder, dvpp, model):
        thing.release()
    check("acl.rt.synchronize_stream", acl.rt.synchronize_stream(session.stream))
    session.release()


if __name__ == "__main__":
    main()
