# SPDX-License-Identifier: Apache-2.0
"""Guide 9.5.2.5 and 9.5.2.6: pictures through a Caffe ResNet-50, synchronous and asynchronous, with
the programs of examples/caffe_resnet50."""
import os
import re
import shlex
import subprocess
import sys

import cv2
import numpy as np
import pytest
from blocks import block
from build_tree import BUILD, ROOT
from PIL import Image

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


def expected_best(folder, name):
    """The five best classes of a picture and their numbers, by OpenCV's own reader of Caffe."""
    sys.path.insert(0, os.path.join(EXAMPLES, "caffe_resnet50"))
    try:
        from pictures import read_picture
    finally:
        sys.path.pop(0)
    net = cv2.dnn.readNetFromCaffe(str(folder / "caffe_model" / "resnet50.prototxt"),
                                   str(folder / "caffe_model" / "resnet50.caffemodel"))
    net.setInput(read_picture(str(folder / "data" / name)).astype(np.float32))
    values = net.forward().ravel()
    return [(int(i), float(values[i])) for i in values.argsort()[-1:-6:-1]]


def check_best(out, folder):
    """The printed classes, picture after picture in turn, are those of another importer."""
    printed = [(int(i), float(v)) for i, v in re.findall(r"\[(\d+)\]: (\d\.\d{6})", out)]
    wanted = [expected_best(folder, name) for name in ("dog1_1024_683.jpg", "dog2_1024_683.jpg")]
    assert abs(wanted[0][0][1] - wanted[1][0][1]) > 0.01, "a mix-up of the pictures is seen"
    assert printed and len(printed) % 10 == 0
    for at in range(0, len(printed), 5):
        for (i, v), (want_i, want_v) in zip(printed[at:at + 5], wanted[at // 5 % 2]):
            assert i == want_i and abs(v - want_v) <= 2e-6 + 1e-4 * want_v


@block("9.5.2.5.1", "resnet50_imagenet_classification",
       note="the folder tree; src/ is examples/caffe_resnet50")
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
    check_best(out, sample)
    for name in ("data/dog1_1024_683.jpg", "data/dog2_1024_683.jpg", "model/resnet50.om",
                 "caffe_model/resnet50.caffemodel", "caffe_model/resnet50.prototxt"):
        assert (sample / name).is_file()


@block("9.5.2.6.1", "resnet50_async_imagenet_classification",
       note="the folder tree, printed in two blocks; it is that of 9.5.2.5.1")
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
    check_best(out, sample)


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
    for option, value, why in (("--images_path", "nowhere", "no pictures in nowhere"),
                               ("--images_path", "model", "no pictures in model"),
                               ("--model_path", "nowhere.om", "nowhere.om"),
                               ("--device", "99", "device 99 does not exist"),
                               ("--callback_interval", "-1", "-1 is not 0 or more")):
        done = start([sys.executable, program, option, value], sample)
        assert done.returncode in (1, 2) and why in done.stderr
        assert "Traceback" not in done.stderr
