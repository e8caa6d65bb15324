# SPDX-License-Identifier: Apache-2.0
"""Caffe models through atc and acl.mdl: every layer against numpy, and against OpenCV where it is
installed; the files that must be refused, with their sentences."""
import os
import re
import subprocess
import sys

import caffe_reference as ref
import numpy as np
import pytest
from build_tree import ROOT
from om_runner import run_om

sys.path.insert(0, os.path.join(ROOT, "examples", "models"))
from caffe_file import caffemodel, doubles, input_layer, layer  # noqa: E402
from make_caffe_resnet50 import make_caffe_resnet50  # noqa: E402

try:
    import cv2
except ImportError:
    cv2 = None
if not hasattr(getattr(cv2, "dnn", None), "readNetFromCaffe"):  # gone from release 5
    cv2 = None

SUCCESS = "ATC run success, welcome to the next use."

pytestmark = pytest.mark.usefixtures("runtime")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def atc(*more):
    return subprocess.run(["atc", "--model=net.prototxt", "--framework=0", "--output=net",
                           "--soc_version=Ascend310P3", *more],
                          capture_output=True, text=True, timeout=300)


def write(prototxt, weights):
    with open("net.prototxt", "w") as file:
        file.write(prototxt)
    with open("net.caffemodel", "wb") as file:
        file.write(weights if isinstance(weights, bytes) else caffemodel(weights))


def convert(prototxt, weights, *more):
    write(prototxt, weights)
    return atc("--weight=net.caffemodel", *more)


def run(prototxt, weights, arrays, *more):
    done = convert(prototxt, weights, *more)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == SUCCESS
    return run_om("net.om", arrays)


def check_failed(done, *sentences):
    assert done.returncode != 0
    for sentence in sentences:
        assert re.search(sentence, done.stderr, re.S), done.stderr
    assert not os.path.exists("net.om")


@pytest.mark.parametrize("case", ref.cases(), ids=lambda case: case.name)
def test_layer(case):
    """One layer of the guide's list: the result of atc's .om is that of the formula."""
    bottoms = [f"x{i}" for i in range(len(case.inputs))]
    text = "".join(input_layer(n, x.shape) for n, x in zip(bottoms, case.inputs))
    text += layer(case.kind, "the_layer", bottoms, [f"y{i}" for i in range(len(case.expected))],
                  case.text)
    weights = {"the_layer": case.weights} if case.weights else {"other": [np.zeros(1)]}
    results = {name.split(":")[2]: y for name, y in run(text, weights, case.inputs).items()}
    for i, want in enumerate(case.expected):
        got = results[f"y{i}"]
        assert got.shape == want.shape
        np.testing.assert_allclose(got, want, rtol=2e-5, atol=2e-5)


@pytest.mark.skipif(cv2 is None, reason="no OpenCV before release 5")
@pytest.mark.parametrize("case", [c for c in ref.cases() if c.opencv], ids=lambda case: case.name)
def test_layer_as_opencv_computes_it(case):
    """The formulas of the tests above are those of an independent importer."""
    bottoms = [f"x{i}" for i in range(len(case.inputs))]
    text = "".join(input_layer(n, x.shape) for n, x in zip(bottoms, case.inputs))
    tops = [f"y{i}" for i in range(len(case.expected))]
    text += layer(case.kind, "the_layer", bottoms, tops, case.text)
    takers = [f"take_{top}" for top in tops]
    if len(tops) > 1:  # OpenCV makes those that another layer takes
        text += "".join(layer("Power", *each) for each in zip(takers, zip(tops), zip(takers)))
    write(text, {"the_layer": case.weights} if case.weights else {"other": [np.zeros(1)]})
    net = cv2.dnn.readNetFromCaffe("net.prototxt", "net.caffemodel")
    for name, array in zip(bottoms, case.inputs):
        net.setInput(array, name)
    outs = net.forward(takers) if len(tops) > 1 else [net.forward()]
    for got, want in zip(outs, case.expected):
        np.testing.assert_allclose(got.ravel(), want.ravel(), rtol=1e-3, atol=1e-4)


def test_the_cases_that_opencv_computes_otherwise_are_there():
    assert set(ref.OTHERWISE_IN_OPENCV) < {case.name for case in ref.cases()}
    assert ref.NOT_IN_OPENCV < {case.kind for case in ref.cases()}


def small_net():
    rng = np.random.default_rng(3)
    weights = {"conv": [rng.standard_normal((4, 3, 3, 3)), rng.standard_normal(4)],
               "bn": [rng.standard_normal(4), rng.uniform(0.5, 1, 4), [2.0]],
               "scale": [rng.standard_normal(4), rng.standard_normal(4)],
               "fc": [rng.standard_normal((5, 4 * 3 * 3)), rng.standard_normal(5)]}
    text = ('name: "small"\n' + input_layer("data", (1, 3, 6, 6))
            + layer("Convolution", "conv", ["data"], ["conv"],
                    "convolution_param { num_output: 4 kernel_size: 3 pad: 1 }")
            + layer("BatchNorm", "bn", ["conv"], ["conv"])
            + layer("Scale", "scale", ["conv"], ["conv"], "scale_param { bias_term: true }")
            + layer("ReLU", "relu", ["conv"], ["conv"])
            + layer("Pooling", "pool", ["conv"], ["pool"],
                    "pooling_param { pool: MAX kernel_size: 2 stride: 2 }")
            + layer("Dropout", "drop", ["pool"], ["pool"])
            + layer("InnerProduct", "fc", ["pool"], ["fc"],
                    "inner_product_param { num_output: 5 }")
            + layer("Softmax", "prob", ["fc"], ["prob"]))
    return text, weights


def small_net_reference(x, weights):
    y = ref.conv(x, *weights["conv"], pad=1)
    mean, variance, factor = (np.asarray(w) for w in weights["bn"])
    y = (y - ref.channels(mean / factor)) / np.sqrt(ref.channels(variance / factor) + 1e-5)
    y = np.maximum(y * ref.channels(weights["scale"][0]) + ref.channels(weights["scale"][1]), 0)
    y = ref.pool(y, 2, 2, 0, "MAX").reshape(len(x), -1)
    return ref.softmax(y @ np.asarray(weights["fc"][0]).T + weights["fc"][1], 1)


def test_in_place_layers_of_a_small_net():
    text, weights = small_net()
    x = np.random.default_rng(4).standard_normal((1, 3, 6, 6)).astype(np.float32)
    results = run(text, weights, [x])
    assert list(results) == ["prob:0:prob"]
    np.testing.assert_allclose(results["prob:0:prob"], small_net_reference(x, weights), atol=1e-5)


def test_input_shape_replaces_the_shape_of_the_prototxt():
    text, weights = small_net()
    x = np.random.default_rng(4).standard_normal((3, 3, 6, 6)).astype(np.float32)
    results = run(text, weights, [x], "--input_shape=data:3,3,6,6")
    np.testing.assert_allclose(results["prob:0:prob"], small_net_reference(x, weights), atol=1e-5)


def test_a_wrong_input_shape_names_the_layer_that_does_not_fit():
    text, weights = small_net()
    check_failed(convert(text, weights, "--input_shape=data:1,3,8,8"),
                 "weight blob 0 is 5x36 .*asks for 5x64", r"in layer 'fc' \(InnerProduct\)")
    check_failed(convert(text, weights, "--input_shape=image:1,3,8,8"), "no input 'image'")


def test_the_old_form_of_layers_gives_the_same():
    rng = np.random.default_rng(3)
    weights = {"conv": [rng.standard_normal((4, 3, 3, 3)), rng.standard_normal(4)],
               "fc": [rng.standard_normal((5, 4 * 4 * 4)), rng.standard_normal(5)]}
    text = '''name: "old"
      input: "data" input_dim: 2 input_dim: 3 input_dim: 6 input_dim: 6
      layers { name: "conv" type: CONVOLUTION bottom: "data" top: "conv" blobs_lr: 1
               convolution_param { num_output: 4 kernel_size: 3 } }
      layers { name: "relu" type: RELU bottom: "conv" top: "conv" }
      layers { name: "fc" type: INNER_PRODUCT bottom: "conv" top: "fc"
               inner_product_param { num_output: 5 } }'''
    x = rng.standard_normal((2, 3, 6, 6)).astype(np.float32)
    results = run(text, caffemodel(weights, old=True), [x])
    want = np.maximum(ref.conv(x, *weights["conv"]), 0).reshape(2, -1) @ weights["fc"][0].T
    np.testing.assert_allclose(results["fc:0:fc"], want + weights["fc"][1], rtol=1e-4, atol=1e-4)


def test_weights_stored_as_doubles():
    text = input_layer("data", (2, 3)) + layer("InnerProduct", "fc",
                       ["data"], ["fc"], "inner_product_param { num_output: 2 bias_term: false }")
    w = np.arange(6.0).reshape(2, 3)
    x = np.ones((2, 3), np.float32)
    np.testing.assert_allclose(run(text, doubles("fc", w), [x])["fc:0:fc"], x @ w.T)


def test_layers_of_the_train_phase_are_left_out_and_unused_tops_are_outputs():
    text = (input_layer("data", (1, 2)) +
    layer("Data", "train", [], ["data"], "include { phase: TRAIN }") +
    layer("Split", "split", ["data"], ["a", "b"]) +
    layer("ReLU", "relu", ["a"], ["r"]) +
     layer("SoftmaxWithLoss", "loss", ["r"], ["loss"], "exclude { phase: TEST }"))
    x = np.array([[-1, 2]], np.float32)
    results = run(text, {"other": [np.zeros(1)]}, [x])
    assert {name.split(":")[2] for name in results} == {"b", "r"}
    np.testing.assert_array_equal(results["relu:0:r"], [[0, 2]])


def test_layers_are_chosen_by_the_state_of_the_net():
    text = (input_layer("data", (1, 2))
            + layer("ReLU", "relu", ["data"], ["r"], 'include { stage: "deploy" min_level: 2 }')
            + layer("AbsVal", "abs", ["data"], ["a"], 'exclude { stage: "deploy" }')
            + layer("TanH", "tanh", ["data"], ["t"], 'include { not_stage: "deploy" }'))
    x, none = np.array([[-1, 2]], np.float32), {"other": [np.zeros(1)]}
    assert set(run(text, none, [x])) == {"abs:0:a", "tanh:0:t"}
    state = 'state { phase: TEST level: 2 stage: "deploy" }\n'
    assert set(run(state + text, none, [x])) == {"relu:0:r"}


def test_what_an_lstm_expects_is_said():
    text = (input_layer("x", (3, 2, 4)) + input_layer("cont", (3, 2)) + input_layer("h", (1, 2, 4))
            + input_layer("c", (1, 2, 4))
            + layer("LSTM", "lstm", ["x", "cont", "h", "c"], ["y"],
                    "recurrent_param { num_output: 4 }"))
    check_failed(convert(text, {"lstm": [np.zeros((16, 4)), np.zeros(16), np.zeros((16, 4))]}),
                 "4 bottoms, 1 tops and expose_hidden: false; expected the bottoms x, cont.*add "
                 r"expose_hidden: true", r"in layer 'lstm' \(LSTM\)")


def test_a_train_prototxt_is_refused_with_what_to_do():
    text = (layer("Data", "data", [], ["data", "label"], 'data_param { source: "x_lmdb" }')
            + layer("SoftmaxWithLoss", "loss", ["data", "label"], ["loss"]))
    check_failed(convert(text, {"x": [np.zeros(1)]}), "2 layers",
                 "Data 'data': it reads training data.*deploy prototxt",
                 "SoftmaxWithLoss 'loss': it belongs to training")


def test_all_unsupported_layers_come_in_one_message():
    text = (input_layer("data", (1, 3, 4, 4)) + layer("Magic", "one", ["data"], ["a"])
            + layer("ReLU", "relu", ["a"], ["a"]) + layer("Tricks", "two", ["a"], ["b"]))
    check_failed(convert(text, {"other": [np.zeros(1)]}), "2 layers.*Magic 'one'.*Tricks 'two'")


def test_what_a_yolo_layer_expects_is_said():
    def failing(parameters, channels=16):
        text = (input_layer("data", (1, channels, 2, 2))
                + layer("Yolo", "head", ["data"], ["out"], f"yolo_param {{ {parameters} }}"))
        return convert(text, {"other": [np.zeros(1)]})

    check_failed(failing("boxes: 2 classes: 3", 17),
                 "17x2x2; expected 16 channels: 2 boxes of 4 coordinates.*3 classes",
                 r"in layer 'head' \(Yolo\)")
    check_failed(failing("boxes: 2 classes: 3 softmaxtree: true"), "softmaxtree is true")
    check_failed(failing("yolo_version: 'V4'"), "yolo_version is 'V4'; expected V2 or V3")
    check_failed(failing("boxes: 2 classes: 3 background: true"), "background is true without")
    check_failed(failing("boxes: 0"), "'boxes' is 0; expected 1 to")


def test_missing_and_foreign_weights():
    text, weights = small_net()
    write(text, weights)
    check_failed(atc(), "--weight is missing; a Caffe model has two files")
    check_failed(atc("--weight=absent.caffemodel"), "absent.caffemodel")
    check_failed(convert(text, {"conv": weights["conv"]}),
                 "3 layers have no weights in the caffemodel: 'bn', 'scale', 'fc'")
    wrong = dict(weights, conv=[np.zeros((4, 3, 5, 5)), np.zeros(4)])
    check_failed(convert(text, wrong), "weight blob 0 is 4x3x5x5 .*asks for 4x3x3x3",
                 r"in layer 'conv' \(Convolution\)")
    check_failed(convert(text, dict(weights, conv=weights["conv"][:1])),
                 "1 weight blobs in the caffemodel; expected at least 2")
    check_failed(convert(text, b"\x89HDF\r\n"), "HDF5")
    check_failed(convert(text, b"not a model at all"), "while reading the caffemodel")


def test_damaged_files_are_refused_with_the_place():
    text, weights = small_net()
    check_failed(convert(text.replace("pool: MAX", "pool MAX"), weights),
                 r"net\.prototxt:\d+:\d+: ")
    check_failed(convert("", weights), "no layers")
    check_failed(convert(text.replace('bottom: "fc"', 'bottom: "fd"'), weights),
                 "bottom 'fd' is the top of no layer before it")
    whole = caffemodel(weights)
    for cut in (10, len(whole) // 2, len(whole) - 1):
        check_failed(convert(text, whole[:cut]))
    assert convert(text, whole).returncode == 0


@pytest.mark.parametrize("right,wrong,sentence", [
    ("kernel_size", "kernal_size", "convolution_param has no field 'kernal_size', did you mean "
                                   r"'kernel_size'\?; correct the name"),
    ("pooling_param", "poling_param", "a layer has no field 'poling_param', did you mean "
                                      "'pooling_param'"),
    ("dim: 1", "dims: 1", "shape has no field 'dims', did you mean 'dim'"),
    ("bottom:", "botom:", "a layer has no field 'botom', did you mean 'bottom'"),
    ("layer {", "lair {", "a net has no field 'lair', did you mean 'layer'"),
    ("bias_term", "an_invention", "scale_param has no field 'an_invention'; correct the name"),
])
def test_a_misspelt_field_is_refused_as_caffe_does(right, wrong, sentence):
    text, weights = small_net()
    assert right in text
    check_failed(convert(text.replace(right, wrong, 1), weights),
                 r"net\.prototxt:\d+:\d+: " + sentence)


def test_fields_for_training_and_of_releases_made_from_caffe_are_taken():
    text, weights = small_net()
    text = text.replace("kernel_size: 3", """kernel_size: 3 engine: CAFFE
        weight_filler { type: "xavier" std: 0.1 } bias_filler { type: "constant" value: 0 }""", 1)
    text = text.replace('type: "Convolution"', """type: "Convolution" phase: TEST
        param { lr_mult: 1 decay_mult: 1 } param { name: "b" lr_mult: 2 } propagate_down: true
        forward_type: FLOAT""", 1)
    assert convert("force_backward: false debug_info: true\n" + text, weights).returncode == 0


def test_out_nodes_find_every_top_of_a_layer():
    """Tops that are nodes of their own here have the number they have in the layer."""
    x = np.random.default_rng(4).standard_normal((1, 2, 4, 6)).astype(np.float32)
    text = (input_layer("data", x.shape)
            + layer("Split", "split", ["data"], ["a", "b", "c"])
            + layer("Pooling", "pool", ["a"], ["most", "mask"],
                    "pooling_param { pool: MAX kernel_size: 2 stride: 2 }")
            + layer("ReLU", "relu", ["b"], ["b"])
            + layer("Slice", "slice", ["c"], ["left", "right"], "slice_param { axis: 3 }"))
    none = {"x": [np.zeros(1)]}
    assert set(run(text, none, [x])) == {"pool:0:most", "pool:1:mask", "relu:0:b", "slice:0:left",
                                         "slice:1:right"}
    got = run(text, none, [x], "--out_nodes=split:1;split:2;slice:1;pool:0",
              "--output_type=split:2:FP16")
    assert [name.rsplit(":", 1)[0] for name in got] == ["split:1", "split:2", "slice:1", "pool:0"]
    first, second, right, _ = got.values()
    np.testing.assert_array_equal(first, x)
    np.testing.assert_array_equal(second, x.astype(np.float16))
    np.testing.assert_array_equal(right, x[..., 3:])
    os.remove("net.om")
    check_failed(convert(text, none, "--out_nodes=split:3"),
                 r"node 'split' \(Identity\) has 3 outputs, counted from 0; correct the index")


def test_an_onnx_option_with_caffe_and_the_other_way_round():
    text, weights = small_net()
    write(text, weights)
    done = subprocess.run(["atc", "--model=net.prototxt", "--framework=5", "--output=net",
                           "--weight=net.caffemodel", "--soc_version=Ascend310P3"],
                          capture_output=True, text=True, timeout=300)
    check_failed(done, "this model holds its weights itself")


def ssd_head():
    """Two feature maps' worth of an SSD: prior boxes, confidences through Softmax, detections."""
    prior = ("prior_box_param { min_size: 6 max_size: 9 aspect_ratio: 2 flip: true clip: false "
             "variance: 0.1 variance: 0.1 variance: 0.2 variance: 0.2 }")
    return (input_layer("data", (2, 3, 24, 24)) + input_layer("map", (2, 2, 4, 4))
            + input_layer("loc", (2, 256)) + input_layer("scores", (2, 192))
            + layer("PriorBox", "prior", ["map", "data"], ["prior"], prior)
            + layer("Reshape", "reshape", ["scores"], ["r"],
                    "reshape_param { shape { dim: 0 dim: -1 dim: 3 } }")
            + layer("Softmax", "softmax", ["r"], ["s"], "softmax_param { axis: 2 }")
            + layer("Flatten", "flatten", ["s"], ["conf"])
            + layer("DetectionOutput", "detections", ["loc", "conf", "prior"], ["detections"],
                    "detection_output_param { num_classes: 3 share_location: true "
                    "background_label_id: 0 code_type: CENTER_SIZE keep_top_k: 20 "
                    "confidence_threshold: 0.4 nms_param { nms_threshold: 0.45 top_k: 40 } }"))


def test_detections_of_an_ssd_head():
    rng = np.random.default_rng(8)
    arrays = [rng.standard_normal(shape).astype(np.float32)
              for shape in ((2, 3, 24, 24), (2, 2, 4, 4), (2, 256), (2, 192))]
    found = run(ssd_head(), {"x": [np.zeros(1)]}, arrays)["detections:0:detections"]
    assert found.shape == (1, 1, 40, 7)
    rows = found[0, 0]
    used = rows[rows[:, 0] >= 0]
    assert 4 < len(used) and (rows[len(used):] == [-1, 0, 0, 0, 0, 0, 0]).all()
    assert (np.diff(used[:, 0]) >= 0).all() and set(used[:, 1]) == {1, 2}
    assert (used[:, 2] > 0.4).all()
    if cv2 is not None:
        net = cv2.dnn.readNetFromCaffe("net.prototxt", "net.caffemodel")
        for name, array in zip(("data", "map", "loc", "scores"), arrays):
            net.setInput(array, name)
        want = net.forward("detections")[0, 0]
        assert len(want) == len(used)
        np.testing.assert_allclose(used[np.lexsort(used.T[::-1])], want[np.lexsort(want.T[::-1])],
                                   rtol=1e-4, atol=1e-5)


def test_without_keep_top_k_every_detection_is_kept():
    """-1, the default of Caffe: room for all classes but the background."""
    boxes = np.array([[0, 0, .2, .2], [.5, .5, .7, .7], [.51, .5, .71, .7]], np.float32)
    priors = np.stack([boxes.ravel(), np.full(12, .1)]).astype(np.float32)[None]
    scores = np.array([[.1, .9, .0, .2, .3, .5, .6, .1, .3]], np.float32)
    text = (input_layer("loc", (1, 12)) + input_layer("conf", (1, 9))
            + input_layer("prior", (1, 2, 12))
            + layer("DetectionOutput", "found", ["loc", "conf", "prior"], ["found"],
                    "detection_output_param { num_classes: 3 confidence_threshold: 0.15 "
                    "nms_param { nms_threshold: 0.5 } }"))
    arrays = [np.zeros((1, 12), np.float32), scores, priors]
    found = run(text, {"x": [np.zeros(1)]}, arrays)["found:0:found"][0, 0]
    assert found.shape == (6, 7)
    expected = [[0, 1, .9, *boxes[0]], [0, 1, .3, *boxes[1]], [0, 2, .5, *boxes[1]]]
    np.testing.assert_allclose(found[:3], expected, rtol=1e-6)
    assert (found[3:, 0] == -1).all()


def test_the_mask_of_a_pooling_layer_goes_to_upsample():
    text = (input_layer("data", (1, 2, 4, 6))
            + layer("Pooling", "pool", ["data"], ["pool", "mask"],
                    "pooling_param { pool: MAX kernel_size: 2 stride: 2 }")
            + layer("Upsample", "up", ["pool", "mask"], ["up"], "upsample_param { scale: 2 }"))
    x = np.random.default_rng(6).standard_normal((1, 2, 4, 6)).astype(np.float32)
    most = ref.pool(x, 2, 2, 0, "MAX").repeat(2, 2).repeat(2, 3)
    got = run(text, {"x": [np.zeros(1)]}, [x])["up:0:up"]
    np.testing.assert_array_equal(got, np.where(x == most, x, 0))


def test_gears_of_a_caffe_model():
    text, weights = small_net()
    done = convert(text, weights, "--input_shape=data:-1,3,6,6", "--dynamic_batch_size=1,2,4")
    assert done.returncode == 0, done.stderr


def test_the_resnet50_of_the_guides_sample():
    """The example's net: batch norms and scales fold away, and OpenCV gives the same."""
    text, weights = make_caffe_resnet50(seed=1)
    x = np.random.default_rng(2).normal(0, 64, (1, 3, 224, 224)).astype(np.float32)
    prob = run(text, weights, [x])["prob:0:prob"]
    assert prob.shape == (1, 1000)
    np.testing.assert_allclose(prob.sum(), 1, rtol=1e-5)
    if cv2 is not None:
        net = cv2.dnn.readNetFromCaffe("net.prototxt", "net.caffemodel")
        net.setInput(x, "data")
        want = net.forward()
        assert np.linalg.norm(prob - want) / np.linalg.norm(want) < 1e-4
