# SPDX-License-Identifier: Apache-2.0
"""Draws what the programs work on into a folder: python3 make_data.py data [--big]

JPEG files of 1024x683 and 1024x1061, NV12 pictures of 1024x1068, 1280x720 and 128x128, and with
--big one of 8192x8192 (100 MB)."""
import argparse
import os

import numpy as np
from PIL import Image


def rgb(width, height, seed):
    coarse = np.random.default_rng(seed).integers(0, 256, (12, 16, 3), np.uint8)
    return Image.fromarray(coarse).resize((width, height))


def nv12(width, height, seed):
    luma, blue, red = rgb(width, height, seed).convert("YCbCr").split()
    half = (width // 2, height // 2)
    chroma = np.stack([np.asarray(part.resize(half)) for part in (blue, red)], -1)
    return np.asarray(luma).tobytes() + chroma.tobytes()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder")
    parser.add_argument("--big", action="store_true")
    args = parser.parse_args()
    os.makedirs(args.folder, exist_ok=True)
    for seed, (name, width, height) in enumerate((("dog1_1024_683", 1024, 683),
                                                  ("dog2_1024_683", 1024, 683),
                                                  ("wood_rabbit_1024_1061_330", 1024, 1061))):
        rgb(width, height, seed).save(f"{args.folder}/{name}.jpg")
    sizes = {"wood_rabbit_1024_1068_nv12": (1024, 1068), "dvpp_venc_128x128_nv12": (128, 128),
             "rabbit_1280x720_nv12": (1280, 720)}
    if args.big:
        sizes["dvpp_vpc_8192_8192_nv12"] = (8192, 8192)
    for name, (width, height) in sizes.items():
        with open(f"{args.folder}/{name}.yuv", "wb") as file:
            file.write(nv12(width, height, len(name)))


if __name__ == "__main__":
    main()
