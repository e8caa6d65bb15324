# SPDX-License-Identifier: Apache-2.0
"""Every program of examples/ under `anynpu check`: nothing to find, and the same outcome."""
import glob
import json
import os
import shutil
import subprocess
import sys

import numpy as np
import pytest
from build_tree import BUILD
from conftest import EXAMPLES

# Programs that make files for others and call no acl, and the two that are wrong on purpose.
# Examples of frameworks and of the graph engine need more than this machine may have.
NOT_RUN = {"check/wrong.py", "check/wrong.cpp", "demo.py", "graph_engine/build_model.cpp",
           "mindspore/lenet.py", "tensorflow/make_frozen.py", "tensorflow/run_frozen.py"}
HELPERS = ("models/*", "shapes/*", "detection/make_detector.py", "detection/boxes.py",
           "video/codec.py", "custom_kernel/*.cc", "media_resnet50/make_data.py",
           "media_resnet50/dvpp.py",
           "media_resnet50/model.py", "media_resnet50/session.py", "caffe_resnet50/pictures.py",
           "operators_c/*.cc", "hpe/*.cc")
RUN = {"quick_start/first_app.py", "time_model.py", "operator_add/src/execute_add.py",
       "ais_bench/classify.py", "caffe_resnet50/classify.py", "caffe_resnet50/classify_async.py",
       "media_resnet50/classify_pictures.py", "media_resnet50/transform_pictures.py",
       "media_resnet50/encode_video.py", "media_resnet50/classify_video.py", "hpe/product.py",
       "quick_start/memory.py", "detection/detect.py", "video/make_video.py", "video/annotate.py",
       "asynchronous/callbacks.py", "several_devices/serve.py", "custom_kernel/saxpy.py",
       "profiling/profile_model.py", "operators_c/add_compiled.c", "operators_c/add_loaded.c",
       "operators_c/matrix_product.c",
       "operators_c/nearest_features.c", "operators_c/launch_kernel.c"}


def test_every_example_is_checked_here():
    found = {os.path.relpath(path, EXAMPLES) for kind in ("py", "c", "cc", "cpp")
             for path in glob.glob(f"{EXAMPLES}/**/*.{kind}", recursive=True)}
    helpers = {os.path.relpath(path, EXAMPLES) for name in HELPERS
               for path in glob.glob(os.path.join(EXAMPLES, name))}
    assert found - helpers - NOT_RUN == RUN


def make(*command, cwd):
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr


def atc(folder, *options):
    make("atc", *options, "--soc_version=Ascend310P3", cwd=folder)


def clean(checked):
    assert checked.findings == [], json.dumps(checked.findings, indent=1)
    assert checked.done.returncode == 0, checked.done.stdout + checked.done.stderr
    return checked.done.stdout


def path_of(name):
    assert name in RUN
    return os.path.join(EXAMPLES, name)


def test_the_short_programs(check, tmp_path):
    atc(tmp_path, f"--model={EXAMPLES}/shapes/shapes.onnx", "--framework=5", "--output=shapes",
        "--input_shape=actual_input_1:1,3,224,224")
    clean(check(path_of("quick_start/memory.py"), cwd=tmp_path))
    clean(check(path_of("asynchronous/callbacks.py"), "shapes.om", "4", cwd=tmp_path))
    clean(check(path_of("several_devices/serve.py"), "shapes.om", "shapes.om", "4", cwd=tmp_path))
    clean(check(path_of("profiling/profile_model.py"), "shapes.om", "2", cwd=tmp_path))
    if shutil.which("clang-19"):
        clean(check(path_of("custom_kernel/saxpy.py"), cwd=tmp_path))


def test_detection_and_a_video(check, tmp_path):
    clean(check(path_of("video/make_video.py"), "data", cwd=tmp_path))
    atc(tmp_path, "--model=data/detector.onnx", "--framework=5", "--output=data/detector",
        "--insert_op_conf=data/aipp.cfg")
    clean(check(path_of("detection/detect.py"), "data/discs.jpg", "data/found.jpg", "--model",
                "data/detector.om", cwd=tmp_path))
    out = clean(check(path_of("video/annotate.py"), "data/discs.h265", "data/found.h265", "640",
                      "480", "--model", "data/detector.om", cwd=tmp_path))
    assert "8 frames in data/found.h265" in out


def test_single_operators_and_ais_bench(check, tmp_path):
    shutil.copytree(os.path.join(EXAMPLES, "operator_add"), tmp_path / "add")
    folder = tmp_path / "add" / "test_data"
    atc(folder, "--singleop=config/add_op.json", "--output=op_models")
    clean(check(str(tmp_path / "add" / "src" / "execute_add.py"), options=["--guard"], cwd=folder))
    clean(check(path_of("ais_bench/classify.py"), options=["--guard"]))


def test_the_quick_start_and_the_timer(check, tmp_path):
    shapes = os.path.join(EXAMPLES, "shapes")
    make(sys.executable, os.path.join(shapes, "draw_shapes.py"), "data", cwd=tmp_path)
    (tmp_path / "model").mkdir()
    for name in ("shapes.onnx", "labels.txt"):
        shutil.copy(os.path.join(shapes, name), tmp_path / "model")
    atc(tmp_path / "model", "--model=shapes.onnx", "--framework=5", "--output=shapes",
        "--input_shape=actual_input_1:1,3,224,224")
    out = clean(check(path_of("quick_start/first_app.py"), options=["--guard"]))
    assert "top5 inference results" in out
    assert "one image" in clean(check(path_of("time_model.py"), "model/shapes.om", "1"))


@pytest.fixture(scope="module")
def resnet50(tmp_path_factory):
    """caffe_model, model and data as the samples of the guide have them."""
    from PIL import Image
    folder = tmp_path_factory.mktemp("resnet50")
    make(sys.executable, os.path.join(EXAMPLES, "models", "make_caffe_resnet50.py"), "caffe_model",
         cwd=folder)
    media = os.path.join(EXAMPLES, "media_resnet50")
    shutil.copy(os.path.join(media, "caffe_model", "aipp.cfg"), folder / "caffe_model")
    shutil.copytree(os.path.join(media, "op_models"), folder / "op_models")
    make(sys.executable, os.path.join(media, "make_data.py"), "data", cwd=folder)
    os.mkdir(folder / "model")
    os.mkdir(folder / "pictures")
    coarse = np.random.default_rng(3).integers(0, 256, (12, 16, 3), np.uint8)
    Image.fromarray(coarse).resize((1024, 683)).save(folder / "pictures" / "dog1_1024_683.jpg")
    model = ("--model=caffe_model/resnet50.prototxt", "--weight=caffe_model/resnet50.caffemodel",
             "--framework=0")
    atc(folder, *model, "--output=model/resnet50", "--input_format=NCHW",
        "--input_fp16_nodes=data", "--output_type=FP32", "--out_nodes=prob:0")
    atc(folder, *model, "--output=model/resnet50_aipp", "--insert_op_conf=caffe_model/aipp.cfg")
    atc(folder, "--singleop=op_models/op_list.json", "--output=op_models/")
    return folder


@pytest.mark.parametrize("name, options", [
    ("caffe_resnet50/classify.py", ["--images_path", "./pictures"]),
    ("caffe_resnet50/classify_async.py", ["--images_path", "./pictures", "--execute_times", "2"]),
    ("media_resnet50/classify_pictures.py", ["--images_path", "./pictures"]),
    ("media_resnet50/transform_pictures.py",
     ["--images_path=./data/wood_rabbit_1024_1068_nv12.yuv", "--dvpp_type=5", "--image_type=yuv",
      "--in_batch_size=1", "--out_batch_size=8"])])
def test_pictures_through_resnet50(check, resnet50, name, options):
    clean(check(path_of(name), *options, cwd=resnet50))


def test_video_through_resnet50(check, resnet50):
    clean(check(path_of("media_resnet50/encode_video.py"), "--input",
                "./data/rabbit_1280x720_nv12.yuv", "--venc_cnt", "1", "--output",
                "./data/vdec_h265_1frame_rabbit_1280x720.h265", cwd=resnet50))
    assert clean(check(path_of("media_resnet50/classify_video.py"), cwd=resnet50)).count(
        "top5 inference results") == 10


@pytest.mark.parametrize("name, library", [
    ("add_compiled", "acl_op_compiler"), ("add_loaded", "acl_op_executor"),
    ("matrix_product", "acl_cblas"), ("nearest_features", "acl_retr"),
    ("launch_kernel", "ascendcl")])
def test_programs_in_c(check, tmp_path, name, library):
    source = path_of(f"operators_c/{name}.c")
    make("gcc", "-g", "-std=c99", source, "-o", name, f"-I{BUILD}/include", f"-L{BUILD}/lib",
         f"-l{library}", "-lascendcl", f"-Wl,-rpath,{BUILD}/lib", cwd=tmp_path)
    arguments = []
    if name == "add_loaded":
        atc(tmp_path, f"--singleop={EXAMPLES}/operators_c/add.json", "--output=op_models")
        arguments = ["op_models"]
    if name == "launch_kernel":
        arguments = [scale_kernel(tmp_path)]
    clean(check(str(tmp_path / name), *arguments))


def scale_kernel(folder):
    if shutil.which("clang-19") is None:
        pytest.skip("clang-19 is not installed")
    make("stc-clang++", "--target=riscv32npu", "-O2", "-c",
         os.path.join(EXAMPLES, "operators_c", "scale_kernel.cc"), "-o", "scale.o", cwd=folder)
    make("stc-ld.lld", "-flavor", "gnu", "scale.o",
         "/usr/local/hpe/riscv32npu/lib/libnpurt_hld.a", "-r", "-o", "scale-fat.o", cwd=folder)
    return str(folder / "scale-fat.o")


def test_a_program_of_hpe_is_named_as_not_checked(check, tmp_path):
    scale_kernel(tmp_path)
    checked = check(path_of("hpe/product.py"))
    assert checked.kinds() == ["not-checked"], checked.done.stderr
    assert "libhpert.so" in checked.findings[0]["message"]
    assert checked.done.returncode == 99
