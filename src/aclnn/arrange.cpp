// SPDX-License-Identifier: Apache-2.0
// Elements repeated as often as a tensor says, and one-hot rows.
#include <algorithm>
#include <cmath>

#include "aclnn/arithmetic.h"

namespace anynpu::aclnn {

namespace arrange {

namespace {

Value flat(Recipe& r) { return r.reshape(r.in("self"), {r.tensor("self").count()}); }

// The element of the input that each of `outputs` elements comes from, when `repeats` says how
// often each is repeated; one number is for all.
Value origins(Recipe& r, int64_t inputs, int64_t outputs) {
  const Value times = r.expand(
      r.reshape(r.cast(r.in("repeats"), DType::i64), {r.tensor("repeats").count()}), {inputs});
  const Value ends = r.op("CumSum", {times, r.constant(DType::i64, 0)});
  const Value each = r.op(
      "Range", {r.constant(DType::i64, 0), r.constant(DType::i64, static_cast<double>(outputs)),
                r.constant(DType::i64, 1)});
  return r.op("SearchSorted", {ends, each}, {{"right", 1}});
}
void interleave(Recipe& r, Value x, int64_t axis) {
  const int64_t outputs = r.shape("out").empty() ? 1 : r.shape("out")[static_cast<size_t>(axis)];
  if (r.tensor("out").count() == 0) return;
  const Value from = origins(r, r.extent(x, axis), outputs);
  r.out("out", r.op("Gather", {x, from}, {{"axis", axis}}));
}
void interleave_tensor(Recipe& r) { interleave(r, flat(r), 0); }
void interleave_tensor_dim(Recipe& r) {
  const Value x = r.rank("self") == 0 ? flat(r) : r.in("self");
  interleave(r, x, r.axis("dim", r.rank("self")));
}
void interleave_gradient(Recipe& r) {
  const int64_t axis = r.axis("axis", r.rank("yGrad"));
  const Shape shape = r.shape("yGrad"), to = r.shape("out");
  const DType type = computed_in(r.dtype("yGrad"));
  const int64_t outputs = shape[static_cast<size_t>(axis)];
  if (r.tensor("yGrad").count() == 0) return r.out("out", r.filled(type, to, 0));
  const Value from = origins(r, to[static_cast<size_t>(axis)], outputs);
  Shape beside(shape.size(), 1);
  beside[static_cast<size_t>(axis)] = outputs;
  const Value places = r.expand(r.reshape(from, beside), shape);
  r.out("out", r.op("ScatterElements", {r.filled(type, to, 0), places, r.cast(r.in("yGrad"), type)},
                    {{"axis", axis}, {"reduction", "add"}}));
}

void one_hot(Recipe& r) {
  const auto one = [&](const char* param) { return r.reshape(r.in(param), {1}); };
  const Value values = r.op("Concat", {one("offValue"), one("onValue")}, {{"axis", 0}});
  const Value depth = r.constant(DType::i64, static_cast<double>(r.integer("numClasses")));
  const Value hot = r.op("OneHot", {r.cast(r.in("self"), DType::i64), depth, values},
                         {{"axis", r.integer("axis")}});
  r.out("out", r.reshape(hot, r.shape("out")));
}

const Row kRows[] = {
    {"aclnnRepeatInterleave", interleave_tensor},
    {"aclnnRepeatInterleaveWithDim", interleave_tensor_dim},
    {"aclnnRepeatInterleaveGrad", interleave_gradient},
    {"aclnnOneHot", one_hot},
};

}  // namespace

}  // namespace arrange

std::span<const Row> arrange_rows() { return arrange::kRows; }

}  // namespace anynpu::aclnn
