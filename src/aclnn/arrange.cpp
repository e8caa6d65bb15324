// SPDX-License-Identifier: Apache-2.0
// Elements in another order or repeated, and tensors made from a few numbers.
#include <algorithm>
#include <cmath>

#include "aclnn/arithmetic.h"

namespace anynpu::aclnn {

namespace arrange {

namespace {

void flip(Recipe& r) {
  Value x = r.in("self");
  for (int64_t axis : r.axes("dims", r.rank("self"))) {
    if (r.ints("dims").empty()) break;
    const int64_t extent = r.extent(x, axis);
    std::vector<int64_t> order;
    for (int64_t i = extent - 1; i >= 0; --i) order.push_back(i);
    x = r.op("Gather", {x, r.constant(order)}, {{"axis", axis}});
  }
  r.out("out", x);
}

// Without dims the tensor is one row.
void roll(Recipe& r) {
  const auto shifts = r.ints("shifts");
  auto dims = r.ints("dims");
  const Shape shape = r.shape("x");
  Value x = r.in("x");
  if (dims.empty()) {
    x = r.reshape(x, {r.tensor("x").count()});
    dims = {0};
  }
  if (shifts.size() != dims.size()) {
    refuse("{} shifts for {} dims; expected as many", shifts.size(), dims.size());
  }
  for (size_t i = 0; i < dims.size(); ++i) {
    const int64_t rank = static_cast<int64_t>(r.shape(x).size());
    const int64_t axis = dims[i] < 0 ? dims[i] + rank : dims[i];
    if (axis < 0 || axis >= rank) refuse("dims has {}; expected {} to {}", dims[i], -rank, rank - 1);
    const int64_t extent = r.extent(x, axis);
    if (extent == 0) continue;
    std::vector<int64_t> order;
    for (int64_t k = 0; k < extent; ++k) {
      order.push_back(((k - shifts[i]) % extent + extent) % extent);
    }
    x = r.op("Gather", {x, r.constant(order)}, {{"axis", axis}});
  }
  r.out("out", r.reshape(x, shape));
}

void repeat(Recipe& r) {
  const auto repeats = r.ints("repeats");
  Shape shape = r.shape("self");
  if (repeats.size() < shape.size()) {
    refuse("{} repeats for {} axes; expected at least as many", repeats.size(), shape.size());
  }
  while (shape.size() < repeats.size()) shape.insert(shape.begin(), 1);
  if (repeats.empty()) return r.out("out", r.in("self"));
  r.out("out", r.op("Tile", {r.reshape(r.in("self"), shape), r.constant(repeats)}));
}

// Every element of an axis some times in a row.
Value repeated(Recipe& r, Value x, int64_t axis, int64_t times) {
  std::vector<int64_t> order;
  for (int64_t i = 0; i < r.extent(x, axis) * times; ++i) order.push_back(i / times);
  return r.op("Gather", {x, r.constant(order)}, {{"axis", axis}});
}
Value flat(Recipe& r) { return r.reshape(r.in("self"), {r.tensor("self").count()}); }
void interleave_int(Recipe& r) {
  const int64_t times = r.integer("repeats");
  r.out("out", times == 0 ? r.filled(r.dtype("self"), r.shape("out"), 0)
                          : repeated(r, flat(r), 0, times));
}
void interleave_int_dim(Recipe& r) {
  const int64_t axis = r.axis("dim", r.rank("self")), times = r.integer("repeats");
  const Value x = r.rank("self") == 0 ? flat(r) : r.in("self");
  r.out("out", times == 0 ? r.filled(r.dtype("self"), r.shape("out"), 0)
                          : r.reshape(repeated(r, x, axis, times), r.shape("out")));
}

// The element of the input that each of `outputs` elements comes from, when `repeats` says how often
// each is repeated; one number is for all.
Value origins(Recipe& r, int64_t inputs, int64_t outputs) {
  const Value times = r.expand(r.reshape(r.cast(r.in("repeats"), DType::i64),
                                         {r.tensor("repeats").count()}), {inputs});
  const Value ends = r.op("CumSum", {times, r.constant(DType::i64, 0)});
  const Value each = r.op("Range", {r.constant(DType::i64, 0),
                                    r.constant(DType::i64, static_cast<double>(outputs)),
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

// --- from a few numbers

void eye(Recipe& r) {
  const Shape shape = r.shape("out");
  const DType type = r.dtype("out");
  const Value zeros = r.filled(DType::f32, shape, 0);
  r.out("out", r.cast(r.op("EyeLike", {zeros}), type));
}

// Symmetric from both ends, as torch has it.
std::vector<double> spaced(double start, double end, int64_t steps) {
  std::vector<double> values;
  const double step = steps > 1 ? (end - start) / static_cast<double>(steps - 1) : 0;
  for (int64_t i = 0; i < steps; ++i) {
    values.push_back(i < steps / 2 ? start + step * static_cast<double>(i)
                                   : end - step * static_cast<double>(steps - 1 - i));
  }
  if (steps == 1) values[0] = start;
  return values;
}
void linspace(Recipe& r) {
  const auto values = spaced(r.scalar("start").real(), r.scalar("end").real(), r.integer("steps"));
  const auto count = static_cast<int64_t>(values.size());
  r.out("out", r.reshape(r.cast(r.constant(DType::f64, {count}, values), r.dtype("out")), r.shape("out")));
}
void logspace(Recipe& r) {
  auto values = spaced(r.scalar("start").real(), r.scalar("end").real(), r.integer("steps"));
  const double base = r.real("base");
  for (double& value : values) value = std::pow(base, value);
  const auto count = static_cast<int64_t>(values.size());
  r.out("result", r.reshape(r.cast(r.constant(DType::f64, {count}, values), r.dtype("result")), r.shape("result")));
}

// The row's number: 1 keeps what is above the diagonal.
void triangle(Recipe& r) {
  const Value diagonal = r.constant(DType::i64, static_cast<double>(r.integer("diagonal")));
  const Value x = r.in("self");
  const bool truth = r.dtype(x) == DType::boolean;
  const Value part = r.op("Trilu", {truth ? r.cast(x, DType::u8) : x, diagonal},
                          {{"upper", r.row().number}});
  r.out(r.given("out") ? "out" : "selfRef", part);
}

void trace(Recipe& r) {
  const Shape shape = r.shape("self");
  if (shape.size() != 2) refuse("self is {}; expected a matrix", to_string(shape));
  const DType type = r.dtype("out");
  const int64_t length = std::min(shape[0], shape[1]);
  if (length == 0) return r.out("out", r.filled(type, r.shape("out"), 0));
  std::vector<int64_t> places;
  for (int64_t i = 0; i < length; ++i) places.push_back(i * shape[1] + i);
  const Value x = r.op("Gather", {flat(r), r.constant(places)}, {{"axis", 0}});
  const Value sum = r.op("ReduceSum", {r.cast(x, computed_in(type))}, {{"keepdims", 0}});
  r.out("out", r.reshape(sum, r.shape("out")));
}

void one_hot(Recipe& r) {
  const auto one = [&](const char* param) { return r.reshape(r.in(param), {1}); };
  const Value values = r.op("Concat", {one("offValue"), one("onValue")}, {{"axis", 0}});
  const Value depth = r.constant(DType::i64, static_cast<double>(r.integer("numClasses")));
  const Value hot = r.op("OneHot", {r.cast(r.in("self"), DType::i64), depth, values},
                         {{"axis", r.integer("axis")}});
  r.out("out", r.reshape(hot, r.shape("out")));
}

void fill_tensor(Recipe& r) {
  const Value value = r.reshape(r.cast(r.in("value"), r.dtype("selfRef")), {});
  r.out("selfRef", r.expand(value, r.shape("selfRef")));
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
