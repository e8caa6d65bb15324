# SPDX-License-Identifier: Apache-2.0
"""Resizing, crops, boxes, colours."""
import numpy as np
from specs import REAL, F, H, K, T, V

RESIZES = ("ResizeBilinear", "ResizeNearestNeighbor", "ResizeBicubic")


def boxes(count, seed=7):
    rng = np.random.RandomState(seed)
    corner = rng.uniform(0, 0.6, (count, 2))
    size = rng.uniform(0.1, 0.4, (count, 2))
    return np.concatenate([corner, corner + size], 1).round(3).tolist()


def scores(count, seed=8):
    return np.random.RandomState(seed).permutation(np.linspace(0.05, 0.95, count)).round(4).tolist()


def resizes(add):
    for op in RESIZES:
        add.types(op, REAL, images=T(1, 3, 4, 2, low=0, high=9), size=K([5, 6]))
        for label, flags in (("plain", {}), ("corners", {"align_corners": True}),
                             ("half_pixel", {"half_pixel_centers": True})):
            for size in ([6, 8], [5, 7], [2, 2], [1, 1], [3, 9]):
                add(op, f"{label}_{size[0]}x{size[1]}", images=F(2, 3, 4, 2), size=K(size), **flags)
        add(op, "run_time", images=F(1, 3, 4, 2), size=V([6, 8]))
        add(op, "open", images=F(1, 3, 4, 2, left_open="dims"), size=K([6, 8]))
    for size in ([6, 8], [2, 2], [5, 3]):
        add("ResizeArea", f"{size[0]}x{size[1]}", images=F(1, 4, 6, 2), size=K(size))
        add("ResizeArea", f"corners_{size[0]}x{size[1]}", images=F(1, 4, 6, 2), size=K(size), align_corners=True)
    for kernel in ("lanczos1", "lanczos3", "lanczos5", "gaussian", "box", "triangle", "keyscubic",
                   "mitchellcubic"):
        for antialias in (False, True):
            add("ScaleAndTranslate", f"{kernel}_{antialias}", images=F(1, 6, 8, 2), size=K([3, 4]),
                scale=K([0.5, 0.5]), translation=K([0.0, 0.2]), kernel_type=kernel, antialias=antialias)
    for mode in ("CONSTANT", "REFLECT", "WRAP", "NEAREST"):
        for how in ("NEAREST", "BILINEAR"):
            transform = K([[0.9, 0.1, 0.5, -0.1, 1.1, -0.3, 0.0, 0.0]])
            add("ImageProjectiveTransformV2", f"{mode}_{how}", images=F(2, 4, 5, 2), transforms=transform,
                output_shape=K([4, 5]), interpolation=how, fill_mode=mode)
            add("ImageProjectiveTransformV3", f"{mode}_{how}", images=F(2, 4, 5, 2), transforms=transform,
                output_shape=K([4, 5]), fill_value=K(0.5), interpolation=how, fill_mode=mode)
    for method in ("bilinear", "nearest"):
        places = [[0.0, 0.0, 1.0, 1.0], [0.1, 0.2, 0.7, 0.8], [0.9, 0.8, 0.2, 0.1], [-0.3, -0.1, 1.2, 1.3]]
        add("CropAndResize", method, image=F(2, 5, 6, 3), boxes=V(places), box_ind=V([0, 1, 0, 1]),
            crop_size=K([3, 4]), method=method, extrapolation_value=-1.0)
        add("CropAndResize", method + "_one", image=F(1, 5, 6, 2), boxes=V(places[1:3]), box_ind=V([0, 0]),
            crop_size=K([1, 1]), method=method)
    add.types("CropAndResize", REAL, "types", image=T(1, 4, 4, 2), boxes=V([[0.1, 0.1, 0.9, 0.8]]),
              box_ind=V([0]), crop_size=K([2, 3]))
    add("CropAndResize", "none", image=F(1, 4, 4, 2), boxes=F(0, 4), box_ind=V([], "i32"), crop_size=K([2, 3]))
    for op in ("ExtractGlimpse", "ExtractGlimpseV2"):
        for centered in (False, True):
            for normalized in (False, True):
                add(op, f"{centered}_{normalized}", input=F(2, 6, 7, 2), size=K([3, 3]),
                    offsets=V([[0.1, 0.2], [0.3, -0.2]] if normalized else [[1.0, 2.0], [0.0, 1.0]]),
                    centered=centered, normalized=normalized, uniform_noise=False, noise="zero")
    for padding in ("SAME", "VALID"):
        for size, stride, rate in ((2, 2, 1), (3, 1, 1), (2, 1, 2), (3, 2, 2)):
            add("ExtractImagePatches", f"{padding}_{size}_{stride}_{rate}", images=F(1, 6, 7, 2),
                ksizes=[1, size, size, 1], strides=[1, stride, stride, 1], rates=[1, rate, rate, 1],
                padding=padding)
        add("ExtractVolumePatches", padding, input=F(1, 4, 4, 4, 2), ksizes=[1, 2, 2, 2, 1],
            strides=[1, 2, 2, 2, 1], padding=padding)
    add("ExtractVolumePatches", "wide", input=F(2, 5, 3, 6, 1), ksizes=[1, 3, 1, 2, 1],
        strides=[1, 1, 2, 3, 1], padding="SAME")
    add.types("ExtractImagePatches", REAL, images=T(1, 4, 4, 1), ksizes=[1, 2, 2, 1], strides=[1, 2, 2, 1],
              rates=[1, 1, 1, 1], padding="VALID")
    for op in ("ResizeBilinearGrad", "ResizeBicubicGrad"):
        add(op, grads=F(1, 6, 8, 2), original_image=F(1, 3, 4, 2))
        add(op, "half_pixel", grads=F(1, 6, 8, 2), original_image=F(1, 3, 4, 2), half_pixel_centers=True)
    add("ResizeNearestNeighborGrad", grads=F(1, 6, 8, 2), size=K([3, 4]))


def suppression(add):
    near = boxes(8) + [[b + 0.01 for b in box] for box in boxes(4)]
    marks = scores(12)
    add("NonMaxSuppression", boxes=V(near), scores=V(marks), max_output_size=K(5), iou_threshold=0.5)
    for limit in (3, 12, 0):
        add("NonMaxSuppressionV2", f"most{limit}", boxes=V(near), scores=V(marks), max_output_size=K(limit),
            iou_threshold=K(0.5))
        add("NonMaxSuppressionV3", f"most{limit}", boxes=V(near), scores=V(marks), max_output_size=K(limit),
            iou_threshold=K(0.4), score_threshold=K(0.3))
        for pad in (False, True):
            add("NonMaxSuppressionV4", f"most{limit}_{pad}", boxes=V(near), scores=V(marks),
                max_output_size=K(limit), iou_threshold=K(0.4), score_threshold=K(0.3),
                pad_to_max_output_size=pad)
            for sigma in (0.0, 0.5):
                add("NonMaxSuppressionV5", f"most{limit}_{pad}_{sigma}", boxes=V(near), scores=V(marks),
                    max_output_size=K(limit), iou_threshold=K(0.4), score_threshold=K(0.2),
                    soft_nms_sigma=K(sigma), pad_to_max_output_size=pad)
    add("NonMaxSuppressionV3", "swapped", boxes=V([[1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.9]]),
        scores=V([0.5, 0.9]), max_output_size=K(2), iou_threshold=K(0.5), score_threshold=K(0.0))
    add("NonMaxSuppressionV3", "run_time", boxes=V(near), scores=V(marks), max_output_size=V(4),
        iou_threshold=V(0.5), score_threshold=V(0.1))
    add("NonMaxSuppressionV3", "half", boxes=V(near, "f16"), scores=V(marks, "f16"), max_output_size=K(4),
        iou_threshold=K(0.5, "f16"), score_threshold=K(0.1, "f16"))
    add("NonMaxSuppressionV3", "equal_scores", boxes=V(near), scores=V([0.5] * 12), max_output_size=K(6),
        iou_threshold=K(0.5), score_threshold=K(0.0))
    overlaps = np.random.RandomState(3).uniform(0, 1, (6, 6)).round(3)
    add("NonMaxSuppressionWithOverlaps", overlaps=V(((overlaps + overlaps.T) / 2).tolist()),
        scores=V(scores(6)), max_output_size=K(4), overlap_threshold=K(0.5), score_threshold=K(0.1))
    for shared in (True, False):
        for per_class in (False, True):
            for clip in (True, False):
                place = np.array(near).reshape(1, 12, 1, 4)
                if not shared:
                    place = np.concatenate([place, place * 0.9], 2)
                marks2 = np.random.RandomState(5).permutation(np.linspace(0, 1, 24)).reshape(1, 12, 2)
                add("CombinedNonMaxSuppression", f"{shared}_{per_class}_{clip}", boxes=V(place.tolist()),
                    scores=V(marks2.tolist()), max_output_size_per_class=K(3), max_total_size=K(5),
                    iou_threshold=K(0.5), score_threshold=K(0.25), pad_per_class=per_class, clip_boxes=clip)
    pair = np.concatenate([np.array(near).reshape(1, 12, 1, 4)] * 2)
    add("CombinedNonMaxSuppression", "batch", boxes=V(pair.tolist()), scores=F(2, 12, 3, low=0, high=1),
        max_output_size_per_class=K(4), max_total_size=K(20), iou_threshold=K(0.5), score_threshold=K(0.1))


def colours(add):
    add("AdjustContrastv2", images=F(2, 3, 4, 3, low=0, high=1), contrast_factor=K(1.7))
    add("AdjustHue", images=F(2, 3, 4, 3, low=0, high=1), delta=K(0.2))
    add("AdjustSaturation", images=F(2, 3, 4, 3, low=0, high=1), scale=K(1.4))
    add("AdjustHue", "back", images=F(3, 4, 3, low=0, high=1), delta=K(-0.4))
    add("AdjustSaturation", "grey", images=F(3, 4, 3, low=0, high=1), scale=K(0.0))
    add("AdjustContrastv2", "run_time", images=F(3, 4, 3, low=0, high=1), contrast_factor=V(0.5))
    for kind in ("f32", "f64", "f16", "bf16"):
        add("RGBToHSV", type=kind, images=T(3, 4, 3, low=0, high=1), rtol=2e-2 if "16" in kind else 0)
        add("HSVToRGB", type=kind, images=T(3, 4, 3, low=0, high=1), rtol=2e-2 if "16" in kind else 0)
    add("RGBToHSV", "grey", images=V([[0.5, 0.5, 0.5], [0.0, 0.0, 0.0], [1.0, 0.0, 0.0]]))
    add("DrawBoundingBoxes", images=F(1, 6, 8, 3, low=0, high=1), boxes=V([[[0.1, 0.1, 0.8, 0.7]]]))
    add("DrawBoundingBoxesV2", images=F(1, 6, 8, 3, low=0, high=1), boxes=V([[[0.1, 0.1, 0.8, 0.7]]]),
        colors=K([[0.2, 0.4, 0.9]]))
    add("DrawBoundingBoxes", "many", images=F(2, 7, 9, 3, low=0, high=1), boxes=V(
        [[[0.1, 0.1, 0.8, 0.7], [0, 0.5, 1, 0.9], [-0.5, -0.2, 0.6, 1.4]],
         [[0.9, 0.1, 0.2, 0.7], [1.2, 0.1, 1.5, 0.7], [0.3, 0.3, 0.3, 0.3]]]))
    add("DrawBoundingBoxes", "grey", images=F(1, 5, 5, 1, low=0, high=0.5), boxes=V([[[0, 0, 0.6, 0.6]]]))
    add("DrawBoundingBoxesV2", "turns", images=F(1, 8, 8, 4, low=0, high=1),
        boxes=V([[[0, 0, 0.3, 0.3], [0.2, 0.2, 0.6, 0.6], [0.5, 0.5, 0.9, 1.0]]]),
        colors=V([[0.2, 0.4, 0.9, 1.0], [0.7, 0.1, 0.3, 0.5]]))
    add("DrawBoundingBoxes", "half", images=H(1, 6, 8, 3, low=0, high=1), boxes=V([[[0.1, 0.1, 0.8, 0.7]]]))


def cases(add):
    resizes(add)
    suppression(add)
    colours(add)
