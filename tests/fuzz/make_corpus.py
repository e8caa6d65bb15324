#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes tests/fuzz/corpus: small files that use every part of the formats.

    tests/fuzz/make_corpus.py          needs atc, anynpu and stc-clang++ on the path (make product)
"""
import io
import os
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from PIL import Image

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [os.path.join(ROOT, "tests", "support"), os.path.join(ROOT, "examples", "models"),
                os.path.join(ROOT, "tests", "python", "onnx_backend")]

import caffe_file  # noqa: E402
import field_coded_video  # noqa: E402
import flow_models  # noqa: E402
import tensorflow_models  # noqa: E402
import video_files  # noqa: E402

PROTOTXT = """name: "net"
layer { name: "data" type: "Input" top: "data"
  input_param { shape { dim: 1 dim: 2 dim: 5 dim: 5 } } }
layer { name: "conv" type: "Convolution" bottom: "data" top: "conv"
  convolution_param { num_output: 2 kernel_size: 3 pad: 1 stride: 2 } }
layer { name: "relu" type: "ReLU" bottom: "conv" top: "conv" }
layer { name: "pool" type: "Pooling" bottom: "conv" top: "pool"
  pooling_param { pool: MAX kernel_size: 2 stride: 1 } }
layer { name: "ip" type: "InnerProduct" bottom: "pool" top: "ip"
  inner_product_param { num_output: 3 } }
layer { name: "prob" type: "Softmax" bottom: "ip" top: "prob" softmax_param { axis: 1 } }
"""
OLD_PROTOTXT = """name: "old" input: "data" input_dim: 1 input_dim: 3 input_dim: 4 input_dim: 4
layers { name: "drop" type: DROPOUT bottom: "data" top: "data"
  dropout_param { dropout_ratio: 0.5 } }
layers { name: "cut" type: SLICE bottom: "data" top: "a" top: "b"
  slice_param { slice_dim: 1 slice_point: 1 } }
layers { name: "join" type: CONCAT bottom: "a" bottom: "b" top: "out"
  concat_param { concat_dim: 1 } }
"""
MOST_OF_AN_OPERATOR = 1000  # bytes
PICTURES = "\n----\npictures"  # behind the text: what is fed
STATIC_AIPP = """aipp_op { aipp_mode: static related_input_rank: 0 input_format: YUV420SP_U8
  src_image_size_w: 32 src_image_size_h: 24 crop: true load_start_pos_w: 2 load_start_pos_h: 2
  crop_size_w: 16 crop_size_h: 16 csc_switch: true rbuv_swap_switch: false
  matrix_r0c0: 256 matrix_r0c1: 0 matrix_r0c2: 359 matrix_r1c0: 256 matrix_r1c1: -88
  matrix_r1c2: -183 matrix_r2c0: 256 matrix_r2c1: 454 matrix_r2c2: 0 input_bias_0: 0
  input_bias_1: 128 input_bias_2: 128 mean_chn_0: 104 mean_chn_1: 117
  min_chn_0: 0.5 var_reci_chn_0: 0.0039 }
"""
DYNAMIC_AIPP = "aipp_op { aipp_mode: dynamic max_src_image_size: 102400 # most bytes\n}\n"


def weights_net():
    """Every way a tensor is stored, an older opset, a type of each kind."""
    rng = np.random.default_rng(1)
    raw = numpy_helper.from_array(rng.standard_normal((2, 2, 3, 3)).astype(np.float32), "w")
    listed = helper.make_tensor("b", TensorProto.FLOAT, [2], [0.5, -1.0])
    shape = helper.make_tensor("s", TensorProto.INT64, [2], [1, -1])
    halves = helper.make_tensor("h", TensorProto.FLOAT16, [1], [1.5])
    nodes = [helper.make_node("Conv", ["x", "w", "b"], ["c"], pads=[1, 1, 1, 1]),
             helper.make_node("Relu", ["c"], ["r"]),
             helper.make_node("Reshape", ["r", "s"], ["f"]),
             helper.make_node("Cast", ["h"], ["k"], to=1),
             helper.make_node("Mul", ["f", "k"], ["m"]), helper.make_node("Add", ["m", "t"], ["y"])]
    made = flow_models.model(nodes, [flow_models.info("x", 1, [1, 2, 4, 4])],
                             [flow_models.info("y", 1, [1, 32])], [raw, listed, shape, halves],
                             opset=13)
    made.graph.sparse_initializer.append(helper.make_sparse_tensor(
        helper.make_tensor("t", TensorProto.FLOAT, [1], [2.5]),
        helper.make_tensor("i", TensorProto.INT64, [1, 2], [0, 31]), [1, 32]))
    return made


def operators():
    """(name, model): the smallest case of the onnx package for each operator."""
    import cases
    smallest = {}
    for case in cases.all_cases():
        if case.kind != "node":
            continue
        model = cases.load(case)
        if len(model.graph.node) != 1 or model.functions or cases.why_out_of_scope(model):
            continue
        op, data = model.graph.node[0].op_type, model.SerializeToString()
        if len(data) < len(smallest.get(op, b" " * MOST_OF_AN_OPERATOR)):
            smallest[op] = data
    return sorted(smallest.items())


def pictures():
    """(folder, name, bytes): JPEG and PNG files of every kind, small."""
    y, x = np.mgrid[0:19, 0:21]
    rgb = Image.fromarray(np.stack([x * 12, y * 13, x * y], -1).astype(np.uint8))
    kinds = {"grey": ("L", {}), "420": ("RGB", {"subsampling": "4:2:0"}),
             "422": ("RGB", {"subsampling": "4:2:2"}), "444": ("RGB", {"subsampling": "4:4:4"}),
             "progressive": ("RGB", {"progressive": True}), "cmyk": ("CMYK", {})}
    for name, (mode, options) in kinds.items():
        out = io.BytesIO()
        rgb.convert(mode).save(out, "JPEG", quality=60, **options)
        yield "jpeg", name, out.getvalue()
    for mode in ("1", "L", "LA", "P", "RGB", "RGBA", "I;16"):
        out = io.BytesIO()
        image = rgb.convert("I").convert(mode) if mode == "I;16" else rgb.convert(mode)
        image.save(out, "PNG")
        yield "png", mode.replace(";", ""), out.getvalue()


def videos():
    """(name, bytes): the first byte is the choice that fuzz_video.cpp tells about."""
    h264 = {"plain": ("-bf", "0"), "b_frames": ("-bf", "3"),
            "interlaced": ("-x264-params", "interlaced=1:bframes=0")}
    for name, options in h264.items():
        data = video_files.make("h264", 32, 32, 4, options)
        for choice in (0, 2, 12, 16):
            yield f"h264_{name}_{choice}", bytes([choice]) + data
    for pixels in ("yuv444p", "yuv422p10le", "gray"):  # through the scaler
        data = video_files.make("h264", 34, 17, 2, ("-bf", "0", "-pix_fmt", pixels), "testsrc")
        for choice in (0, 16):
            yield f"h264_{pixels}_{choice}", bytes([choice]) + data
    fields = b"".join(field_coded_video.make(32, 32, 2)[0])
    for choice in (0, 2, 12, 16):
        yield f"h264_fields_{choice}", bytes([choice]) + fields
    data = video_files.make("hevc", 32, 32, 4, ())
    for choice in (1, 3, 13, 17):
        yield f"h265_{choice}", bytes([choice]) + data


LIBRARY = "/usr/local/hpe/riscv32npu/lib/libnpurt_hld.a"
# (name, options, source): every kind of section, symbol and relocation; data, tables, debug lines.
DEVICE_PROGRAMS = [
    ("plain", "-O2", "extern \"C\" void k(int *out, int n) { out[CoreID] = n; }"),
    ("lines", "-O1 -g", "static __attribute__((noinline)) int twice(int x) { return 2 * x; }\n"
     "extern \"C\" void k(int *out, int n) {\n  *out = twice(n);\n}\n"),
    ("inlined", "-O2 -g", "static int add(int *p, int x) { return *p += x; }\n"
     "extern \"C\" void k(int *out, int n) { while (n--) add(out, n); }\n"),
    ("data", "-O2", "__shared__ int s[8]; __local__ float l[4] = {1, 2, 3, 4};\n"
     "__mutable__ int m = 5;\n"
     "static const char *const names[] = {\"a\", \"bc\"};\n"
     "extern \"C\" void k(int *out, int n) { s[CoreID] = m++; sync(); *out = s[0] + (int)l[n & 3] "
     "+ names[n & 1][0]; }"),
    ("table", "-O2", "extern \"C\" void k(int *out, int n) { switch (n) { case 0: *out = 7; break; "
     "case 1: sync(); break; case 2: *out += 3; break; case 3: abort(); case 4: *out *= 5; break; "
     "case 5: *out ^= 9; break; default: *out = -1; } }"),
    ("calls", "-O0", "typedef int (*F)(int); static int a(int x) { return x + 1; }\n"
     "static int b(int x) { return x * 3; }\nF f[] = {a, b};\n"
     "struct S { S(); int v; } s; S::S() : v(3) {}\n"
     "extern \"C\" void k(int *out, int n) { *out = f[n & 1](s.v); }"),
    ("floats", "-O2", "extern \"C\" void k(float *out, int n) { __fp16 h = n; "
     "*out = (float)(h * h) / 3 + __builtin_sqrtf(n); }"),
]


def device_programs(folder):
    for name, options, source in DEVICE_PROGRAMS:
        with open(f"{folder}/p.cc", "w") as file:
            file.write(source)
        subprocess.run(["stc-clang++", "--target=riscv32npu", *options.split(), "-c", "p.cc"],
                       cwd=folder, check=True)
        subprocess.run(["stc-ld.lld", "-flavor", "gnu", "p.o", LIBRARY, "-r", "-o", "linked.o"],
                       cwd=folder, check=True)
        with open(f"{folder}/linked.o", "rb") as file:
            yield name, file.read()


def save(folder, name, data):
    os.makedirs(os.path.join(HERE, "corpus", folder), exist_ok=True)
    with open(os.path.join(HERE, "corpus", folder, name), "wb") as file:
        file.write(data)


def main():
    models = {name: getattr(flow_models, name)() for name in
              ("branches", "power_loop", "growing_loop", "running_sum", "positives", "sequence",
               "functions")}
    models["weights"] = weights_net()
    for name, data in operators():
        save("onnx", f"op_{name}", data)
    with tempfile.TemporaryDirectory() as folder:
        for name, model in models.items():
            save("onnx", name, model.SerializeToString())
            onnx.save(model, f"{folder}/m.onnx")
            subprocess.run(["atc", f"--model={folder}/m.onnx", "--framework=5",
                            f"--output={folder}/m", "--soc_version=Ascend310P3"], check=True,
                           stdout=subprocess.DEVNULL)
            with open(f"{folder}/m.om", "rb") as file:
                save("om", name, file.read())
            os.rename(f"{folder}/m.om", f"{folder}/{name}.om")
        subprocess.run(["anynpu", "bundle", f"{folder}/weights.om", f"{folder}/branches.om", "-o",
                        f"{folder}/bundle.om"], check=True)
        with open(f"{folder}/bundle.om", "rb") as file:
            save("om", "bundle", file.read())
        for name, data in device_programs(folder):
            save("elf", name, data)
    blobs = {"conv": [np.ones((2, 2, 3, 3), np.float32), np.zeros(2, np.float32)],
             "ip": [np.ones((3, 8), np.float32), np.zeros(3, np.float32)]}
    weights = caffe_file.caffemodel(blobs)
    save("caffe", "net", PROTOTXT.encode() + b"\n----\n" + weights)
    save("caffe", "old", OLD_PROTOTXT.encode())
    for name, data in tensorflow_models.all_models().items():
        save("tensorflow", name, data)
    save("aipp", "static", (STATIC_AIPP + PICTURES).encode())
    save("aipp", "dynamic", (DYNAMIC_AIPP + PICTURES).encode())
    for folder, name, data in pictures():
        save(folder, name, data)
    for name, data in videos():
        save("video", name, data)


if __name__ == "__main__":
    main()
