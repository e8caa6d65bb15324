// SPDX-License-Identifier: Apache-2.0
#include "import/singleop/lower.h"

namespace anynpu::singleop {

namespace {

using Type = Builder::Type;

// One number per channel of x, or a constant one.
ValueId per_channel(Builder& b, size_t index, ValueId x, double otherwise) {
  if (!b.has_rank(x, "x", 2)) return kNoValue;
  if (!b.has(index)) return b.filled(b.dtype(x), {b.shape(x)[1]}, otherwise);
  return b.reshape(b.cast(b.in(index), b.dtype(x)), {-1});
}

}  // namespace

// x, mean, variance, momentum, scale, offset: (x - mean) / sqrt(variance + epsilon) * scale +
// offset, with mean and variance divided by momentum as Caffe has it.
void lower_bn_inference(Builder& b) {
  const ValueId x = b.in_nchw(0);
  if (!b.ok()) return;
  if (b.rank(x) < 2)
    return b.refuse(Code::unsupported_shape, "x has the shape {}, expected channels",
                    to_string(b.shape(x)));
  if (b.type() == "BNInfer" && b.input_count() == 5) {  // x, scale, offset, mean, variance
    return b.out_nchw(0, b.node("BatchNormalization", 9,
                                {x, per_channel(b, 1, x, 1), per_channel(b, 2, x, 0),
                                 per_channel(b, 3, x, 0), per_channel(b, 4, x, 1)},
                                {{"epsilon", b.f("epsilon", 1e-5f)}}));
  }
  ValueId mean = per_channel(b, 1, x, 0), variance = per_channel(b, 2, x, 1);
  const bool has_momentum = b.type() != "BNInferenceD";
  if (has_momentum && b.has(3)) {
    const ValueId momentum = b.reshape(b.cast(b.in(3), b.dtype(x)), {-1});
    mean = b.node("Div", 13, {mean, momentum});
    variance = b.node("Div", 13, {variance, momentum});
  }
  const size_t scale = has_momentum ? 4 : 3;
  b.out_nchw(
      0, b.node("BatchNormalization", 9,
                {x, per_channel(b, scale, x, 1), per_channel(b, scale + 1, x, 0), mean, variance},
                {{"epsilon", b.f("epsilon", 1e-5f)}}));
}

// x, scale, offset, mean, variance; inference only: further outputs repeat the inputs.
void lower_batch_norm(Builder& b) {
  if (b.flag("is_training", true)) {
    return b.refuse(Code::unsupported_feature,
                    "is_training is true, expected false: only inference is there");
  }
  const ValueId x = b.in_nchw(0);
  if (!b.ok()) return;
  const ValueId mean = b.in(3), variance = b.in(4);
  b.out_nchw(0, b.node("BatchNormalization", 14, {x, b.in(1), b.in(2), mean, variance},
                       {{"epsilon", b.f("epsilon", 1e-4f)}}));
  b.out(1, mean);
  b.out(2, variance);
  b.out(3, mean);
  b.out(4, variance);
}

// y, mean and variance over the axes from begin_norm_axis on.
void lower_layer_norm(Builder& b) {
  const ValueId x = b.in(0);
  if (!b.ok()) return;
  const int64_t first = b.axis(b.i("begin_norm_axis", 0), x);
  b.axis(b.i("begin_params_axis", 0), x);  // the shapes of gamma and beta say the same
  const float epsilon = b.f("epsilon", 1e-7f);
  std::vector<int64_t> axes;
  for (int64_t a = first; a < b.rank(x); ++a) axes.push_back(a);
  const ValueId list = b.list(axes);
  b.out(0, b.node("LayerNormalization", 17, {x, b.in(1), b.in_or_none(2)},
                  {{"axis", first}, {"epsilon", epsilon}}));
  if (b.output_count() < 2) return;
  const ValueId wide = b.cast(x, DType::f32);
  const ValueId mean = b.node("ReduceMean", 18, {wide, list}, {{"keepdims", int64_t{1}}});
  const ValueId away = b.node("Sub", 13, {wide, mean});
  const ValueId variance =
      b.node("ReduceMean", 18, {b.node("Mul", 13, {away, away}), list}, {{"keepdims", int64_t{1}}});
  b.out(1, b.cast(mean, b.dtype(x)), Type::any);
  if (b.type() == "LayerNorm") return b.out(2, b.cast(variance, b.dtype(x)), Type::any);
  const ValueId sum = b.node("Add", 13, {variance, b.scalar(DType::f32, epsilon)});
  b.out(2, b.cast(b.node("Reciprocal", 13, {b.node("Sqrt", 13, {sum})}), b.dtype(x)), Type::any);
}

// y, and where they are described, mean and variance of each channel.
void lower_instance_norm(Builder& b) {
  const ValueId x = b.in_nchw(0);
  if (b.output_count() > 1 && b.has_rank(x, "x", 3)) {
    std::vector<int64_t> axes;
    for (int64_t axis = 2; axis < b.rank(x); ++axis) axes.push_back(axis);
    const ValueId list = b.list(axes), wide = widened(b, x);
    const ValueId mean = b.node("ReduceMean", 18, {wide, list}, {{"keepdims", int64_t{1}}});
    const ValueId away = sub(b, wide, mean);
    b.out(1, mean, Type::any);
    b.out(2, b.node("ReduceMean", 18, {mul(b, away, away), list}, {{"keepdims", int64_t{1}}}),
          Type::any);
  }
  b.out_nchw(
      0, b.node("InstanceNormalization", 6, {x, per_channel(b, 1, x, 1), per_channel(b, 2, x, 0)},
                {{"epsilon", b.f("epsilon", 1e-6f)}}));
}

void lower_group_norm(Builder& b) {
  const ValueId x = b.in_nchw(0);
  if (!b.has_rank(x, "x", 3)) return;
  const int64_t groups = b.i("num_groups"), channels = b.shape(x)[1];
  if (groups < 1 || (channels >= 0 && channels % groups != 0))
    return b.refuse(Code::invalid_argument, "num_groups is {}, expected to divide {} channels",
                    groups, channels);
  b.out_nchw(0,
             b.node("GroupNormalization", 21, {x, per_channel(b, 1, x, 1), per_channel(b, 2, x, 0)},
                    {{"epsilon", b.f(b.has_attr("eps") ? "eps" : "epsilon", 1e-5f)},
                     {"num_groups", groups}}));
}

void lower_rms_norm(Builder& b) {
  const ValueId x = b.in(0);
  if (!b.ok()) return;
  const int64_t first = b.rank(x) - b.rank(b.in(1));
  const float epsilon = b.f("epsilon", 1e-6f);
  b.out(0, b.node("RMSNormalization", 23, {x, b.in(1)}, {{"axis", first}, {"epsilon", epsilon}}));
  if (b.output_count() < 2) return;
  std::vector<int64_t> axes;
  for (int64_t a = first; a < b.rank(x); ++a) axes.push_back(a);
  const ValueId wide = b.cast(x, DType::f32);
  const ValueId mean = b.node("ReduceMean", 18, {b.node("Mul", 13, {wide, wide}), b.list(axes)},
                              {{"keepdims", int64_t{1}}});
  const ValueId sum = b.node("Add", 13, {mean, b.scalar(DType::f32, epsilon)});
  b.out(1, b.node("Reciprocal", 13, {b.node("Sqrt", 13, {sum})}));
}

// Softmax over one axis as it is; over several through exponentials and their sum.
void lower_softmax(Builder& b) {
  const ValueId x = b.in(0);
  if (!b.ok()) return;
  const bool logarithm = b.type().starts_with("Log");
  std::vector<int64_t> axes = b.ints("axes", {-1});
  if (b.has_attr("axis")) axes = {b.i("axis")};
  if (axes.size() == 1) {
    b.out(0, b.node(logarithm ? "LogSoftmax" : "Softmax", 13, {x}, {{"axis", b.axis(axes[0], x)}}),
          Type::any);
    return;
  }
  axes = b.axes(std::move(axes), x);
  // Several steps: 16-bit floats are rounded once, at the end.
  const DType type = b.dtype(x);
  const ValueId wide = b.cast(x, size_of(type) == 2 ? DType::f32 : type), list = b.list(axes);
  const ValueId top = b.node("ReduceMax", 18, {wide, list}, {{"keepdims", int64_t{1}}});
  const ValueId away = b.node("Sub", 13, {wide, top});
  const ValueId e = b.node("Exp", 13, {away});
  const ValueId sum = b.node("ReduceSum", 13, {e, list}, {{"keepdims", int64_t{1}}});
  const ValueId y =
      logarithm ? b.node("Sub", 13, {away, b.node("Log", 13, {sum})}) : b.node("Div", 13, {e, sum});
  b.out(0, b.cast(y, type));
}

// The vendor's alpha is per element, ours for the whole window.
void lower_lrn(Builder& b) {
  const ValueId x = b.in_nchw(0);
  const int64_t size = 2 * b.i_between("depth_radius", 5, 0, 1 << 20) + 1;
  if (b.s("norm_region", "ACROSS_CHANNELS") != "ACROSS_CHANNELS")
    return b.refuse(Code::unsupported_feature, "norm_region must be ACROSS_CHANNELS");
  b.out_nchw(0, b.node("LRN", 13, {x},
                       {{"size", size},
                        {"alpha", b.f("alpha", 1) * static_cast<float>(size)},
                        {"beta", b.f("beta", 0.5f)},
                        {"bias", b.f("bias", 1)}}));
}

}  // namespace anynpu::singleop
