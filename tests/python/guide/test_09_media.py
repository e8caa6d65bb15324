# SPDX-License-Identifier: Apache-2.0
"""Guide 9.5.2.2, 9.5.2.3, 9.5.2.4 and 9.5.2.7: pictures and video through the media units, with the
programs of examples/media_resnet50."""
import os
import re
import shlex
import shutil
import sys

import cv2
import numpy as np
import pytest
import video_files
from blocks import block
from PIL import Image
from test_09_caffe_resnet50 import EXAMPLES, check_lines, run

FOLDER = os.path.join(EXAMPLES, "media_resnet50")
TOP5 = ["", "===== top5 inference results: ====="] + [r"label:\d+ prob: \d\.\d{6}"] * 5
RABBIT = "./data/wood_rabbit_1024_1068_nv12.yuv"


def example(name, folder, *args):
    return run([sys.executable, os.path.join(FOLDER, name), *args], folder)


def atc(text, folder):
    out = run(shlex.split(text.replace("Ascendxxx", "Ascend310P3")), folder)
    assert out.splitlines()[-1] == "ATC run success, welcome to the next use."


@pytest.fixture(scope="module")
def sample(tmp_path_factory):
    """The folder of the samples, with the models that their pages make."""
    folder = tmp_path_factory.mktemp("vpc_resnet50_imagenet_classification")
    run([sys.executable, os.path.join(EXAMPLES, "models", "make_caffe_resnet50.py"),
         "caffe_model"], folder)
    shutil.copy(os.path.join(FOLDER, "caffe_model", "aipp.cfg"), folder / "caffe_model")
    shutil.copytree(os.path.join(FOLDER, "op_models"), folder / "op_models")
    os.mkdir(folder / "model")
    example("make_data.py", folder, "data")
    atc("atc --model=caffe_model/resnet50.prototxt --weight=caffe_model/resnet50.caffemodel "
        "--framework=0 --output=model/resnet50_aipp --soc_version=Ascendxxx "
        "--insert_op_conf=caffe_model/aipp.cfg", folder)
    atc("atc --singleop=op_models/op_list.json --soc_version=Ascendxxx --output=op_models/", folder)
    return folder


def rabbit(sample):
    data = np.fromfile(sample / RABBIT, np.uint8)
    return data[:1068 * 1024].reshape(1068, 1024)


@block("9.5.2.2.1", "vpc_resnet50_imagenet_classification", note="the folder tree")
@block("9.5.2.2.2", "atc --model=caffe_model/resnet50.prototxt --weight=caffe_model/resnet50.caffem"
       "odel --framework=0 --output=model/resnet50_aipp ...")
@block("9.5.2.2.2", "atc --singleop=op_models/op_list.json --soc_version=Ascendxxx "
       "--output=op_models/")
def test_9_5_2_2_the_models_have_the_names_of_the_folder_tree(sample):
    assert os.path.exists(sample / "model" / "resnet50_aipp.om")
    assert {"0_Cast_0_2_1000_1_2_1000.om", "1_ArgMaxD_1_2_1000_3_2_1.om",
            "op_list.json"} == set(os.listdir(sample / "op_models"))


@block("9.5.2.2.2", "python3 ./src/acl_sample.py",
       note="examples/media_resnet50/classify_pictures.py stands for the program")
@block("9.5.2.2.2", "Using device id:0", slips=["Samle is Sample"],
       note="classes and numbers are those of drawn weights")
def test_9_5_2_2_decode_scale_and_classify(sample, tmp_path):
    data = tmp_path / "data"
    data.mkdir()
    for name in ("dog1_1024_683.jpg", "dog2_1024_683.jpg"):
        shutil.copy(sample / "data" / name, data)
    out = example("classify_pictures.py", sample, "--images_path", str(data))
    picture = [r"\[Sample\] width:1024 height:683", r"\[Sample\] image:.*/dog[12]_1024_683\.jpg",
               r"\[Dvpp\] vpc decode stage:", r"\[Dvpp\] vpc decode stage success",
               r"\[Dvpp\] vpc resize stage:", r"\[Dvpp\] vpc resize stage success",
               r"\[Model\] create model input dataset:",
               r"\[Model\] create model input dataset success", r"\[Model\] execute stage:",
               r"\[Model\] execute stage success", *TOP5,
               r"\[SingleOP\] single op cast success", r"\[SingleOp\] get top 1 label success",
               r"\[SingleOP\]\[ArgMaxOp\] label of classification result is:\d+"]
    check_lines(out, ["Using device id:0", r"model path:\./model/resnet50_aipp\.om",
                      "images path:.*/data", r"\[Sample\] init resource stage:",
                      r"\[Sample\] init resource stage success",
                      r"\[Model\] The class Model initializes resources:",
                      r"\[Model\] create output dataset:",
                      r"\[Model\] create output dataset success",
                      r"\[Model\] The class Model initializes resources successfully\.",
                      *picture, *picture,
                      r"\[Model\] The class Model releases resources successfully\.",
                      r"\[Dvpp\] class Dvpp exit success",
                      r"\[SingOp\] class SingOp release source success",
                      r"\[Sample\] class Sample release source success"])
    best = re.findall(r"results: =====\nlabel:(\d+)", out)
    assert best == re.findall(r"result is:(\d+)", out), "the operators find the same class"


@block("9.5.2.3.2", "python3 ./src/main.py --images_path=\"./data/wood_rabbit_1024_1061_330.jpg\" "
       "--dvpp_type=0 --image_type='jpg'",
       slips=["the folder tree is that of 9.5.2.4: it has no main.py"],
       note="examples/media_resnet50/transform_pictures.py stands for the program")
@block("9.5.2.3.2", "python3 ./src/main.py ... --dvpp_type=1 --image_type='yuv'")
@block("9.5.2.3.2", "python3 ./src/main.py ... --dvpp_type=2 --image_type='yuv'")
def test_9_5_2_3_pictures_are_decoded_or_cropped_and_classified(sample):
    jpeg = "./data/wood_rabbit_1024_1061_330.jpg"
    out = example("transform_pictures.py", sample, "--images_path=" + jpeg, "--dvpp_type=0",
                  "--image_type=jpg")
    assert "[Sample] width:1024 height:1061" in out and "top5 inference results" in out
    cropped, pasted = (example("transform_pictures.py", sample, "--images_path=" + RABBIT,
                               f"--dvpp_type={kind}", "--image_type=yuv") for kind in (1, 2))
    labels = re.findall(r"label:\d+ prob: .*", cropped)
    assert len(labels) == 5 and labels == re.findall(r"label:\d+ prob: .*", pasted)


@block("9.5.2.3.2", "python3 ./src/main.py ... --dvpp_type=3 --image_type='yuv'")
@block("9.5.2.3.2", "python3 ./src/main.py --images_path=\"./data/dvpp_vpc_8192_8192_nv12.yuv\" "
       "--dvpp_type=4 --image_type='yuv'")
def test_9_5_2_3_pictures_are_encoded_and_8k_is_scaled(sample):
    example("transform_pictures.py", sample, "--images_path=" + RABBIT, "--dvpp_type=3",
            "--image_type=yuv")
    image = Image.open(sample / "vpc_out" / "wood_rabbit_1024_1068_nv12_encoded.jpg")
    assert image.size == (1024, 1068)
    assert np.abs(np.asarray(image.convert("L")).astype(int) - rabbit(sample)).mean() < 2
    big = np.add.outer(np.arange(8192) // 64, np.arange(8192) // 64).astype(np.uint8)
    path = sample / "data" / "dvpp_vpc_8192_8192_nv12.yuv"
    path.write_bytes(big.tobytes() + bytes(8192 * 4096))
    example("transform_pictures.py", sample, "--images_path=" + str(path), "--dvpp_type=4",
            "--image_type=yuv")
    path.unlink()
    small = np.fromfile(sample / "vpc_out" / "dvpp_vpc_8192_8192_nv12_4000_4000_nv12.yuv", np.uint8)
    assert small.size == 4000 * 4000 * 3 // 2
    wanted = cv2.resize(big, (4000, 4000))
    assert np.abs(small[:4000 * 4000].reshape(4000, 4000).astype(int) - wanted).max() <= 1


@block("9.5.2.3.2", "python3 ./src/main.py ... --dvpp_type=5 --image_type='yuv' --in_batch_size=1 "
       "--out_batch_size=8")
@block("9.5.2.3.2", "python3 ./src/main.py ... --dvpp_type=6 --image_type='yuv' --in_batch_size=1 "
       "--out_batch_size=8")
@block("9.5.2.3.2", "Using device id:0",
       slips=["in_batch_size is printed for the size of the output",
              "the stage of Dvpp begins twice and does not end"])
def test_9_5_2_3_batches_are_cropped_and_pasted(sample):
    out = ""
    for kind in (5, 6):
        out = example("transform_pictures.py", sample, "--images_path=" + RABBIT,
                      f"--dvpp_type={kind}", "--image_type=yuv", "--in_batch_size=1",
                      "--out_batch_size=8")
    check_lines(out, [
        "Using device id:0", r"model path:\./model/resnet50_aipp\.om",
        r"images path:\./data/wood_rabbit_1024_1068_nv12\.yuv", r"result path:\./vpc_out",
        "dvpp type:6", "", r"\[Sample\] init resource stage:",
        r"\[Sample\] init resource stage success", r"\[Model\] class Model init resource stage:",
        r"\[Model\] create model output dataset:", r"\[Model\] create model output dataset success",
        r"\[Model\] class Model init resource stage success",
        r"\[Dvpp\] class Dvpp init resource stage:",
        r"\[Dvpp\] class Dvpp init resource stage success",
        r"\[Sample\] image:\./data/wood_rabbit_1024_1068_nv12\.yuv res_path:\./vpc_out",
        r"\[Sample\] width:1024 height:1068", r"\[Sample\] in_batch_size:1 out_batch_size:8",
        *[rf"\[Sample\]write out to file \./vpc_out/wood_rabbit_1024_1068_nv12_6crop_{i}\.yuv "
          "success" for i in range(8)],
        r"\[Model\] class Model release source success", r"\[Dvpp\] class Dvpp release source",
        r"\[Dvpp\] class Dvpp release source success",
        r"\[Sample\] class Sample release source success"])
    luma = rabbit(sample)
    for number in (0, 7):
        name = f"wood_rabbit_1024_1068_nv12_{{}}crop_{number}.yuv"
        crop = np.fromfile(sample / "vpc_out" / name.format(5), np.uint8)[:224 * 224]
        at = (slice(224), slice(224)) if number == 0 else (slice(844, 1068), slice(800, 1024))
        assert np.array_equal(crop.reshape(224, 224), luma[at])
        pasted = np.fromfile(sample / "vpc_out" / name.format(6), np.uint8)[:448 * 448]
        pasted = pasted.reshape(448, 448).copy()
        assert np.array_equal(pasted[112:336, 112:336], luma[at])
        pasted[112:336, 112:336] = 0
        assert not pasted.any(), "what lies around is left as it was"


@block("9.5.2.7.1", "venc_image", note="the folder tree; src/ is examples/media_resnet50")
@block("9.5.2.7.2", "python3 ./src/acl_venc.py",
       note="examples/media_resnet50/encode_video.py stands for the program")
@block("9.5.2.7.2", "[INFO] start_thread 46994427340544 0",
       note="sizes of the packets are those of our encoder; callbacks come when they come; no "
       "context is destroyed inside the thread")
def test_9_5_2_7_a_picture_is_encoded_sixteen_times(sample):
    out = example("encode_video.py", sample)
    sizes = re.findall(r"\[INFO\] \[venc\] stream_data size (\d+)\n", out)
    rest = re.sub(r"\[INFO\] \[venc\] stream_data size \d+\n", "", out)
    rest = re.sub(r"\[INFO\] cb_thread_func args_list = \d+ 1000 True\n", "", rest)
    check_lines(rest, [r"\[INFO\] start_thread \d+ 0", r"\[INFO\] set venc channel desc",
                       r"\[INFO\] create_frame_config", r"\[INFO\] set pic desc size",
                       r"\[INFO\] set frame config", r"\[INFO\] venc send frame eos",
                       r"\[INFO\] acl\.media\.venc_send_frame ret= 0",
                       r"\[INFO\] venc process success", r"\[INFO\] venc_process end",
                       r"\[INFO\] stop_thread 0", r"\[INFO\] thread join"])
    stream = (sample / "data" / "output.h265").read_bytes()
    assert len(sizes) == 16 and sum(map(int, sizes)) == len(stream)
    frames = video_files.decode("hevc", stream, 128, 128)
    source = np.fromfile(sample / "data" / "dvpp_venc_128x128_nv12.yuv", np.uint8)
    assert len(frames) == 16 and np.abs(frames.astype(int) - source).mean() < 6


@block("9.5.2.3.1", "resnet50_imagenet_classification",
       slips=["the folder tree is that of 9.5.2.4"])
@block("9.5.2.4.1", "vdec_resnet50_classification",
       note="the folder tree; src/ is examples/media_resnet50")
@block("9.5.2.4.2", "atc --model=caffe_model/resnet50.prototxt --weight=caffe_model/resnet50.caffem"
       "odel --framework=0 --output=model/resnet50_aipp ...")
@block("9.5.2.4.2", "python3 ./src/acl_sample.py",
       note="examples/media_resnet50/classify_video.py stands for the program")
@block("9.5.2.4.2", "init resource stage:",
       note="classes and numbers are those of drawn weights; the video is drawn and encoded by "
       "encode_video.py; callbacks come when they come")
def test_9_5_2_4_one_frame_is_decoded_ten_times_and_classified(sample):
    video = "./data/vdec_h265_1frame_rabbit_1280x720.h265"
    example("encode_video.py", sample, "--input", "./data/rabbit_1280x720_nv12.yuv", "--venc_cnt",
            "1", "--output", video)
    for name in ("aipp.cfg", "resnet50.caffemodel", "resnet50.prototxt"):
        assert (sample / "caffe_model" / name).is_file()
    out = example("classify_video.py", sample)
    assert out.count("[Vdec] [_callback] _callback exit success\n") == 10
    rest = out.replace("[Vdec] [_callback] _callback exit success\n", "")
    send = [r"\[Vdec\] create input stream desc success",
            r"\[Vdec\] create output pic desc success", r"\[Vdec\] vdec_send_frame stage success"]
    classify = [r"\[Dvpp\] vpc resize stage:", r"\[Dvpp\] vpc resize stage success",
                r"\[Model\] create model input dataset:",
                r"\[Model\] create model input dataset success", r"\[Model\] execute stage:",
                r"\[Model\] execute stage success", *TOP5,
                r"result: class_label\[\d+\],top1\[\d\.\d{6}\],top5\[\d\.\d{6}\]"]
    check_lines(rest, [
        "init resource stage:", "init resource stage success",
        r"\[Model\] class Model init resource stage:", r"\[Model\] create model output dataset:",
        r"\[Model\] create model output dataset success",
        r"\[Model\] class Model init resource stage success",
        r"\[Dvpp\] class Dvpp init resource stage:",
        r"\[Dvpp\] class Dvpp init resource stage success",
        r"\[Vdec\] class Vdec init resource stage:",
        r"\[Vdec\] class Vdec init resource stage success",
        *[line for i in range(10) for line in (rf"\[Vdec\] forward index:{i}", *send)],
        r"\[Vdec\] \[_thread_func\] _thread_func out", r"\[Vdec\] vdec finish!!!", "",
        *classify * 10, r"\[Sample\] release source stage:",
        r"\[Dvpp\] class Dvpp release source success",
        r"\[Model\] class Model release source success", r"\[Vdec\] release resource:",
        r"\[Vdec\] release resource success", r"\[Sample\] release source stage success"])
    assert len(set(re.findall("result: .*", out))) == 1, "ten times the same frame"
