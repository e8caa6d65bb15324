// SPDX-License-Identifier: Apache-2.0
// Operators of object detectors: pooling over regions, and the choice of boxes.
//
// Domain "anynpu", made by importers:
//   PsRoiPool(X, rois)                 position-sensitive average over regions (R-FCN)
//   DetectionOutput(loc, conf, priors) boxes of an SSD head after suppression: 1 x 1 x K x 7 with
//     K = batch * keep_top_k rows of image, label, score, xmin, ymin, xmax, ymax; rows that are not
//     used have the image -1 and zeros.
//   CropAndResize(X, boxes, pictures)  regions resized to one size (TensorFlow)
//   RoiAlignGrad(gradient, rois, pictures)  the gradient of RoiAlign's averages by its picture
//   SoftNonMaxSuppression, CombinedNonMaxSuppression: see suppression.cpp (TensorFlow)
#pragma once

#include <utility>

#include "ops/plain_kernel.h"

namespace anynpu::ops {
class Registry;
}

namespace anynpu::ops::detection {

void register_roi_pools(Registry& registry);
void register_detection_output(Registry& registry);
void register_non_max_suppression(Registry& registry);
void register_roi_align(Registry& registry);
void register_yolo(Registry& registry);
void register_crop_and_resize(Registry& registry);
void register_suppression(Registry& registry);

}  // namespace anynpu::ops::detection
