# SPDX-License-Identifier: Apache-2.0
"""Names drawn shapes with ais_bench's API: one by one, in a pipeline, and on two devices.

    python examples/ais_bench/classify.py [--pictures 8]

Makes everything it needs in a temporary folder: the pictures by Pillow, the model by atc.
"""
import argparse
import os
import subprocess
import sys
import tempfile

import numpy as np
from PIL import Image

from ais_bench.infer.interface import InferSession, MultiDeviceSession

SHAPES = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "shapes")


def prepare(path):
    """A picture as the model wants it: normalised, BGR, channels first."""
    with Image.open(path) as file:
        pixels = np.array(file.convert("RGB").resize((224, 224)), np.float32)
    pixels = (pixels - [123.675, 116.28, 103.53]) / [58.395, 57.12, 57.375]
    return pixels[None, :, :, ::-1].transpose(0, 3, 1, 2).astype(np.float32)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pictures", type=int, default=4, choices=range(1, 9))
    count = parser.parse_args().pictures
    with open(os.path.join(SHAPES, "labels.txt")) as file:
        labels = file.read().split()
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, os.path.join(SHAPES, "draw_shapes.py"), f"{folder}/data",
                        *labels[:count]], check=True)
        subprocess.run(["atc", f"--model={SHAPES}/shapes.onnx", "--framework=5",
                        f"--output={folder}/shapes", "--soc_version=Ascend310P3",
                        "--input_shape=actual_input_1:1,3,224,224"], check=True,
                       stdout=subprocess.DEVNULL)
        names = sorted(os.listdir(f"{folder}/data"))
        feeds = [[prepare(f"{folder}/data/{name}")] for name in names]

        session = InferSession(0, f"{folder}/shapes.om")
        one_by_one = [session.infer(one)[0] for one in feeds]
        pipeline = [outputs[0] for outputs in session.infer_pipeline(feeds)]
        devices = MultiDeviceSession(f"{folder}/shapes.om")
        answers = devices.infer({0: feeds[::2], **({1: feeds[1::2]} if count > 1 else {})})
        devices.close()

    for i, (name, scores) in enumerate(zip(names, one_by_one)):
        print(f"{name}: {labels[int(np.argmax(scores))]}, "
              f"{float(session.summary().exec_time_list[i]):.3f} ms")
        assert np.array_equal(pipeline[i], scores)
        assert np.array_equal(answers[i % 2][i // 2][0], scores)
    print("one by one, pipeline and two devices: the same bytes")


if __name__ == "__main__":
    main()
