// SPDX-License-Identifier: Apache-2.0
// Pictures read at places that a grid says.
#include "aclnn/arithmetic.h"

namespace anynpu::aclnn {

namespace grid {

namespace {

const char* word(Recipe& r, const char* param, std::initializer_list<const char*> words) {
  const int64_t number = r.integer(param);
  if (number < 0 || number >= static_cast<int64_t>(words.size())) {
    refuse("{} is {}; expected 0 to {}", param, number, words.size() - 1);
  }
  return words.begin()[number];
}

void sample(Recipe& r) {
  const DType type = computed_in(floating(r.dtype("input")));
  const char* mode = word(r, "interpolationMode", {"linear", "nearest", "cubic"});
  const char* edge = word(r, "paddingMode", {"zeros", "border", "reflection"});
  r.out("out", r.op("GridSample", {r.cast(r.in("input"), type), r.cast(r.in("grid"), type)},
                    {{"mode", mode}, {"padding_mode", edge}, {"align_corners", r.flag("alignCorners")}}));
}

// `outputMask` says which of the two gradients are wanted.
void sample_gradient(Recipe& r) {
  const size_t rank = r.rank("input");
  if (rank < 3 || rank > 5 || r.rank("gradOutput") != rank || r.rank("grid") != rank) {
    refuse("gradOutput, input and grid have {}, {} and {} axes; expected the same, 4 or 5", r.rank("gradOutput"),
           rank, r.rank("grid"));
  }
  const DType type = computed_in(floating(r.dtype("input")));
  const char* mode = word(r, "interpolationMode", {"linear", "nearest", "cubic"});
  const char* edge = word(r, "paddingMode", {"zeros", "border", "reflection"});
  const auto wide = [&](Param param) { return r.cast(r.in(param), type); };
  const auto made = r.ops("GridSampleGrad", {wide("gradOutput"), wide("input"), wide("grid")}, 2,
                          {{"mode", mode}, {"padding_mode", edge}, {"align_corners", r.flag("alignCorners")}});
  const std::vector<bool> wanted = r.bools("outputMask");
  if (wanted.empty() || wanted[0]) r.out_if("inputGrad", made[0]);
  if (wanted.size() < 2 || wanted[1]) r.out_if("gridGrad", made[1]);
}

const Row kRows[] = {
    {"aclnnGridSampler2D", sample},
    {"aclnnGridSampler3D", sample},
    {"aclnnGridSampler2DBackward", sample_gradient},
    {"aclnnGridSampler3DBackward", sample_gradient},
};

}  // namespace

}  // namespace grid

std::span<const Row> grid_rows() { return grid::kRows; }

}  // namespace anynpu::aclnn
