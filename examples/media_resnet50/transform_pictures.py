# SPDX-License-Identifier: Apache-2.0
"""What the picture units can do, chosen by --dvpp_type:

0 decode a JPEG file, scale, classify       4 scale 8192x8192 to 4000x4000
1 crop NV12, classify                       5 crop a batch
2 crop NV12, paste, classify                6 crop a batch, paste each
3 encode NV12 as JPEG
Names of NV12 files hold their size: wood_rabbit_1024_1068_nv12.yuv."""
import argparse
import os
import re

from dvpp import Dvpp, Picture, jpeg_size
from model import Model, print_best
from session import Session, stage

DECODE, CROP, CROP_PASTE, ENCODE, SCALE_8K, BATCH_CROP, BATCH_PASTE = range(7)


def size_in_name(path):
    found = re.search(r"_(\d+)_(\d+)_nv12\.yuv$", path)
    if not found:
        raise SystemExit(f"{path}: the name does not end in _<width>_<height>_nv12.yuv")
    return int(found[1]), int(found[2])


class Sample:
    def __init__(self, args):
        self.args = args
        with stage("[Sample] init resource stage"):
            self.session = Session(args.device)
        with stage("[Model] class Model init resource stage"):
            self.model = Model(args.model_path)
            with stage("[Model] create model output dataset"):
                self.model.make_outputs()
        with stage("[Dvpp] class Dvpp init resource stage"):
            self.dvpp = Dvpp(self.session)

    def classify(self, picture):
        self.model.take(picture)
        self.model.execute()
        print_best(self.model.scores())

    def write(self, ending, data):
        os.makedirs(self.args.result_path, exist_ok=True)
        name = os.path.splitext(os.path.basename(self.args.images_path))[0]
        path = f"{self.args.result_path}/{name}_{ending}"
        with open(path, "wb") as file:
            file.write(data)
        print(f"[Sample]write out to file {path} success")

    def run(self):
        args, dvpp = self.args, self.dvpp
        print(f"[Sample] image:{args.images_path} res_path:{args.result_path}")
        with open(args.images_path, "rb") as file:
            data = file.read()
        jpeg = args.image_type == "jpg"
        width, height = jpeg_size(data) if jpeg else size_in_name(args.images_path)
        print(f"[Sample] width:{width} height:{height}")
        if args.dvpp_type in (BATCH_CROP, BATCH_PASTE):
            print(f"[Sample] in_batch_size:{args.in_batch_size} "
                  f"out_batch_size:{args.out_batch_size}")
            found = dvpp.batch(width, height, [data] * args.in_batch_size, args.out_batch_size,
                               paste=args.dvpp_type == BATCH_PASTE)
            for number, pixels in enumerate(found):
                self.write(f"{args.dvpp_type}crop_{number}.yuv", pixels)
            return
        picture = dvpp.decode(data) if jpeg else Picture(width, height, data)
        if args.dvpp_type == ENCODE:
            self.write("encoded.jpg", dvpp.encode(picture))
        elif args.dvpp_type == SCALE_8K:
            small = dvpp.resize(picture, 4000, 4000)
            self.write("4000_4000_nv12.yuv", small.bytes())
            small.free()
        else:
            make = {DECODE: dvpp.resize, CROP: dvpp.crop, CROP_PASTE: dvpp.crop_and_paste}
            small = make[args.dvpp_type](picture)
            self.classify(small)
            small.free()
        picture.free()

    def release(self):
        self.model.release()
        print("[Model] class Model release source success")
        print("[Dvpp] class Dvpp release source")
        self.dvpp.release()
        print("[Dvpp] class Dvpp release source success")
        self.session.release()
        print("[Sample] class Sample release source success")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", type=int, default=0)
    parser.add_argument("--model_path", default="./model/resnet50_aipp.om")
    parser.add_argument("--images_path", required=True)
    parser.add_argument("--result_path", default="./vpc_out")
    parser.add_argument("--dvpp_type", type=int, choices=range(7), required=True)
    parser.add_argument("--image_type", choices=("jpg", "yuv"), default="jpg")
    parser.add_argument("--in_batch_size", type=int, default=1)
    parser.add_argument("--out_batch_size", type=int, default=1)
    args = parser.parse_args()
    print(f"Using device id:{args.device}")
    print(f"model path:{args.model_path}")
    print(f"images path:{args.images_path}")
    print(f"result path:{args.result_path}")
    print(f"dvpp type:{args.dvpp_type}\n")
    sample = Sample(args)
    sample.run()
    sample.release()


if __name__ == "__main__":
    main()
