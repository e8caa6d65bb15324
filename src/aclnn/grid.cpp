// SPDX-License-Identifier: Apache-2.0
// Pictures read at places that a grid says.
#include <algorithm>

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
  r.out("out",
        r.op("GridSample", {r.cast(r.in("input"), type), r.cast(r.in("grid"), type)},
             {{"mode", mode}, {"padding_mode", edge}, {"align_corners", r.flag("alignCorners")}}));
}

// `outputMask` says which of the two gradients are wanted.
void sample_gradient(Recipe& r) {
  const size_t rank = r.rank("input");
  if (rank < 3 || rank > 5 || r.rank("gradOutput") != rank || r.rank("grid") != rank) {
    refuse("gradOutput, input and grid have {}, {} and {} axes; expected the same, 4 or 5",
           r.rank("gradOutput"), rank, r.rank("grid"));
  }
  const DType type = computed_in(floating(r.dtype("input")));
  const char* mode = word(r, "interpolationMode", {"linear", "nearest", "cubic"});
  const char* edge = word(r, "paddingMode", {"zeros", "border", "reflection"});
  const auto wide = [&](Param param) { return r.cast(r.in(param), type); };
  const auto made =
      r.ops("GridSampleGrad", {wide("gradOutput"), wide("input"), wide("grid")}, 2,
            {{"mode", mode}, {"padding_mode", edge}, {"align_corners", r.flag("alignCorners")}});
  const std::vector<bool> wanted = r.bools("outputMask");
  if (wanted.empty() || wanted[0]) r.out_if("inputGrad", made[0]);
  if (wanted.size() < 2 || wanted[1]) r.out_if("gridGrad", made[1]);
}

// The best boxes of each class that do not overlap: rows of batch, class and box.
void suppress(Recipe& r) {
  const auto real = [&](const char* name) -> Value {
    const Floats list = r.floats(name);
    if (list.empty()) return {};
    return r.constant(DType::f32, {1}, {static_cast<double>(list[0])});
  };
  const Ints most = r.ints("maxOutputBoxesPerClass");
  const Value count = most.empty() ? Value{} : r.constant({most[0]});
  const Value found = r.op("NonMaxSuppression",
                           {r.cast(r.in("boxes"), DType::f32), r.cast(r.in("scores"), DType::f32),
                            count, real("iouThreshold"), real("scoreThreshold")},
                           {{"center_point_box", r.integer("centerPointBox")}});
  r.out("selectedIndices", found);
}

// x * scale + bias as Caffe's layer: scale has the extents of axes of x from `axis` on.
void scale_axes(Recipe& r) {
  const DType type = computed_in(r.dtype("x"));
  const Shape x = r.shape("x"), s = r.shape("scale");
  const auto axis = static_cast<size_t>(r.axis("axis", x.size()));
  const bool one = element_count(s) == 1;
  if (!one && (axis + s.size() > x.size() ||
               !std::equal(s.begin(), s.end(), x.begin() + static_cast<int64_t>(axis)))) {
    refuse("scale is {} for a tensor of {} from axis {} on; expected its extents", to_string(s),
           to_string(x), static_cast<int64_t>(axis));
  }
  Shape wide(x.size(), 1);
  for (size_t i = 0; !one && i < s.size(); ++i) wide[axis + i] = s[i];
  const auto factor = [&](const char* name) { return r.reshape(r.cast(r.in(name), type), wide); };
  Value y = r.op("Mul", {r.cast(r.in("x"), type), factor("scale")});
  if (r.given("bias")) y = r.op("Add", {y, factor("bias")});
  r.out("y", y);
}

const Row kRows[] = {
    {"aclnnGridSampler2D", sample},
    {"aclnnGridSampler3D", sample},
    {"aclnnGridSampler2DBackward", sample_gradient},
    {"aclnnGridSampler3DBackward", sample_gradient},
    {"aclnnNonMaxSuppression", suppress},
    {"aclnnScale", scale_axes},
};

}  // namespace

}  // namespace grid

std::span<const Row> grid_rows() { return grid::kRows; }

}  // namespace anynpu::aclnn
