# SPDX-License-Identifier: Apache-2.0
"""Guide 9.5.2.5 and 9.5.2.6: pictures through a Caffe ResNet-50, synchronous and asynchronous, with
the programs of examples/caffe_resnet50."""
import os
import re
import shlex
import subprocess
import sys

import numpy as np
import pytest
from blocks import block
from build_tree import BUILD
from PIL import Image

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
EXAMPLES = os.path.join(ROOT, "examples")
TOP5 = ["===== top5 inference results: ====="] + [r"\[\d+\]: \d\.\d{6}"] * 5


def start(command, folder):
    env = {**os.environ, "PYTHONPATH": os.path.join(BUILD, "python")}
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300,
                          env=env)


def run(command, folder):
    done = start(command, folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def sample(tmp_path_factory):
    """The folder of the sample: caffe_model, data and an empty model folder."""
    folder = tmp_path_factory.mktemp("resnet50_imagenet_classification")
    run([sys.executable, os.path.join(EXAMPLES, "models", "make_caffe_resnet50.py"),
         "caffe_model"], folder)
    os.mkdir(folder / "model")
    os.mkdir(folder / "data")
    random = np.random.default_rng(3)
    for name in ("dog1_1024_683.jpg", "dog2_1024_683.jpg"):
        coarse = random.integers(0, 256, (12, 16, 3), np.uint8)
        Image.fromarray(coarse).resize((1024, 683)).save(folder / "data" / name)
    return folder


def convert(text, folder):
    """The atc command of the page; Ascendxxx stands for a chip."""
    args = shlex.split(text.replace("Ascendxxx", "Ascend310P3"))
    out = run(args, folder)
    assert out.splitlines()[-1] == "ATC run success, welcome to the next use."
    assert os.path.exists(folder / "model" / "resnet50.om")


def check_lines(out, wanted):
    """Every line has the form that the page shows, in its order."""
    lines = out.splitlines()
    assert len(lines) == len(wanted), out
    for line, form in zip(lines, wanted):
        assert re.fullmatch(form, line), (line, form)


@block("9.5.2.5.2", "atc --model=caffe_model/resnet50.prototxt "
       "--weight=caffe_model/resnet50.caffemodel --framework=0 --output=model/resnet50 ...")
@block("9.5.2.5.2", "python3 ./src/acl_net.py",
       note="examples/caffe_resnet50/classify.py stands for the program")
@block("9.5.2.5.2", "Using device id:0", note="classes and numbers are those of drawn weights")
def test_9_5_2_5_synchronous_classification(sample):
    convert("atc --model=caffe_model/resnet50.prototxt --weight=caffe_model/resnet50.caffemodel "
            "--framework=0 --output=model/resnet50 --soc_version=Ascendxxx --input_format=NCHW "
            "--input_fp16_nodes=data --output_type=FP32 --out_nodes=prob:0", sample)
    out = run([sys.executable, os.path.join(EXAMPLES, "caffe_resnet50", "classify.py")], sample)
    picture = [r"images:\./data/dog[12]_1024_683\.jpg", "data interaction from host to device",
               "data interaction from host to device success", "execute stage:",
               "execute stage success", "data interaction from device to host",
               "data interaction from device to host success", *TOP5]
    check_lines(out, ["Using device id:0", r"model path:\./model/resnet50\.om",
                      r"images path:\./data", "init resource stage:", "model_id:1",
                      "init resource success", *picture, *picture, r"\*{4}run finish\*{4}",
                      "Releasing resources stage:", r"Resources released successfully\."])


@block("9.5.2.6.2", "atc --model=caffe_model/resnet50.prototxt "
       "--weight=caffe_model/resnet50.caffemodel --framework=0 --",
       slips=["two options are broken after their dashes: the lines are joined"])
@block("9.5.2.6.2", "python3 ./src/acl_net.py",
       note="examples/caffe_resnet50/classify_async.py stands for the program")
@block("9.5.2.6.2", "Using device id:0",
       note="classes and numbers are those of drawn weights; callbacks may come before "
       "the line 'execute stage success'")
def test_9_5_2_6_asynchronous_classification(sample):
    convert("atc --model=caffe_model/resnet50.prototxt --weight=caffe_model/resnet50.caffemodel "
            "--framework=0 --output=model/resnet50 --soc_version=Ascendxxx --input_format=NCHW "
            "--input_fp16_nodes=data --output_type=FP32 --out_nodes=prob:0", sample)
    program = os.path.join(EXAMPLES, "caffe_resnet50", "classify_async.py")
    out = run([sys.executable, program], sample)
    lines = out.splitlines()
    lines.remove("execute stage success")
    callback = ["callback func stage:", "", *TOP5, "callback func stage success"]
    check_lines("\n".join(lines),
                ["Using device id:0", "execute_times:4", "callback_interval:1", "mem_pools:4",
                 r"model path:\./model/resnet50\.om", r"images path:\./data",
                 "init resource stage:", "init resource stage success",
                 "data interaction from host to device",
                 "data interaction from host to device success", "execute stage:",
                 *callback * 4, r"exit acl\.rt\.process_report", "run finish!!!",
                 "release source stage:", "release source stage success"])
    best = re.findall(r"results: =====\n\[(\d+)\]", out)
    assert best[0] == best[2] and best[1] == best[3], "the pictures take turns"


@block("7.5.2", "(words) six parameters: device, runs, interval, pool, model, pictures")
def test_7_5_2_parameters_of_the_asynchronous_program(sample):
    program = os.path.join(EXAMPLES, "caffe_resnet50", "classify_async.py")
    out = run([sys.executable, program, "--device", "1", "--execute_times", "6",
               "--callback_interval", "3", "--memory_pool", "7"], sample)
    assert out.count("callback func stage success") == 2
    assert out.count("top5 inference results") == 6
    out = run([sys.executable, program, "--execute_times", "2", "--callback_interval", "0"], sample)
    assert "callback func stage" not in out
    done = start([sys.executable, program, "--execute_times", "5", "--memory_pool", "2"], sample)
    assert done.returncode == 2 and "each run needs a block of its own" in done.stderr
