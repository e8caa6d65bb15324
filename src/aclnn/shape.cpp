// SPDX-License-Identifier: Apache-2.0
// Tensors put together, taken apart, repeated and turned.
#include <limits>

#include "aclnn/arithmetic.h"

namespace anynpu::aclnn {

namespace {

// Tensors of the list in the type of the output; those of shape (0) count as nothing, as in torch.
Values members(Recipe& r) {
  Values list;
  for (size_t i = 0; i < r.length("tensors"); ++i) {
    if (r.tensor("tensors", i).shape.size() == 1 && r.tensor("tensors", i).count() == 0 &&
        r.rank("out") != 1)
      continue;
    list.push_back(r.cast(r.in("tensors", i), r.dtype("out")));
  }
  return list;
}

void cat(Recipe& r) {
  const Values list = members(r);
  if (list.empty()) return r.out("out", r.filled(r.dtype("out"), r.shape("out"), 0));
  r.out("out", r.op("Concat", list, {{"axis", r.axis("dim", r.rank("out"))}}));
}

// Along a new axis.
void stack(Recipe& r) {
  const int64_t axis = r.axis("dim", r.rank("out"));
  Values list;
  for (size_t i = 0; i < r.length("tensors"); ++i) {
    const Value x = r.cast(r.in("tensors", i), r.dtype("out"));
    Shape shape = r.shape(x);
    shape.insert(shape.begin() + std::min<int64_t>(axis, static_cast<int64_t>(shape.size())), 1);
    list.push_back(r.reshape(x, shape));
  }
  if (list.empty()) refuse("tensors is an empty list; expected at least one tensor");
  r.out("out", r.op("Concat", list, {{"axis", axis}}));
}

// Pieces of the sizes given along an axis.
void split_in(Recipe& r, const Ints& sizes) {
  const int64_t axis = r.axis("dim", r.rank("self"));
  const Value x = r.in("self");
  int64_t at = 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    r.out("out", i, r.slice(x, axis, at, at + sizes[i]));
    at += sizes[i];
  }
}

void split(Recipe& r) {
  const int64_t axis = r.axis("dim", r.rank("self")), size = r.integer("splitSections");
  const int64_t whole = r.shape("self")[static_cast<size_t>(axis)];
  Ints sizes;
  for (size_t i = 0; i < r.length("out"); ++i) {
    sizes.push_back(std::min(size, whole - static_cast<int64_t>(i) * size));
  }
  split_in(r, sizes);
}

void split_with_sizes(Recipe& r) { split_in(r, r.ints("splitSize")); }

// number 1: the upper triangle.
void triangle(Recipe& r) {
  r.out(r.result(),
        r.op("Trilu", {r.in(0), r.constant(DType::i64, static_cast<double>(r.integer("diagonal")))},
             {{"upper", r.row().number}}));
}

void flip(Recipe& r) {
  Value x = r.in("self");
  for (int64_t axis : r.ints("dims").empty() ? Ints{} : r.axes("dims", r.rank("self"))) {
    x = r.slice(x, axis, -1, std::numeric_limits<int64_t>::min() + 1, -1);
  }
  r.out("out", x);
}

// Without axes the tensor is rolled as a list.
void roll(Recipe& r) {
  const auto shifts = r.ints("shifts");
  auto axes = r.ints("dims");
  Value x = r.in("x");
  const Shape shape = r.shape("x");
  if (axes.empty()) {
    x = r.reshape(x, {r.tensor("x").count()});
    axes = {0};
  }
  if (axes.size() != shifts.size()) {
    refuse("shifts has {} numbers and dims {}; expected one for each", shifts.size(), axes.size());
  }
  for (size_t i = 0; i < axes.size(); ++i) {
    const int64_t extent = r.extent(x, axes[i]);
    if (extent == 0) continue;
    const int64_t cut = ((-shifts[i] % extent) + extent) % extent;
    if (cut == 0) continue;
    x = r.op("Concat", {r.slice(x, axes[i], cut, extent), r.slice(x, axes[i], 0, cut)},
             {{"axis", axes[i]}});
  }
  r.out("out", r.reshape(x, shape));
}

void permute(Recipe& r) {
  auto order = r.ints("dims");
  for (int64_t& axis : order) axis = axis < 0 ? axis + static_cast<int64_t>(order.size()) : axis;
  r.out("out", r.transpose(r.in("self"), order));
}

// Repeats may add axes in front.
void repeat(Recipe& r) {
  const auto repeats = r.ints("repeats");
  Shape shape = r.shape("self");
  if (repeats.size() < shape.size()) {
    refuse("repeats has {} numbers; the tensor has {} axes", repeats.size(), shape.size());
  }
  shape.insert(shape.begin(), repeats.size() - shape.size(), 1);
  r.out("out", r.op("Tile", {r.reshape(r.in("self"), shape), r.constant(repeats)}));
}

// Every element `repeats` times behind itself; without an axis, of the tensor as a list.
void repeat_interleave(Recipe& r) {
  const int64_t repeats = r.integer("repeats");
  Value x = r.in("self");
  int64_t axis = 0;
  if (r.row().number) {
    axis = r.axis("dim", r.rank("self"));
    if (r.rank("self") == 0) x = r.reshape(x, {1});
  } else {
    x = r.reshape(x, {r.tensor("self").count()});
  }
  Shape shape = r.shape(x), wide = shape;
  const auto at = static_cast<size_t>(axis);
  shape.insert(shape.begin() + axis + 1, 1);
  wide.insert(wide.begin() + axis + 1, repeats);
  Shape joined = r.shape(x);
  joined[at] *= repeats;
  r.out("out", r.reshape(r.expand(r.reshape(x, shape), wide), joined));
}

// Pads go from the last axis to the front, begin and end of each; negative ones cut.
void constant_pad(Recipe& r) {
  const auto pads = r.ints("pad");
  const size_t rank = r.rank("self");
  if (pads.size() % 2 != 0 || pads.size() / 2 > rank) {
    refuse("pad has {} numbers; expected two for each of at most {} axes", pads.size(), rank);
  }
  Ints ordered(2 * rank, 0);
  for (size_t i = 0; i < pads.size() / 2; ++i) {
    ordered[rank - 1 - i] = pads[2 * i];
    ordered[2 * rank - 1 - i] = pads[2 * i + 1];
  }
  if (rank == 0) return r.out("out", r.in("self"));
  if (r.tensor("self").count() == 0) {
    return r.out("out", r.expand(r.number("value", r.dtype("self")), r.shape("out")));
  }
  r.out("out", r.op("Pad", {r.in("self"), r.constant(ordered), r.number("value", r.dtype("self"))},
                    {{"mode", "constant"}}));
}

// Channels of all groups in turn.
void channel_shuffle(Recipe& r) {
  const Shape shape = r.shape("self");
  const int64_t groups = r.integer("groups");
  if (shape.size() < 3 || groups < 1 || shape[1] % groups != 0) {
    refuse("self is {} and groups {}; expected channels that they divide", to_string(shape),
           groups);
  }
  const int64_t rest = element_count(shape) / std::max<int64_t>(shape[0] * shape[1], 1);
  const Value split = r.reshape(r.in("self"), {shape[0], groups, shape[1] / groups, rest});
  r.out("out", r.reshape(r.transpose(split, {0, 2, 1, 3}), shape));
}

void slice(Recipe& r) {
  r.out("out", r.slice(r.in("self"), r.axis("dim", r.rank("self")), r.integer("start"),
                       r.integer("end"), r.integer("step")));
}

void slices(Recipe& r) {
  const auto starts = r.ints("starts"), ends = r.ints("ends");
  auto axes = r.ints("axes"), steps = r.ints("steps");
  if (axes.empty()) {
    for (size_t i = 0; i < starts.size(); ++i) axes.push_back(static_cast<int64_t>(i));
  }
  if (steps.empty()) steps.assign(starts.size(), 1);
  r.out("out", r.op("Slice", {r.in("self"), r.constant(starts), r.constant(ends), r.constant(axes),
                              r.constant(steps)}));
}

const Row kRows[] = {
    {"aclnnChannelShuffle", channel_shuffle},
    {"aclnnSlice", slice},
    {"aclnnSliceV2", slices},
    {"aclnnCat", cat},
    {"aclnnStack", stack},
    {"aclnnSplitTensor", split},
    {"aclnnSplitWithSize", split_with_sizes},
    {"aclnnTriu", triangle, "", false, 1},
    {"aclnnInplaceTriu", triangle, "", false, 1},
    {"aclnnTril", triangle},
    {"aclnnInplaceTril", triangle},
    {"aclnnFlip", flip},
    {"aclnnRoll", roll},
    {"aclnnPermute", permute},
    {"aclnnRepeat", repeat},
    {"aclnnRepeatInterleaveInt", repeat_interleave},
    {"aclnnRepeatInterleaveIntWithDim", repeat_interleave, "", false, 1},
    {"aclnnConstantPadNd", constant_pad},
};

}  // namespace

std::span<const Row> shape_rows() { return kRows; }

}  // namespace anynpu::aclnn
