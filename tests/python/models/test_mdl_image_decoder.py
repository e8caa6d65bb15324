# SPDX-License-Identifier: Apache-2.0
"""The operator ImageDecoder: pictures as Pillow decodes them."""
import io

import numpy as np
import pytest
from flow_models import constant, info, model
from model_datasets import Model, atc, convert
from om_runner import run_om
from onnx import TensorProto, helper, save
from PIL import Image

import acl

UINT8, INT64 = TensorProto.UINT8, TensorProto.INT64

pytestmark = pytest.mark.usefixtures("runtime")


def drawn(mode="RGB", width=37, height=21):
    """Slopes with some noise: JPEG has something to do, and no two rows are the same."""
    x, y = np.meshgrid(np.arange(width), np.arange(height))
    planes = [6 * x + y, 255 - 5 * y - x, 3 * x + 7 * y]
    noise = np.random.default_rng(0).integers(0, 9, (height, width, 3))
    return Image.fromarray((np.stack(planes, -1) % 240 + noise).astype(np.uint8)).convert(mode)


def file_of(picture, form, **options):
    data = io.BytesIO()
    picture.save(data, form, **options)
    return data.getvalue()


FILES = {
    "jpeg 4:2:0": file_of(drawn(), "JPEG", subsampling=2),
    "jpeg 4:2:2": file_of(drawn(), "JPEG", subsampling=1, progressive=True),
    "jpeg 4:4:4": file_of(drawn(), "JPEG", subsampling=0, quality=98),
    "jpeg grey": file_of(drawn("L"), "JPEG"),
    "png": file_of(drawn(), "PNG"),
    "png alpha": file_of(drawn("RGBA"), "PNG"),
    "png palette": file_of(drawn("P"), "PNG"),
    "png grey": file_of(drawn("L"), "PNG"),
    "bmp": file_of(drawn(), "BMP"),
    "bmp palette": file_of(drawn("P"), "BMP"),
    "bmp grey": file_of(drawn("L"), "BMP"),
    "ppm": file_of(drawn(), "PPM"),
    "pgm": file_of(drawn("L"), "PPM"),
    "pbm": file_of(drawn("1"), "PPM"),
    "pgm of text": b"P2\n# a comment\n3 2\n15\n0 1 2 3 14 15\n",
    "pbm of text": b"P1 4 2 1010\n0 1 1 1",
    "ppm of text": b"P3 1 2 255 1 2 3 250 0 7",
}


def decoders(files, form):
    """(nodes, weights) of a model that decodes constants."""
    weights = [constant(f"{name} file", np.frombuffer(data, np.uint8))
               for name, data in files.items()]
    nodes = [helper.make_node("ImageDecoder", [f"{name} file"], [name], pixel_format=form)
             for name in files]
    return nodes, weights


def with_number(nodes, weights, outputs):
    nodes = [*nodes, helper.make_node("Identity", ["x"], ["y"])]
    return model(nodes, [info("x", TensorProto.FLOAT, [1])],
                 [info("y", TensorProto.FLOAT, [1]), *outputs], weights, opset=20)


@pytest.mark.parametrize("form", ["RGB", "BGR", "Grayscale"])
def test_every_format_decodes_to_the_pixels_of_pillow(tmp_path, form):
    wanted = {}
    for name, data in FILES.items():
        picture = np.array(Image.open(io.BytesIO(data)).convert("RGB"))
        if form == "Grayscale":
            picture = np.array(Image.fromarray(picture).convert("L"))[:, :, None]
        wanted[name] = picture[:, :, ::-1] if form == "BGR" else picture
    nodes, weights = decoders(FILES, form)
    outputs = [info(name, UINT8, list(picture.shape)) for name, picture in wanted.items()]
    om = convert(tmp_path, "pictures", with_number(nodes, weights, outputs))
    got = {name.split(":", 2)[-1]: array for name, array in run_om(om, [np.float32([1])]).items()}
    for name, picture in wanted.items():
        np.testing.assert_array_equal(got[name].reshape(picture.shape), picture, err_msg=name)


def test_files_of_the_run_are_decoded_and_damaged_ones_are_empty(tmp_path):
    """The length of the file and the size of the picture are known in the run only."""
    made = model([helper.make_node("ImageDecoder", ["file"], ["picture"])],
                 [info("file", UINT8, ["bytes"])], [info("picture", UINT8, None)], opset=20)
    om = convert(tmp_path, "run", made, "--input_shape=file:1~100000")
    good = FILES["jpeg 4:2:0"]
    for data in (good, FILES["png"], good[:len(good) // 2], FILES["png"][:200], FILES["bmp"][:60],
                 b"P6 100000 100000 255\n", b"no picture at all"):
        runner = Model(om, input_sizes=[len(data)], output_sizes=[37 * 21 * 3])
        runner.feed(np.frombuffer(data, np.uint8))
        desc = acl.create_tensor_desc(4, [len(data)], 2)
        assert acl.mdl.set_dataset_tensor_desc(runner.inputs, desc, 0)[1] == 0
        whole = data in (good, FILES["png"])
        code = runner.execute()
        if data.startswith(b"P6"):
            assert code != 0 and "100000x100000 pixels" in acl.get_recent_err_msg()
        else:
            assert code == 0, acl.get_recent_err_msg()
            told = acl.mdl.get_dataset_tensor_desc(runner.outputs, 0)
            shape = [acl.get_tensor_desc_dim_v2(told, i)[0] for i in range(3)]
            assert shape == ([21, 37, 3] if whole else [0, 0, 3])
        if whole:
            want = np.array(Image.open(io.BytesIO(data)).convert("RGB"))
            np.testing.assert_array_equal(runner.read(0, (21, 37, 3), np.uint8), want)
        acl.destroy_tensor_desc(desc)
        runner.close()


@pytest.mark.parametrize("form, name", [("WEBP", "WebP"), ("TIFF", "TIFF"),
                                        ("JPEG2000", "JPEG 2000")])
def test_formats_without_a_decoder_are_named(tmp_path, form, name):
    nodes, weights = decoders({"p": file_of(drawn(), form)}, "RGB")
    save(with_number([*nodes, helper.make_node("Size", ["p"], ["size"])], weights,
                     [info("size", INT64, [])]), tmp_path / "net.onnx")
    done = atc(f"--model={tmp_path}/net.onnx", "--framework=5", f"--output={tmp_path}/net",
               "--soc_version=Ascend310P3")
    assert done.returncode != 0
    assert f"is a {name} file, which has no decoder here" in done.stdout + done.stderr
