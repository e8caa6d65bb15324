// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "import/caffe/layers.h"

namespace anynpu::caffe {

namespace {

using Ints = std::vector<int64_t>;

std::vector<float> filled(int64_t count, float value) {
  return std::vector<float>(static_cast<size_t>(count), value);
}

// x * scale + bias for each channel, in the form that folds into a convolution.
Result<ValueId> channel_affine(Builder& b, ValueId x, ValueId scale_value, ValueId bias_value,
                               int64_t channels) {
  return b.add("BatchNormalization",
               {x, scale_value, bias_value, b.constant({channels}, filled(channels, 0.0f)),
                b.constant({channels}, filled(channels, 1.0f))},
               {{"epsilon", 0.0f}});
}

// The axes of the parameters of Scale and Bias: [axis, axis + shape.size()) of the bottom.
struct Placed {
  int64_t axis = 0;
  Shape shape;
  // The shape that broadcasts against a bottom of `rank` axes.
  Shape aligned(int64_t rank) const {
    Shape made = shape;
    made.resize(static_cast<size_t>(rank - axis), 1);
    return made;
  }
};

Result<Placed> placed_of(const Builder& b, Params& params, bool from_bottom) {
  Placed placed;
  const ValueId x = b.bottom(0);
  const int64_t given = params.integer("axis", 1, -8, 8);
  int64_t axes = params.integer("num_axes", 1, -1, 8);
  ANYNPU_TRY(params.status());
  if (from_bottom) axes = b.rank(b.bottom(1));
  if (axes == 0) {
    placed.axis = b.rank(x);  // one number for the whole bottom
    return placed;
  }
  ANYNPU_ASSIGN(placed.axis, b.axis(given, b.rank(x)));
  if (axes < 0) axes = b.rank(x) - placed.axis;
  if (placed.axis + axes > b.rank(x)) {
    return fail(Code::shape_mismatch,
                "axis is {} and it spans {} axes of a bottom of the shape {}; expected them to end "
                "within its {} axes",
                given, axes, to_string(b.shape(x)), b.rank(x));
  }
  for (int64_t i = placed.axis; i < placed.axis + axes; ++i) {
    if (from_bottom) {
      placed.shape.push_back(b.shape(b.bottom(1))[static_cast<size_t>(i - placed.axis)]);
      continue;
    }
    ANYNPU_ASSIGN(const int64_t extent, b.extent(x, i));
    placed.shape.push_back(extent);
  }
  return placed;
}

Result<ValueId> aligned_bottom(Builder& b, const Placed& placed) {
  const Shape shape = placed.aligned(b.rank(b.bottom(0)));
  if (shape == b.shape(b.bottom(1))) return b.bottom(1);
  Shape target = shape;
  for (size_t i = 0; i < placed.shape.size(); ++i) target[i] = 0;  // 0 copies the extent
  return b.reshape(b.bottom(1), target);
}

Result<ValueId> sum_of_squares(Builder& b, ValueId x, Ints axes) {
  return b.add("ReduceSumSquare", {x}, {{"axes", std::move(axes)}, {"keepdims", int64_t{1}}});
}

}  // namespace

// use_global_stats: false: mean and variance of the batch itself, even in inference.
static Status batch_norm_of_batch(Builder& b, float epsilon) {
  const ValueId x = b.bottom(0);
  Ints axes = {0};
  for (int64_t i = 2; i < b.rank(x); ++i) axes.push_back(i);
  const Attrs attrs = {{"axes", axes}, {"keepdims", int64_t{1}}};
  ANYNPU_ASSIGN(const ValueId mean, b.add("ReduceMean", {x}, attrs));
  ANYNPU_ASSIGN(const ValueId centred, b.add("Sub", {x, mean}));
  ANYNPU_ASSIGN(ValueId y, b.add("Mul", {centred, centred}));
  ANYNPU_ASSIGN(y, b.add("ReduceMean", {y}, attrs));
  ANYNPU_ASSIGN(y, b.add("Add", {y, b.scalar(epsilon)}));
  ANYNPU_ASSIGN(y, b.add("Sqrt", {y}));
  return b.set_top(0, b.add("Div", {centred, y}));
}

Status batch_norm(Builder& b) {
  ANYNPU_TRY(b.expect(1, 1));
  Params params(b.layer(), "batch_norm_param");
  const float epsilon = params.real("eps", 1e-5f);
  const bool global = params.flag("use_global_stats", true);
  ANYNPU_TRY(params.status());
  if (!global) return batch_norm_of_batch(b, epsilon);
  const ValueId x = b.bottom(0);
  ANYNPU_ASSIGN(const int64_t channels, b.extent(x, 1));
  // Blobs 0 and 1 are sums; blob 2 is what to divide them by.
  ANYNPU_ASSIGN(const Blob* factor_blob, b.blob(2));
  if (factor_blob->data->size() != 1) {
    return fail(Code::shape_mismatch,
                "weight blob 2 is {}; expected one number, the factor of mean and variance",
                to_string(factor_blob->shape));
  }
  const float total = (*factor_blob->data)[0];
  const float factor = total == 0.0f ? 0.0f : 1.0f / total;
  for (size_t i = 0; i < 2; ++i) {
    ANYNPU_TRY(b.weight(i, {channels}).status());  // checks the size, before memory is taken
  }
  std::vector<ValueId> inputs = {x, b.constant({channels}, filled(channels, 1.0f)),
                                 b.constant({channels}, filled(channels, 0.0f))};
  for (size_t i = 0; i < 2; ++i) {
    ANYNPU_ASSIGN(const Blob* found, b.blob(i));
    std::vector<float> elements = *found->data;
    for (float& element : elements) element *= factor;
    inputs.push_back(b.constant({channels}, std::move(elements)));
  }
  return b.set_top(0, b.add("BatchNormalization", inputs, {{"epsilon", epsilon}}));
}

Status scale(Builder& b) {
  ANYNPU_TRY(b.expect_at_least(1, 1));
  Params params(b.layer(), "scale_param");
  const bool has_bias = params.flag("bias_term", false);
  const bool from_bottom = b.bottoms() > 1;
  ANYNPU_ASSIGN(const Placed placed, placed_of(b, params, from_bottom));
  const ValueId x = b.bottom(0);
  const bool per_channel = !from_bottom && placed.axis == 1 && placed.shape.size() == 1;
  if (per_channel) {
    const int64_t channels = placed.shape[0];
    ANYNPU_ASSIGN(const ValueId factors, b.weight(0, {channels}));
    ValueId offsets = 0;
    if (has_bias) {
      ANYNPU_ASSIGN(offsets, b.weight(1, {channels}));
    } else {
      offsets = b.constant({channels}, filled(channels, 0.0f));
    }
    return b.set_top(0, channel_affine(b, x, factors, offsets, channels));
  }
  const Shape aligned = placed.aligned(b.rank(x));
  ValueId factors = 0;
  if (from_bottom) {
    ANYNPU_ASSIGN(factors, aligned_bottom(b, placed));
  } else {
    ANYNPU_ASSIGN(factors, b.weight(0, aligned));
  }
  ANYNPU_ASSIGN(ValueId y, b.add("Mul", {x, factors}));
  if (has_bias) {
    ANYNPU_ASSIGN(const ValueId offsets, b.weight(from_bottom ? 0 : 1, aligned));
    ANYNPU_ASSIGN(y, b.add("Add", {y, offsets}));
  }
  return b.set_top(0, y);
}

Status bias(Builder& b) {
  ANYNPU_TRY(b.expect_at_least(1, 1));
  Params params(b.layer(), "bias_param");
  const bool from_bottom = b.bottoms() > 1;
  ANYNPU_ASSIGN(const Placed placed, placed_of(b, params, from_bottom));
  ValueId offsets = 0;
  if (from_bottom) {
    ANYNPU_ASSIGN(offsets, aligned_bottom(b, placed));
  } else {
    ANYNPU_ASSIGN(offsets, b.weight(0, placed.aligned(b.rank(b.bottom(0)))));
  }
  return b.set_top(0, b.add("Add", {b.bottom(0), offsets}));
}

Status eltwise(Builder& b) {
  ANYNPU_TRY(b.expect_at_least(1, 1));
  Params params(b.layer(), "eltwise_param");
  const std::string operation = params.word("operation", "SUM");
  const std::vector<float> coefficients = params.reals("coeff");
  ANYNPU_TRY(params.status());
  std::string_view op;
  if (operation == "PROD" || operation == "0") op = "Mul";
  if (operation == "SUM" || operation == "1") op = "Add";
  if (operation == "MAX" || operation == "2") op = "Max";
  if (op.empty()) {
    return fail(Code::invalid_argument, "operation is '{}'; expected PROD, SUM or MAX", operation);
  }
  if (!coefficients.empty() && (op != "Add" || coefficients.size() != b.bottoms())) {
    return fail(Code::invalid_argument,
                "it has {} coeff for {} bottoms; expected one each, with SUM alone",
                coefficients.size(), b.bottoms());
  }
  ValueId y = 0;
  for (size_t i = 0; i < b.bottoms(); ++i) {
    ValueId x = b.bottom(i);
    if (b.shape(x) != b.shape(b.bottom(0))) {
      return fail(Code::shape_mismatch, "bottom {} is {}, bottom 0 is {}; expected the same", i,
                  to_string(b.shape(x)), to_string(b.shape(b.bottom(0))));
    }
    if (!coefficients.empty() && coefficients[i] != 1.0f) {
      ANYNPU_ASSIGN(x, b.add("Mul", {x, b.scalar(coefficients[i])}));
    }
    if (i == 0) {
      y = x;
    } else {
      ANYNPU_ASSIGN(y, b.add(op, {y, x}));
    }
  }
  return b.set_top(0, y);
}

Status softmax(Builder& b) {
  ANYNPU_TRY(b.expect(1, 1));
  Params params(b.layer(), "softmax_param");
  ANYNPU_ASSIGN(const int64_t axis, b.axis(params.integer("axis", 1, -8, 8), b.rank(b.bottom(0))));
  ANYNPU_TRY(params.status());
  return b.set_top(0, b.add("Softmax", {b.bottom(0)}, {{"axis", axis}}));
}

Status lrn(Builder& b) {
  ANYNPU_TRY(b.expect(1, 1));
  Params params(b.layer(), "lrn_param");
  const int64_t size = params.integer("local_size", 5, 1, 1 << 12);
  const float alpha = params.real("alpha", 1.0f);
  const float beta = params.real("beta", 0.75f);
  const float k = params.real("k", 1.0f);
  const std::string region = params.word("norm_region", "ACROSS_CHANNELS");
  ANYNPU_TRY(params.status());
  if (size % 2 == 0) {
    return fail(Code::invalid_argument, "local_size is {}; expected an odd number", size);
  }
  const ValueId x = b.bottom(0);
  if (region == "ACROSS_CHANNELS" || region == "0") {
    return b.set_top(
        0, b.add("LRN", {x}, {{"size", size}, {"alpha", alpha}, {"beta", beta}, {"bias", k}}));
  }
  if (b.rank(x) != 4) {
    return fail(Code::unsupported_shape, "its bottom is {}; expected N x C x H x W",
                to_string(b.shape(x)));
  }
  // x / (1 + alpha * mean of the squares around it) ^ beta
  const int64_t pad = size / 2;
  ANYNPU_ASSIGN(ValueId y, b.add("Mul", {x, x}));
  ANYNPU_ASSIGN(y, b.add("AveragePool", {y},
                         {{"kernel_shape", Ints{size, size}},
                          {"pads", Ints{pad, pad, pad, pad}},
                          {"count_include_pad", int64_t{1}}}));
  ANYNPU_ASSIGN(y, b.add("Mul", {y, b.scalar(alpha)}));
  ANYNPU_ASSIGN(y, b.add("Add", {y, b.scalar(1.0f)}));
  ANYNPU_ASSIGN(y, b.add("Pow", {y, b.scalar(beta)}));
  return b.set_top(0, b.add("Div", {x, y}));
}

Status normalize(Builder& b) {
  ANYNPU_TRY(b.expect(1, 1));
  Params params(b.layer(), "norm_param");
  const bool across = params.flag("across_spatial", true);
  const bool shared = params.flag("channel_shared", true);
  const float epsilon = params.real("eps", 1e-10f);
  ANYNPU_TRY(params.status());
  const ValueId x = b.bottom(0);
  ANYNPU_ASSIGN(const int64_t channels, b.extent(x, 1));
  Ints axes = {1};
  for (int64_t i = 2; across && i < b.rank(x); ++i) axes.push_back(i);
  ANYNPU_ASSIGN(ValueId y, sum_of_squares(b, x, axes));
  ANYNPU_ASSIGN(y, b.add("Add", {y, b.scalar(epsilon)}));
  ANYNPU_ASSIGN(y, b.add("Sqrt", {y}));
  ANYNPU_ASSIGN(y, b.add("Div", {x, y}));
  Shape shape(static_cast<size_t>(b.rank(x) - 1), 1);
  shape[0] = shared ? 1 : channels;
  ANYNPU_ASSIGN(const ValueId factors, b.weight(0, shape));
  return b.set_top(0, b.add("Mul", {y, factors}));
}

Status mvn(Builder& b) {
  ANYNPU_TRY(b.expect(1, 1));
  Params params(b.layer(), "mvn_param");
  const bool variance = params.flag("normalize_variance", true);
  const bool across = params.flag("across_channels", false);
  const float epsilon = params.real("eps", 1e-9f);
  ANYNPU_TRY(params.status());
  const ValueId x = b.bottom(0);
  Ints axes;
  for (int64_t i = across ? 1 : 2; i < b.rank(x); ++i) axes.push_back(i);
  if (axes.empty()) {
    return fail(Code::unsupported_shape, "its bottom is {}; expected N x C x spatial extents",
                to_string(b.shape(x)));
  }
  const Attrs attrs = {{"axes", axes}, {"keepdims", int64_t{1}}};
  ANYNPU_ASSIGN(const ValueId mean, b.add("ReduceMean", {x}, attrs));
  ANYNPU_ASSIGN(const ValueId centred, b.add("Sub", {x, mean}));
  if (!variance) return b.set_top(0, centred);
  ANYNPU_ASSIGN(ValueId y, b.add("Mul", {centred, centred}));
  ANYNPU_ASSIGN(y, b.add("ReduceMean", {y}, attrs));
  ANYNPU_ASSIGN(y, b.add("Sqrt", {y}));
  ANYNPU_ASSIGN(y, b.add("Add", {y, b.scalar(epsilon)}));
  return b.set_top(0, b.add("Div", {centred, y}));
}

}  // namespace anynpu::caffe
