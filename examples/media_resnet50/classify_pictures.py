# SPDX-License-Identifier: Apache-2.0
"""Classifies the JPEG files of a folder: decoded and scaled by the media units, the best label also
found by single operators."""
import argparse
import os

from dvpp import Dvpp, jpeg_size
from model import BestLabel, Model, print_best
from session import Session, stage


def classify(path, dvpp, model, best):
    with open(path, "rb") as file:
        data = file.read()
    print("[Sample] width:{} height:{}".format(*jpeg_size(data)))
    print(f"[Sample] image:{path}")
    with stage("[Dvpp] vpc decode stage"):
        decoded = dvpp.decode(data)
    with stage("[Dvpp] vpc resize stage"):
        small = dvpp.resize(decoded)
    with stage("[Model] create model input dataset"):
        model.take(small)
    with stage("[Model] execute stage"):
        model.execute()
    print_best(model.scores())
    best.find(dvpp.session, model.outputs)
    decoded.free()
    small.free()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", type=int, default=0)
    parser.add_argument("--model_path", default="./model/resnet50_aipp.om")
    parser.add_argument("--images_path", default="./data")
    parser.add_argument("--op_models", default="./op_models")
    args = parser.parse_args()
    print(f"Using device id:{args.device}")
    print(f"model path:{args.model_path}")
    print(f"images path:{args.images_path}")
    names = sorted(n for n in os.listdir(args.images_path) if n.lower().endswith((".jpg", ".jpeg")))
    if not names:
        raise SystemExit(f"no .jpg files in {args.images_path}")
    with stage("[Sample] init resource stage"):
        session = Session(args.device)
    print("[Model] The class Model initializes resources:")
    model = Model(args.model_path)
    with stage("[Model] create output dataset"):
        model.make_outputs()
    print("[Model] The class Model initializes resources successfully.")
    dvpp, best = Dvpp(session), BestLabel(args.op_models)
    for name in names:
        classify(f"{args.images_path}/{name}", dvpp, model, best)
    model.release()
    print("[Model] The class Model releases resources successfully.")
    dvpp.release()
    print("[Dvpp] class Dvpp exit success")
    best.release()
    print("[SingOp] class SingOp release source success")
    session.release()
    print("[Sample] class Sample release source success")


if __name__ == "__main__":
    main()
