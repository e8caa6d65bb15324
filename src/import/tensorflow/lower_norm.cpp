// SPDX-License-Identifier: Apache-2.0
// Normalisation.
#include <cstring>

#include "import/tensorflow/lower.h"
#include "import/tensorflow/table.h"

namespace anynpu::tensorflow {

namespace {

// A constant of float32 whose elements are all `number`.
bool is_filled_with(const Builder& b, ValueId id, float number) {
  if (!b.is_constant(id) || b.dtype(id) != DType::f32) return false;
  const auto& bytes = b.value(id).constant->bytes;
  for (size_t at = 0; at + sizeof(float) <= bytes.size(); at += sizeof(float)) {
    float element = 0;
    std::memcpy(&element, bytes.data() + at, sizeof element);
    if (element != number) return false;
  }
  return true;
}

// Layer normalisation as Keras before 3 writes it: every row is a channel of one picture, with its
// own statistics, no scale and no offset. kNoValue for other pictures.
ValueId rows_normalised(Builder& b, ValueId x, ValueId scale, ValueId offset, float epsilon) {
  if (!b.ok() || !b.is_fixed(x) || b.dtype(x) != DType::f32) return kNoValue;
  const Shape shape = b.shape(x);
  if (shape[0] != 1 || element_count(shape) == 0 || !is_filled_with(b, scale, 1) ||
      !is_filled_with(b, offset, 0))
    return kNoValue;
  const int64_t width = element_count(shape) / shape[1];
  const graph::Node* made = b.maker(x);
  ValueId rows = made && made->op == "Reshape" ? made->inputs[0] : kNoValue;
  if (!b.is_fixed(rows) || b.rank(rows) < 2 || b.shape(rows).back() != width)
    rows = b.reshape(x, {shape[1], width});
  const ValueId y = b.node("LayerNormalization", 17, {rows, b.filled(DType::f32, {width}, 1)},
                           {{"axis", int64_t{-1}}, {"epsilon", epsilon}});
  return b.reshape(y, shape);
}

}  // namespace

void lower_fused_batch_norm(Builder& b) {
  const ValueId x = b.in_picture(0);
  const bool training = b.flag("is_training", true);
  const float epsilon = b.f("epsilon", 1e-4f);
  if (!b.has_rank(x, "the picture", 3, 5)) return;
  const DType type = b.dtype(x);
  const ValueId scale = b.cast(b.in(1), type), offset = b.cast(b.in(2), type);
  if (!training) {
    const ValueId mean = b.cast(b.in(3), type), variance = b.cast(b.in(4), type);
    b.out_picture(0, b.node("BatchNormalization", 14, {x, scale, offset, mean, variance},
                            {{"epsilon", epsilon}}));
    b.out(1, b.in(3));
    b.out(2, b.in(4));
    return;
  }
  const ValueId rows = rows_normalised(b, x, scale, offset, epsilon);
  if (rows != kNoValue) return b.out_picture(0, rows);
  // Statistics of the batch itself: over all axes but the channels, in float32.
  Ints axes = {0};
  for (int64_t i = 2; i < b.rank(x); ++i) axes.push_back(i);
  const ValueId wide = b.cast(x, DType::f32);
  const auto moment = [&](ValueId of) {
    return b.node("ReduceMean", 18, {of, b.list(axes)}, {{"keepdims", int64_t{1}}});
  };
  const ValueId mean = moment(wide), centred = sub(b, wide, mean);
  const ValueId variance = moment(mul(b, centred, centred));
  Ints shape(static_cast<size_t>(b.rank(x)) - 1, 1);
  shape[0] = -1;
  const ValueId root = b.node("Sqrt", 13, {add(b, variance, b.scalar(DType::f32, epsilon))});
  const ValueId scaled = mul(b, div(b, centred, root), b.reshape(b.cast(scale, DType::f32), shape));
  b.out_picture(0, b.cast(add(b, scaled, b.reshape(b.cast(offset, DType::f32), shape)), type));
  // What training keeps: the statistics of the batch, or a part of them beside what was kept
  // before.
  const auto kept = [&](ValueId made, size_t before) {
    const float part = b.f("exponential_avg_factor", 1);
    if (part == 1) return made;
    const ValueId old = mul(b, b.in(before), b.scalar(DType::f32, 1.0 - static_cast<double>(part)));
    return add(b, old, mul(b, made, b.scalar(DType::f32, part)));
  };
  b.out(1, kept(b.reshape(mean, {-1}), 3));
  // The variance that training keeps is the one of a sample.
  if (b.is_fixed(x)) {
    const auto count =
        static_cast<double>(element_count(b.shape(x)) / std::max<int64_t>(1, b.shape(x)[1]));
    const double factor = count > 1 ? count / (count - 1) : 1;
    b.out(2, kept(mul(b, b.reshape(variance, {-1}), b.scalar(DType::f32, factor)), 4));
  }
}

// The operator of the first published Inception files; TensorFlow no longer makes it.
void lower_global_batch_norm(Builder& b) {
  const ValueId x = b.in_first(0);
  if (!b.has_rank(x, "the picture", 4, 4)) return;
  const ValueId offset = b.in(3);
  const bool scales = b.flag("scale_after_normalization", true);
  const ValueId scale =
      scales ? b.in(4) : b.node("Expand", 13, {b.scalar(b.dtype(x), 1), b.shape_of(offset)});
  b.out_first(0, b.node("BatchNormalization", 14, {x, scale, offset, b.in(1), b.in(2)},
                        {{"epsilon", b.f("variance_epsilon", 0)}}));
}

// Along the last axis of the model, which may stand second here.
void lower_softmax(Builder& b) {
  const bool first = b.is_first(0);
  const ValueId x = first ? b.in_first(0) : b.in(0);
  const ValueId y =
      b.node(b.row().becomes, b.row().opset, {x}, {{"axis", int64_t{first ? 1 : -1}}});
  first ? b.out_first(0, y) : b.out(0, y);
}

void lower_lrn(Builder& b) {
  const int64_t radius = b.i("depth_radius", 5);
  const float bias = b.f("bias", 1), alpha = b.f("alpha", 1), beta = b.f("beta", 0.5f);
  const ValueId x = b.in_first(0);
  if (!b.ok()) return;
  if (radius < 0 || radius > (1 << 20))
    return b.refuse(Code::invalid_argument, "depth_radius is {}", radius);
  const int64_t size = 2 * radius + 1;
  b.out_first(0, b.node("LRN", 13, {x},
                        {{"size", size},
                         {"bias", bias},
                         {"alpha", alpha * static_cast<float>(size)},
                         {"beta", beta}}));
}

void lower_l2_loss(Builder& b) {
  const ValueId x = b.in(0);
  const ValueId sum = b.node("ReduceSumSquare", 18, {x}, {{"keepdims", int64_t{0}}});
  b.out(0, mul(b, sum, b.scalar(b.dtype(x), 0.5)));
}

}  // namespace anynpu::tensorflow
