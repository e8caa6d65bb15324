// SPDX-License-Identifier: Apache-2.0
// Normalisations and their gradients. Everything is computed in float32 at least.
#include "aclnn/arithmetic.h"

namespace anynpu::aclnn {

namespace {

struct Channels {
  std::vector<int64_t> axes;  // all but the channels
  Shape shape;                // 1, C, 1, 1: for broadcasting what belongs to channels
  double count = 1;           // elements of one channel
};

Channels channels_of(const Shape& shape) {
  if (shape.size() < 2) refuse("input has {} axes; expected at least 2", shape.size());
  Channels found;
  for (size_t i = 0; i < shape.size(); ++i) {
    found.shape.push_back(i == 1 ? shape[1] : 1);
    if (i == 1) continue;
    found.axes.push_back(static_cast<int64_t>(i));
    found.count *= static_cast<double>(shape[i]);
  }
  return found;
}

Value sum_over(Recipe& r, Value x, const std::vector<int64_t>& axes, bool keep) {
  if (axes.empty()) return x;
  return r.op("ReduceSum", {x, r.constant(axes)}, {{"keepdims", keep}});
}
Value scaled(Recipe& r, Value x, double factor) {
  return r.op("Mul", {x, r.constant(r.dtype(x), factor)});
}
Value inverse_root(Recipe& r, Value variance, Param eps) {
  return r.op("Reciprocal",
              {r.op("Sqrt", {r.op("Add", {variance, r.number(eps, r.dtype(variance))})})});
}

// Weight or bias of channels, ready for broadcasting; empty when there is none.
Value of_channels(Recipe& r, Param param, DType type, const Shape& shape) {
  return r.given(param) ? r.reshape(r.cast(r.in(param), type), shape) : Value{};
}

// (1 - momentum) * running + momentum * fresh, into the running statistic.
void update_running(Recipe& r, Param running, Value fresh) {
  if (!r.given(running)) return;
  const DType type = r.dtype(fresh);
  const Value momentum = r.number("momentum", type), old = r.cast(r.in(running), type);
  const Value kept = r.op("Mul", {old, r.op("Sub", {r.constant(type, 1), momentum})});
  r.out(running, r.op("Add", {kept, r.op("Mul", {fresh, momentum})}));
}

// One number of each channel.
Value list_of_channels(Recipe& r, Param param) {
  return r.reshape(r.cast(r.in(param), DType::f32), {r.shape("input")[1]});
}
Value list_or(Recipe& r, Param param, double otherwise) {
  if (r.given(param)) return list_of_channels(r, param);
  return r.filled(DType::f32, {r.shape("input")[1]}, otherwise);
}

// By the operator of ONNX, which takes floats of 32 and 16 bits.
void batch_norm_of_runs(Recipe& r) {
  const Value weight = list_or(r, "weight", 1), bias = list_or(r, "bias", 0);
  const double eps = r.real("eps");
  if (!r.flag("training")) {
    return r.out("output", r.op("BatchNormalization",
                                {r.in("input"), weight, bias, list_of_channels(r, "runningMean"),
                                 list_of_channels(r, "runningVar")},
                                {{"epsilon", eps}}));
  }
  const Channels c = channels_of(r.shape("input"));
  const Value none = r.filled(DType::f32, {r.shape("input")[1]}, 0);
  // With a momentum of 0 the operator gives the moments themselves.
  const Values made = r.ops("BatchNormalization", {r.in("input"), weight, bias, none, none}, 3,
                            {{"epsilon", eps}, {"momentum", 0.0}, {"training_mode", 1}});
  r.out("output", made[0]);
  r.out_if("saveMean", made[1]);
  r.out_if("saveInvstd", inverse_root(r, made[2], "eps"));
  update_running(r, "runningMean", made[1]);
  const double unbiased = c.count > 1 ? c.count / (c.count - 1) : 1;
  update_running(r, "runningVar", scaled(r, made[2], unbiased));
}

void batch_norm(Recipe& r) {
  if (r.rank("input") > 2 && r.dtype("input") != DType::f64) return batch_norm_of_runs(r);
  const DType type = computed_in(r.dtype("input"));
  const Channels c = channels_of(r.shape("input"));
  const Value x = r.cast(r.in("input"), type);
  Value centred, inverse;
  if (r.flag("training")) {
    const Value mean = scaled(r, sum_over(r, x, c.axes, true), 1 / c.count);
    centred = r.op("Sub", {x, mean});
    const Value squares = sum_over(r, r.op("Mul", {centred, centred}), c.axes, true);
    inverse = inverse_root(r, scaled(r, squares, 1 / c.count), "eps");
    const Shape list{r.shape("input")[1]};
    r.out_if("saveMean", r.reshape(mean, list));
    r.out_if("saveInvstd", r.reshape(inverse, list));
    update_running(r, "runningMean", r.reshape(mean, list));
    const double unbiased = c.count > 1 ? 1 / (c.count - 1) : 1;
    update_running(r, "runningVar", r.reshape(scaled(r, squares, unbiased), list));
  } else {
    centred = r.op("Sub", {x, of_channels(r, "runningMean", type, c.shape)});
    inverse = inverse_root(r, of_channels(r, "runningVar", type, c.shape), "eps");
  }
  if (const Value weight = of_channels(r, "weight", type, c.shape))
    inverse = r.op("Mul", {inverse, weight});
  Value y = r.op("Mul", {centred, inverse});
  if (const Value bias = of_channels(r, "bias", type, c.shape)) y = r.op("Add", {y, bias});
  r.out("output", y);
}

void batch_norm_backward(Recipe& r) {
  const DType type = computed_in(r.dtype("input"));
  const Channels c = channels_of(r.shape("input"));
  const Value grad = r.cast(r.in("gradOut"), type), x = r.cast(r.in("input"), type);
  const bool training = r.flag("training");
  const auto wanted = r.bools("outputMask");
  const auto wants = [&](size_t i) { return i < wanted.size() && wanted[i]; };
  const Value mean = of_channels(r, training ? "saveMean" : "runningMean", type, c.shape);
  const Value inverse = training
                            ? of_channels(r, "saveInvstd", type, c.shape)
                            : inverse_root(r, of_channels(r, "runningVar", type, c.shape), "eps");
  const Shape list{r.shape("input")[1]};
  const Value apart = r.op("Sub", {x, mean}), normal = r.op("Mul", {apart, inverse});
  Value bias_grad, weight_grad;
  if (type == DType::f32) {
    const Values sums = r.ops("ChannelGradSums", {grad, x, r.reshape(mean, list)}, 2);
    bias_grad = r.reshape(sums[0], c.shape);
    weight_grad = r.op("Mul", {r.reshape(sums[1], c.shape), inverse});
  } else {
    bias_grad = sum_over(r, grad, c.axes, true);
    weight_grad = sum_over(r, r.op("Mul", {grad, normal}), c.axes, true);
  }
  if (wants(1)) r.out_if("gradWeight", r.reshape(weight_grad, list));
  if (wants(2)) r.out_if("gradBias", r.reshape(bias_grad, list));
  if (!wants(0)) return;
  Value slope = inverse;
  if (const Value weight = of_channels(r, "weight", type, c.shape))
    slope = r.op("Mul", {slope, weight});
  Value inner = grad;
  if (training) {
    inner = r.op("Sub", {grad, scaled(r, bias_grad, 1 / c.count)});
    inner = r.op("Sub", {inner, r.op("Mul", {normal, scaled(r, weight_grad, 1 / c.count)})});
  }
  r.out_if("gradInput", r.op("Mul", {inner, slope}));
}

// Leading axes and the axes that are normalised together.
struct Rows {
  std::vector<int64_t> leading, inner;
  double count = 1;  // elements of a row
};

Rows rows_of(Recipe& r) {
  const Shape shape = r.shape("input"), normal = r.ints("normalizedShape");
  if (normal.size() > shape.size() || !std::equal(normal.rbegin(), normal.rend(), shape.rbegin())) {
    refuse("normalizedShape is {}; expected the last axes of an input of {}", normal.plain(),
           to_string(shape));
  }
  Rows rows;
  for (size_t i = 0; i < shape.size(); ++i) {
    const bool inner = i >= shape.size() - normal.size();
    (inner ? rows.inner : rows.leading).push_back(static_cast<int64_t>(i));
    if (inner) rows.count *= static_cast<double>(shape[i]);
  }
  return rows;
}

void layer_norm(Recipe& r) {
  const Rows rows = rows_of(r);
  const DType type = r.dtype("input");
  if (rows.inner.empty()) refuse("normalizedShape is empty; expected at least one extent");
  const Shape inner = r.ints("normalizedShape");
  const Value weight =
      r.given("weightOptional") ? r.cast(r.in("weightOptional"), type) : r.filled(type, inner, 1);
  const Value bias = r.given("biasOptional") ? r.cast(r.in("biasOptional"), type) : Value{};
  const auto made = r.ops("LayerNormalization", {r.in("input"), weight, bias}, 3,
                          {{"axis", rows.inner.front()}, {"epsilon", r.real("eps")}});
  r.out("out", made[0]);
  if (r.given("meanOutOptional"))
    r.out("meanOutOptional", r.reshape(made[1], r.shape("meanOutOptional")));
  if (r.given("rstdOutOptional"))
    r.out("rstdOutOptional", r.reshape(made[2], r.shape("rstdOutOptional")));
}

void layer_norm_backward(Recipe& r) {
  const Rows rows = rows_of(r);
  const DType type = computed_in(r.dtype("input"));
  Shape kept = r.shape("input");
  for (int64_t axis : rows.inner) kept[static_cast<size_t>(axis)] = 1;
  const auto wanted = r.bools("outputMask");
  const auto wants = [&](size_t i) { return i < wanted.size() && wanted[i]; };
  const Value grad = r.cast(r.in("gradOut"), type), x = r.cast(r.in("input"), type);
  const Value mean = r.reshape(r.cast(r.in("mean"), type), kept);
  const Value inverse = r.reshape(r.cast(r.in("rstd"), type), kept);
  const Value normal = r.op("Mul", {r.op("Sub", {x, mean}), inverse});
  if (wants(0)) {
    Value passed = grad;
    if (r.given("weightOptional")) {
      passed = r.op("Mul", {grad, r.cast(r.in("weightOptional"), type)});
    }
    const Value first = scaled(r, sum_over(r, passed, rows.inner, true), 1 / rows.count);
    const Value second =
        scaled(r, sum_over(r, r.op("Mul", {passed, normal}), rows.inner, true), 1 / rows.count);
    const Value inner = r.op("Sub", {r.op("Sub", {passed, first}), r.op("Mul", {normal, second})});
    r.out_if("gradInputOut", r.op("Mul", {inner, inverse}));
  }
  if (wants(1)) {
    r.out_if("gradWeightOut", sum_over(r, r.op("Mul", {grad, normal}), rows.leading, false));
  }
  if (wants(2)) r.out_if("gradBiasOut", sum_over(r, grad, rows.leading, false));
}

// --- groups of channels: rows of N * group

struct Groups {
  int64_t batch, channels, pixels, group;
  Shape rows;                   // batch, group, elements of a group
  Shape split;                  // batch, group, channels of a group, pixels
  std::vector<int64_t> all{2};  // axis of a row
};

Groups groups_of(Recipe& r) {
  Groups g{r.integer("N"), r.integer("C"), r.integer("HxW"), r.integer("group"), {}, {}};
  if (g.group < 1 || g.channels % g.group != 0) {
    refuse("C is {} and group {}; expected a divisor", g.channels, g.group);
  }
  g.rows = {g.batch, g.group, g.channels / g.group * g.pixels};
  g.split = {g.batch, g.group, g.channels / g.group, g.pixels};
  return g;
}

void group_norm(Recipe& r) {
  const Groups g = groups_of(r);
  const DType type = computed_in(r.dtype("self"));
  const Value x = r.reshape(r.cast(r.in("self"), type), g.rows);
  const auto count = static_cast<double>(g.rows[2]);
  const Value mean = scaled(r, sum_over(r, x, g.all, true), 1 / count);
  const Value centred = r.op("Sub", {x, mean});
  const Value variance =
      scaled(r, sum_over(r, r.op("Mul", {centred, centred}), g.all, true), 1 / count);
  const Value inverse = inverse_root(r, variance, "eps");
  Value y = r.reshape(r.op("Mul", {centred, inverse}), g.split);
  const Shape each{1, g.group, g.split[2], 1};
  if (const Value gamma = of_channels(r, "gamma", type, each)) y = r.op("Mul", {y, gamma});
  if (const Value beta = of_channels(r, "beta", type, each)) y = r.op("Add", {y, beta});
  r.out("out", r.reshape(y, r.shape("out")));
  r.out_if("meanOut", r.reshape(mean, {g.batch, g.group}));
  r.out_if("rstdOut", r.reshape(inverse, {g.batch, g.group}));
}

void group_norm_backward(Recipe& r) {
  const Groups g = groups_of(r);
  const DType type = computed_in(r.dtype("input"));
  const auto wanted = r.bools("outputMask");
  const auto wants = [&](size_t i) { return i < wanted.size() && wanted[i]; };
  const Value grad = r.reshape(r.cast(r.in("gradOut"), type), g.split);
  const Value x = r.reshape(r.cast(r.in("input"), type), g.split);
  const Shape row{g.batch, g.group, 1, 1}, each{1, g.group, g.split[2], 1};
  const Value mean = r.reshape(r.cast(r.in("mean"), type), row);
  const Value inverse = r.reshape(r.cast(r.in("rstd"), type), row);
  const Value normal = r.op("Mul", {r.op("Sub", {x, mean}), inverse});
  if (wants(0)) {
    Value passed = grad;
    if (const Value gamma = of_channels(r, "gamma", type, each))
      passed = r.op("Mul", {grad, gamma});
    const double share = 1 / static_cast<double>(g.rows[2]);
    const Value first = scaled(r, sum_over(r, passed, {2, 3}, true), share);
    const Value second = scaled(r, sum_over(r, r.op("Mul", {passed, normal}), {2, 3}, true), share);
    const Value inner = r.op("Sub", {r.op("Sub", {passed, first}), r.op("Mul", {normal, second})});
    r.out_if("gradInput", r.reshape(r.op("Mul", {inner, inverse}), r.shape("gradInput")));
  }
  const auto channel_sums = [&](Value v) {
    return r.reshape(sum_over(r, v, {0, 3}, false), {g.channels});
  };
  if (wants(1)) r.out_if("gradGammaOut", channel_sums(r.op("Mul", {grad, normal})));
  if (wants(2)) r.out_if("gradBetaOut", channel_sums(grad));
}

const Row kRows[] = {
    {"aclnnGroupNorm", group_norm},
    {"aclnnGroupNormBackward", group_norm_backward},
    {"aclnnBatchNorm", batch_norm},
    {"aclnnBatchNormBackward", batch_norm_backward},
    {"aclnnLayerNorm", layer_norm},
    {"aclnnFastLayerNorm", layer_norm},
    {"aclnnLayerNormWithImplMode", layer_norm},
    {"aclnnLayerNormBackward", layer_norm_backward},
};

}  // namespace

std::span<const Row> norm_rows() { return kRows; }

}  // namespace anynpu::aclnn
