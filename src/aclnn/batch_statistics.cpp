// SPDX-License-Identifier: Apache-2.0
// The parts of batch normalisation that several devices compute together, and normalisations of
// groups and of single pictures.
#include "aclnn/arithmetic.h"

namespace anynpu::aclnn {

namespace {

constexpr DType kType = DType::f32;

struct Channels {
  std::vector<int64_t> axes;  // all but the channels
  Shape shape;                // 1, C, 1, 1
  double count = 1;           // elements of one
};

Channels channels_of(const Shape& shape) {
  if (shape.size() < 2) refuse("the input has {} axes; expected at least 2", shape.size());
  Channels c;
  for (size_t i = 0; i < shape.size(); ++i) {
    c.shape.push_back(i == 1 ? shape[1] : 1);
    if (i == 1) continue;
    c.axes.push_back(static_cast<int64_t>(i));
    c.count *= static_cast<double>(shape[i]);
  }
  return c;
}

Value floats(Recipe& r, Param param) { return r.cast(r.in(param), kType); }
Value mul(Recipe& r, Value a, Value b) { return r.op("Mul", {a, b}); }
Value scaled(Recipe& r, Value x, double by) { return mul(r, x, r.constant(kType, by)); }
Value sum(Recipe& r, Value x, const std::vector<int64_t>& axes, bool keep = true) {
  return r.op("ReduceSum", {x, r.constant(axes)}, {{"keepdims", keep}});
}
Value inverse_root(Recipe& r, Value variance, const char* eps) {
  return r.op("Reciprocal", {r.op("Sqrt", {r.op("Add", {variance, r.number(eps, kType)})})});
}
Value of_channels(Recipe& r, const char* name, const Channels& c) {
  return r.given(name) ? r.reshape(floats(r, name), c.shape) : Value{};
}
void write(Recipe& r, const char* name, Value value) {
  r.out(name, r.reshape(value, r.shape(name)));
}
void write_if(Recipe& r, const char* name, Value value) {
  if (r.given(name) && r.tensor(name).count() > 0) write(r, name, value);
}

void stats(Recipe& r) {
  const Channels c = channels_of(r.shape("input"));
  const Value x = floats(r, "input"), mean = scaled(r, sum(r, x, c.axes), 1 / c.count);
  const Value apart = r.op("Sub", {x, mean});
  const Value variance = scaled(r, sum(r, mul(r, apart, apart), c.axes), 1 / c.count);
  write(r, "mean", mean);
  write(r, "invstd", inverse_root(r, variance, "eps"));
}

void sums(Recipe& r) {
  const Channels c = channels_of(r.shape("x"));
  const Value x = floats(r, "x");
  write(r, "sum", sum(r, x, c.axes));
  write(r, "squareSum", sum(r, mul(r, x, x), c.axes));
}

void apply(Recipe& r) {
  const Channels c = channels_of(r.shape("input"));
  Value y = mul(r, r.op("Sub", {floats(r, "input"), of_channels(r, "mean", c)}),
                of_channels(r, "invstd", c));
  if (const Value weight = of_channels(r, "weight", c)) y = mul(r, y, weight);
  if (const Value bias = of_channels(r, "bias", c)) y = r.op("Add", {y, bias});
  r.out("output", y);
}

void reduce_gradient(Recipe& r) {
  const Channels c = channels_of(r.shape("input"));
  const Value dy = floats(r, "gradOut");
  const Value apart = r.op("Sub", {floats(r, "input"), of_channels(r, "mean", c)});
  const Value of_dy = sum(r, dy, c.axes), with_x = sum(r, mul(r, dy, apart), c.axes);
  if (r.flag("inputG")) {
    write_if(r, "sumDy", of_dy);
    write_if(r, "sumDyXmu", with_x);
  }
  if (r.flag("weightG")) write_if(r, "gradWeight", mul(r, with_x, of_channels(r, "invstd", c)));
  if (r.flag("biasG")) write_if(r, "gradBias", of_dy);
}

void apply_gradient(Recipe& r) {
  const Channels c = channels_of(r.shape("input"));
  const Value counter = floats(r, "counter");
  const Value all =
      r.op("ReduceSum", {r.reshape(counter, {element_count(r.shape(counter))}), r.constant({0})},
           {{"keepdims", 0}});
  const auto mean = [&](const char* name) { return r.op("Div", {of_channels(r, name, c), all}); };
  const Value inverse = of_channels(r, "invstd", c);
  const Value apart = r.op("Sub", {floats(r, "input"), of_channels(r, "mean", c)});
  const Value slope = mul(r, mul(r, inverse, inverse), mean("sumDyXmu"));
  const Value inner =
      r.op("Sub", {r.op("Sub", {floats(r, "gradOut"), mean("sumDy")}), mul(r, apart, slope)});
  Value factor = inverse;
  if (const Value weight = of_channels(r, "weight", c)) factor = mul(r, factor, weight);
  r.out("gradInput", mul(r, inner, factor));
}

// (1 - momentum) * running + momentum * fresh.
void update(Recipe& r, const char* name, Value fresh) {
  if (!r.given(name)) return;
  const Value momentum = r.number("momentum", kType), old = floats(r, name);
  const Value kept = mul(r, old, r.op("Sub", {r.constant(kType, 1), momentum}));
  r.out(name, r.op("Add", {kept, mul(r, r.reshape(fresh, r.shape(name)), momentum)}));
}

struct Joined {
  Value mean, variance, unbiased;  // of channels
};

// Statistics of all devices, from their counts, means and variances: device x channels.
Joined joined(Recipe& r, Value counts, Value means, Value variances) {
  const int64_t devices = r.extent(means, 0);
  const Value n = r.reshape(counts, {devices, 1});
  const Value all = sum(r, n, {0});
  const Value mean = r.op("Div", {sum(r, mul(r, means, n), {0}), all});
  const Value apart = r.op("Sub", {means, mean});
  const Value squares = sum(r, mul(r, r.op("Add", {variances, mul(r, apart, apart)}), n), {0});
  const Value less = r.op("Sub", {all, r.constant(kType, 1)});
  return {mean, r.op("Div", {squares, all}), r.op("Div", {squares, less})};
}

void gather_stats(Recipe& r) {
  const Value inverse = floats(r, "invstd"), eps = r.number("eps", kType);
  const Value variances = r.op("Sub", {r.op("Reciprocal", {mul(r, inverse, inverse)}), eps});
  const Joined all = joined(r, floats(r, "counts"), floats(r, "mean"), variances);
  write(r, "meanAll", all.mean);
  write(r, "invstdAll", inverse_root(r, all.variance, "eps"));
  update(r, "runningMean", all.mean);
  update(r, "runningVar", all.unbiased);
}

void gather_sums(Recipe& r) {
  const Value n = floats(r, "sampleCount");
  const Value counts = r.reshape(n, {element_count(r.shape(n)), 1});
  const Value means = r.op("Div", {floats(r, "totalSum"), counts});
  const Value squares = r.op("Div", {floats(r, "totalSquareSum"), counts});
  const Joined all = joined(r, n, means, r.op("Sub", {squares, mul(r, means, means)}));
  write(r, "batchMean", all.mean);
  write(r, "batchInvstd", inverse_root(r, all.variance, "eps"));
  update(r, "mean", all.mean);
  update(r, "variance", all.unbiased);
}

struct Normal {
  Value y, mean, inverse, variance;
};

// Rows of `groups` x all the rest, normalised.
Normal by_rows(Recipe& r, Value x, int64_t groups, const char* eps) {
  const Shape shape = r.shape(x);
  const int64_t rows = shape[0] * groups;
  const int64_t width = rows > 0 ? element_count(shape) / rows : 0;
  const Value flat = r.reshape(x, {rows, width});
  const double count = std::max<double>(static_cast<double>(width), 1);
  const Value mean = scaled(r, sum(r, flat, {1}), 1 / count);
  const Value apart = r.op("Sub", {flat, mean});
  const Value variance = scaled(r, sum(r, mul(r, apart, apart), {1}), 1 / count);
  const Value inverse = inverse_root(r, variance, eps);
  return {r.reshape(mul(r, apart, inverse), shape), mean, inverse, variance};
}

Value with_affine(Recipe& r, Value y, const Channels& c) {
  if (const Value gamma = of_channels(r, "gamma", c)) y = mul(r, y, gamma);
  if (const Value beta = of_channels(r, "beta", c)) y = r.op("Add", {y, beta});
  return y;
}

// Groups of channels, then x * sigmoid(scale * x) where the call says so.
void group_norm(Recipe& r) {
  const bool swish = r.has_parameter("numGroups");
  const char* const x = swish ? "x" : "self";
  const int64_t groups = r.integer(swish ? "numGroups" : "group");
  const Shape shape = r.shape(x);
  const Channels c = channels_of(shape);
  if (groups < 1 || shape[1] % groups != 0) {
    refuse("{} channels in {} groups; expected a multiple", shape[1], groups);
  }
  const Normal made = by_rows(r, floats(r, x), groups, "eps");
  Value y = with_affine(r, made.y, c);
  bool active = true;
  if (r.has_parameter("activateSilu")) active = r.flag("activateSilu");
  if (r.has_parameter("activateSwish")) active = r.flag("activateSwish");
  if (active) {
    const Value inner = swish ? mul(r, y, r.number("swishScale", kType)) : y;
    y = mul(r, y, r.op("Sigmoid", {inner}));
  }
  r.out(swish ? "yOut" : "out", y);
  write_if(r, "meanOut", made.mean);
  write_if(r, "rstdOut", made.inverse);
}

// Of group_norm: through x * sigmoid(scale * x), then through the normalisation.
void group_norm_swish_gradient(Recipe& r) {
  const Shape shape = r.shape("x");
  const Channels c = channels_of(shape);
  const int64_t groups = r.integer("numGroups");
  if (groups < 1 || shape[1] % groups != 0) {
    refuse("{} channels in {} groups; expected a multiple", shape[1], groups);
  }
  const int64_t rows = shape[0] * groups;
  const Shape flat{rows, rows > 0 ? element_count(shape) / rows : 0};
  const auto row = [&](const char* name) { return r.reshape(floats(r, name), {rows, 1}); };
  const Value inverse = row("rstd");
  const Value apart = r.op("Sub", {r.reshape(floats(r, "x"), flat), row("mean")});
  const Value normal = r.reshape(mul(r, apart, inverse), shape);
  const Value z = with_affine(r, normal, c), scale = r.number("swishScale", kType);
  const Value share = r.op("Sigmoid", {mul(r, z, scale)});
  const Value rest = r.op("Sub", {r.constant(kType, 1), share});
  const Value slope =
      mul(r, share, r.op("Add", {r.constant(kType, 1), mul(r, mul(r, z, scale), rest)}));
  const Value dz = mul(r, floats(r, "dy"), slope);
  if (r.flag("dgammaIsRequire")) write(r, "dgammaOut", sum(r, mul(r, dz, normal), c.axes));
  if (r.flag("dbetaIsRequire")) write(r, "dbetaOut", sum(r, dz, c.axes));
  const Value gamma = of_channels(r, "gamma", c);
  const Value passed = r.reshape(gamma ? mul(r, dz, gamma) : dz, flat),
              lines = r.reshape(normal, flat);
  const double share_of_one = 1 / std::max<double>(static_cast<double>(flat[1]), 1);
  const Value first = scaled(r, sum(r, passed, {1}), share_of_one);
  const Value second = scaled(r, sum(r, mul(r, passed, lines), {1}), share_of_one);
  const Value inner = r.op("Sub", {r.op("Sub", {passed, first}), mul(r, lines, second)});
  r.out("dxOut", r.reshape(mul(r, inner, inverse), shape));
}

void instance_norm(Recipe& r) {
  const std::string format = r.text("dataFormat");
  if (format != "NCHW" && format != "ND" && !format.empty()) {
    refuse("dataFormat is '{}'; expected NCHW", format);
  }
  const Shape shape = r.shape("x");
  const Channels c = channels_of(shape);
  const Normal made = by_rows(r, floats(r, "x"), shape[1], "eps");
  r.out("y", with_affine(r, made.y, c));
  write_if(r, "mean", made.mean);
  write_if(r, "variance", made.variance);
}

const Row kRows[] = {
    {"aclnnBatchNormStats", stats},
    {"aclnnBatchNormReduce", sums},
    {"aclnnBatchNormElemt", apply},
    {"aclnnBatchNormReduceBackward", reduce_gradient},
    {"aclnnBatchNormElemtBackward", apply_gradient},
    {"aclnnBatchNormGatherStatsWithCounts", gather_stats},
    {"aclnnSyncBatchNormGatherStats", gather_sums},
    {"aclnnGroupNormSilu", group_norm},
    {"aclnnGroupNormSiluV2", group_norm},
    {"aclnnGroupNormSwish", group_norm},
    {"aclnnGroupNormSwishGrad", group_norm_swish_gradient},
    {"aclnnInstanceNorm", instance_norm},
};

}  // namespace

std::span<const Row> batch_statistics_rows() { return kRows; }

}  // namespace anynpu::aclnn
