# SPDX-License-Identifier: Apache-2.0
"""`make demo`: the guide's quick start on drawn shapes, then ResNet-50 for a time per image.

Everything is made at run time under build/demo: the pictures by Pillow, the models by atc. Each
command is printed before it runs, so that it can be typed again.
"""
import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
SHAPES = os.path.join(HERE, "shapes")
INPUT_SHAPE = "actual_input_1:1,3,224,224"


class Demo:
    def __init__(self, build):
        self.build = os.path.abspath(build)
        self.folder = os.path.join(self.build, "demo")
        self.env = dict(os.environ, PYTHONPATH=os.path.join(self.build, "python"))
        self.env["PATH"] = os.pathsep.join([os.path.join(self.build, "bin"),
                                            os.path.dirname(sys.executable), self.env["PATH"]])

    def run(self, *command, folder="."):
        """Prints a command, runs it, and returns what it printed; ends the demo if it fails."""
        print("$ " + shlex.join(os.path.relpath(word, os.path.join(self.folder, folder))
                                if os.path.isabs(word) else word for word in command), flush=True)
        done = subprocess.run(command, cwd=os.path.join(self.folder, folder), env=self.env,
                              stdout=subprocess.PIPE, text=True, check=False)
        print(done.stdout, end="", flush=True)
        if done.returncode != 0:
            sys.exit(f"the demo stops: {command[0]} ended with exit code {done.returncode}")
        return done.stdout

    def atc(self, onnx, name):
        self.run("atc", f"--model={onnx}", "--framework=5", f"--output={name}",
                 f"--input_shape={INPUT_SHAPE}", "--soc_version=Ascend310P3", folder="model")

    def quick_start(self):
        self.run("python", os.path.join(SHAPES, "draw_shapes.py"), "data",
                 "star", "ring", "heart", "arrow")
        for name in ("shapes.onnx", "labels.txt"):
            shutil.copy(os.path.join(SHAPES, name), os.path.join(self.folder, "model"))
        self.atc("shapes.onnx", "shapes")
        text = self.run("anynpu", "run", os.path.join(HERE, "quick_start", "first_app.py"))
        answers = re.findall(r"\./data/(\w+?)_\S*\n=.*\n\[\d+\]: [\d.]+  (\w+)", text)
        right = sum(drawn == named for drawn, named in answers)
        print(f"{right} of {len(answers)} pictures have the right name first\n", flush=True)
        return len(answers) > 0 and right == len(answers)

    def resnet50(self):
        self.run("python", os.path.join(HERE, "models", "make_resnet50.py"), "model/resnet50.onnx")
        self.atc("resnet50.onnx", "resnet50")
        self.run("anynpu", "run", os.path.join(HERE, "time_model.py"), "model/resnet50.om")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default="build")
    demo = Demo(parser.parse_args().build)
    shutil.rmtree(demo.folder, ignore_errors=True)
    os.makedirs(os.path.join(demo.folder, "model"))
    print("--- the quick start of the guide, with a classifier of drawn shapes")
    good = demo.quick_start()
    print("--- ResNet-50 with seeded random weights: time per image")
    demo.resnet50()
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
