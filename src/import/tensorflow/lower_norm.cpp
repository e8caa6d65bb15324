// SPDX-License-Identifier: Apache-2.0
// Normalisation.
#include "import/tensorflow/lower.h"
#include "import/tensorflow/table.h"

namespace anynpu::tensorflow {

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
