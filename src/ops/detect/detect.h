// SPDX-License-Identifier: Apache-2.0
// Operators of object detectors: pooling over regions, and the choice of boxes.
//
// Domain "anynpu", made by importers:
//   PsRoiPool(X, rois)                 position-sensitive average over regions (R-FCN)
//   DetectionOutput(loc, conf, priors) boxes of an SSD head after suppression: 1 x 1 x K x 7 with
//     K = batch * keep_top_k rows of image, label, score, xmin, ymin, xmax, ymax; rows that are not
//     used have the image -1 and zeros.
#pragma once

#include <utility>

#include "ops/plain_kernel.h"

namespace anynpu::ops {

void register_roi_pools(class Registry& registry);
void register_detection_output(class Registry& registry);

// A plan whose closure returns a Status: indices come with the data and may be wrong.
template <typename Run>
class FalliblePlan final : public KernelPlan {
 public:
  explicit FalliblePlan(Run run) : run_(std::move(run)) {}
  Status run(const RunArgs& args) const override { return run_(args); }

 private:
  Run run_;
};

}  // namespace anynpu::ops
