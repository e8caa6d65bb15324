# SPDX-License-Identifier: Apache-2.0
"""YoloPreDetection and YoloV5DetectionOutput, the operators at the end of published YOLOv5 models,
against numpy."""

import numpy as np
import pytest
from model_datasets import Model, atc_over, convert
from onnx import TensorProto, helper
from onnx_models import network

pytestmark = pytest.mark.usefixtures("runtime")

BOXES, CLASSES, NET = 3, 4, (64, 96)  # height and width of the network's input
ANCHORS = [10, 13, 16, 30, 33, 23, 30, 61, 62, 45, 59, 119]
STRIDES = (16, 32)
LIMITS = {"obj_threshold": 0.4, "score_threshold": 0.3, "iou_threshold": 0.5}
MOST = 64


def padded(cells):
    return -(-(cells * 2 + 32) // 32) * 32 // 2


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def maps(batch, seed=5):
    rng = np.random.default_rng(seed)
    return [rng.normal(0, 1.5, (batch, BOXES * (5 + CLASSES), NET[0] // s, NET[1] // s)).astype(
        np.float32) for s in STRIDES]


def pre(name, index, **more):
    return helper.make_node("YoloPreDetection", [name], [f"c{index}", f"o{index}", f"k{index}"],
                            name=f"pre{index}", boxes=BOXES, coords=4, classes=CLASSES,
                            yolo_version="V5", **more)


def with_head(batch, **attrs):
    count = len(STRIDES)
    names = [f"{kind}{i}" for kind in "cok" for i in range(count)]
    flat = attrs.get("out_box_dim", 3) == 2
    head = helper.make_node(
        "YoloV5DetectionOutput", [*names, "info"], ["boxes", "count"], name="head", boxes=BOXES,
        coords=4, classes=CLASSES, biases=[float(a) for a in ANCHORS], pre_nms_topn=512,
        post_nms_topn=MOST, N=3 * count + 1, **LIMITS, **attrs)
    inputs = [(f"x{i}", TensorProto.FLOAT, x.shape) for i, x in enumerate(maps(batch))]
    return network([pre(f"x{i}", i) for i in range(count)] + [head],
                   [*inputs, ("info", TensorProto.FLOAT, [batch, 4])],
                   [("boxes", TensorProto.FLOAT, [batch, 6 * MOST] if flat else [batch, 6, MOST]),
                    ("count", TensorProto.INT32, [batch, 8] if flat else [batch, 8, 1])])


def area(box):
    return (box[2] - box[0]) * (box[3] - box[1])


def overlap(a, b):
    w, h = min(a[2], b[2]) - max(a[0], b[0]), min(a[3], b[3]) - max(a[1], b[1])
    return 0 if w <= 0 or h <= 0 else w * h / (area(a) + area(b) - w * h)


def reference(feeds, n, image, stretched):
    """x1, y1, x2, y2, score, label of the boxes of one picture, best first."""
    found = []
    scale = min(NET[1] / image[1], NET[0] / image[0])
    inner = NET if stretched else (image[0] * scale, image[1] * scale)
    for m, x in enumerate(feeds):
        height, width = x.shape[2:]
        values = sigmoid(x[n].astype(np.float64)).reshape(BOXES, 5 + CLASSES, height, width)
        for b in range(BOXES):
            anchor = ANCHORS[(m * BOXES + b) * 2:][:2]
            for row in range(height):
                for column in range(width):
                    cell = values[b, :, row, column]
                    if cell[4] <= LIMITS["obj_threshold"]:
                        continue
                    x0 = (cell[0] * 2 - 0.5 + column) / width * NET[1]
                    y0 = (cell[1] * 2 - 0.5 + row) / height * NET[0]
                    w, h = (cell[2] * 2) ** 2 * anchor[0], (cell[3] * 2) ** 2 * anchor[1]
                    x0, y0 = x0 - (NET[1] - inner[1]) / 2, y0 - (NET[0] - inner[0]) / 2
                    fx, fy = image[1] / inner[1], image[0] / inner[0]
                    box = [np.clip((x0 - w / 2) * fx, 0, image[1]),
                           np.clip((y0 - h / 2) * fy, 0, image[0]),
                           np.clip((x0 + w / 2) * fx, 0, image[1]),
                           np.clip((y0 + h / 2) * fy, 0, image[0])]
                    found += [[*box, cell[4] * cell[5 + c], c] for c in range(CLASSES)
                              if cell[4] * cell[5 + c] > LIMITS["score_threshold"]]
    kept = []
    for box in sorted(found, key=lambda one: -one[4]):
        if all(other[5] != box[5] or overlap(other, box) <= LIMITS["iou_threshold"]
               for other in kept):
            kept.append(box)
    return np.array(kept[:MOST])


def test_a_map_is_taken_apart_in_the_vendors_shapes(tmp_path):
    (x, _) = maps(2)
    cells = x.shape[2] * x.shape[3]
    shapes = [(2, BOXES * 4, padded(cells)), (2, padded(BOXES * cells)),
              (2, CLASSES, padded(BOXES * cells))]
    net = network([pre("x", 0)], [("x", TensorProto.FLOAT, x.shape)],
                  [(name, TensorProto.FLOAT, shape) for name, shape in zip(["c0", "o0", "k0"],
                                                                           shapes)])
    model = Model(convert(tmp_path, "net", net))
    model.run(x)
    values = sigmoid(x).reshape(2, BOXES, 5 + CLASSES, cells)
    coords, objects, classes = (model.read(i, shape) for i, shape in enumerate(shapes))
    np.testing.assert_allclose(coords[..., :cells], values[:, :, :4].reshape(2, -1, cells), 1e-5)
    np.testing.assert_allclose(objects[:, :BOXES * cells], values[:, :, 4].reshape(2, -1), 1e-5)
    np.testing.assert_allclose(classes[..., :BOXES * cells],
                               values[:, :, 5:].swapaxes(1, 2).reshape(2, CLASSES, -1), 1e-5)
    assert not coords[..., cells:].any() and not objects[:, BOXES * cells:].any()
    model.close()


@pytest.mark.parametrize("image,attrs", [
    (NET, {}), ((128, 96), {}), ((100, 300), {"resize_origin_img_to_net": 1}),
    (NET, {"out_box_dim": 2})])
def test_boxes_are_those_of_numpy(tmp_path, image, attrs):
    feeds = maps(2)
    info = np.array([[*NET, *image]] * 2, np.float32)
    model = Model(convert(tmp_path, "net", with_head(2, **attrs)))
    model.run(*feeds, info)
    counts = model.read(1, (2, 8), np.int32)
    rows = model.read(0, (2, 6 * MOST))
    for n in range(2):
        want = reference(feeds, n, image, "resize_origin_img_to_net" in attrs)
        assert counts[n, 0] == len(want) > 5
        got = rows[n, :6 * len(want)].reshape(6, len(want)).T  # all x1, then all y1, ...
        np.testing.assert_allclose(got, want, rtol=1e-3, atol=1e-2)
    model.close()


def test_an_image_size_that_the_model_does_not_have_is_told(tmp_path):
    import acl
    model = Model(convert(tmp_path, "net", with_head(1)))
    model.feed(*maps(1), np.array([[50, 50, 50, 50]], np.float32))
    assert model.execute() != 0
    assert "fits no stride of map 0" in acl.get_recent_err_msg()
    model.close()


def test_other_generations_are_refused(tmp_path):
    (x, _) = maps(1)
    node = helper.make_node("YoloPreDetection", ["x"], ["c", "o", "k"], boxes=BOXES,
                            classes=CLASSES, yolo_version="V3")
    net = network([node], [("x", TensorProto.FLOAT, x.shape)], [("c", TensorProto.FLOAT, None)])
    done = atc_over(tmp_path, "net", net)
    assert done.returncode != 0 and "yolo_version is 'V3'" in done.stdout + done.stderr
