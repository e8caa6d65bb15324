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

const Row kRows[] = {
    {"aclnnGridSampler2D", sample},
    {"aclnnGridSampler3D", sample},
};

}  // namespace

}  // namespace grid

std::span<const Row> grid_rows() { return grid::kRows; }

}  // namespace anynpu::aclnn
