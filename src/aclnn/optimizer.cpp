// SPDX-License-Identifier: Apache-2.0
// Steps of fused optimizers, and the scale of mixed precision.
#include "aclnn/arithmetic.h"

namespace anynpu::aclnn {

namespace {

// AdamW of torch: the weight decays first, then moves against the corrected moments. With amsgrad
// the largest second moment so far counts.
void adamw(Recipe& r) {
  const DType type = DType::f32;
  const auto tensor = [&](const char* name) { return r.cast(r.in(name), type); };
  const auto number = [&](const char* name) { return r.number(name, type); };
  const auto mul = [&](Value a, Value b) { return r.op("Mul", {a, b}); };
  const auto minus = [&](Value a, Value b) { return r.op("Sub", {a, b}); };
  const Value one = r.constant(type, 1);
  Value grad = tensor("grad");
  if (r.flag("maximize")) grad = r.op("Neg", {grad});
  const Value beta1 = number("beta1"), beta2 = number("beta2"), lr = number("lr");
  const Value decayed = mul(tensor("varRef"), minus(one, mul(lr, number("weightDecay"))));
  const Value m = r.op("Add", {mul(tensor("mRef"), beta1), mul(grad, minus(one, beta1))});
  const Value v =
      r.op("Add", {mul(tensor("vRef"), beta2), mul(mul(grad, grad), minus(one, beta2))});
  // Frameworks count from 0.
  const Value step = r.op("Add", {r.reshape(tensor("step"), {}), one});
  const Value first = minus(one, r.op("Pow", {beta1, step}));
  const Value second = r.op("Sqrt", {minus(one, r.op("Pow", {beta2, step}))});
  Value size = v;
  if (r.flag("amsgrad")) {
    size = r.op("Max", {tensor("maxGradNormOptionalRef"), v});
    r.out("maxGradNormOptionalRef", size);
  }
  const Value root = r.op("Add", {r.op("Div", {r.op("Sqrt", {size}), second}), number("eps")});
  const Value move = r.op("Div", {mul(r.op("Div", {lr, first}), m), root});
  r.out("varRef", minus(decayed, move));
  r.out("mRef", m);
  r.out("vRef", v);
}

// Adam of TensorFlow: powers of the betas come with the call, all numbers are tensors of one
// element.
void adam(Recipe& r) {
  const DType type = DType::f32;
  const auto tensor = [&](const char* name) { return r.cast(r.in(name), type); };
  const auto number = [&](const char* name) { return r.reshape(tensor(name), {}); };
  const auto mul = [&](Value a, Value b) { return r.op("Mul", {a, b}); };
  const auto from_one = [&](Value a) { return r.op("Sub", {r.constant(type, 1), a}); };
  const bool decays = r.has_parameter("weightDecay");
  const char* const m_name = r.has_parameter("m") ? "m" : "mRef";
  const char* const v_name = r.has_parameter("v") ? "v" : "vRef";
  Value grad = tensor("grad"), weight = tensor("varRef");
  if (r.has_parameter("maximize") && r.flag("maximize")) grad = r.op("Neg", {grad});
  const Value beta1 = number("beta1"), beta2 = number("beta2"), lr = number("lr");
  const Value eps = number(r.has_parameter("eps") ? "eps" : "epsilon");
  const Value m = r.op("Add", {mul(tensor(m_name), beta1), mul(grad, from_one(beta1))});
  const Value v = r.op("Add", {mul(tensor(v_name), beta2), mul(mul(grad, grad), from_one(beta2))});
  const Value first = from_one(number("beta1Power")), second = from_one(number("beta2Power"));
  if (!decays) {
    const Value rate = r.op("Div", {mul(lr, r.op("Sqrt", {second})), first});
    const Value up =
        r.flag("useNesterov") ? r.op("Add", {mul(m, beta1), mul(grad, from_one(beta1))}) : m;
    const Value move = r.op("Div", {mul(rate, up), r.op("Add", {r.op("Sqrt", {v}), eps})});
    r.out("varRef", r.op("Sub", {weight, move}));
  } else {
    weight = mul(weight, from_one(mul(lr, number("weightDecay"))));
    Value size = v;
    if (r.flag("amsgrad")) size = r.op("Max", {tensor("maxGradNormOptional"), v});
    const Value root = r.op("Add", {r.op("Sqrt", {r.op("Div", {size, second})}), eps});
    r.out("varRef", r.op("Sub", {weight, r.op("Div", {mul(lr, r.op("Div", {m, first})), root})}));
  }
  r.out(m_name, m);
  r.out(v_name, v);
}

// Adam with a running mean of the weights. Mode 1 decays the weights, mode 0 adds the decay to the
// gradient.
void ema_adam(Recipe& r) {
  const DType type = DType::f32;
  const auto tensor = [&](const char* name) { return r.cast(r.in(name), type); };
  const auto number = [&](const char* name) { return r.number(name, type); };
  const auto mul = [&](Value a, Value b) { return r.op("Mul", {a, b}); };
  const auto from_one = [&](Value a) { return r.op("Sub", {r.constant(type, 1), a}); };
  const int64_t mode = r.integer("mode");
  if (mode != 0 && mode != 1) refuse("mode is {}; expected 0 or 1", mode);
  const Value weight = tensor("varRef"), beta1 = number("beta1"), beta2 = number("beta2");
  Value grad = tensor("grad");
  if (mode == 0) grad = r.op("Add", {grad, mul(weight, number("weightDecay"))});
  const Value m = r.op("Add", {mul(tensor("mRef"), beta1), mul(grad, from_one(beta1))});
  const Value v = r.op("Add", {mul(tensor("vRef"), beta2), mul(mul(grad, grad), from_one(beta2))});
  Value first = m, second = v;
  if (r.flag("biasCorrection")) {
    const Value step = r.reshape(tensor("step"), {});
    first = r.op("Div", {m, from_one(r.op("Pow", {beta1, step}))});
    second = r.op("Div", {v, from_one(r.op("Pow", {beta2, step}))});
  }
  Value move = r.op("Div", {first, r.op("Add", {r.op("Sqrt", {second}), number("eps")})});
  if (mode == 1) move = r.op("Add", {move, mul(weight, number("weightDecay"))});
  const Value next = r.op("Sub", {weight, mul(number("lr"), move)});
  const Value decay = number("emaDecay");
  r.out("sRef", r.op("Add", {mul(tensor("sRef"), decay), mul(next, from_one(decay))}));
  r.out("varRef", next);
  r.out("mRef", m);
  r.out("vRef", v);
}

// SGD of torch over a list of parameters.
void sgd(Recipe& r) {
  const DType type = DType::f32;
  const auto mul = [&](Value a, Value b) { return r.op("Mul", {a, b}); };
  for (size_t i = 0; i < r.length("paramsRef"); ++i) {
    if (i > 0) r.next_part();
    const Value weight = r.cast(r.in("paramsRef", i), type);
    Value grad = r.cast(r.in("gradsRef", i), type);
    if (r.given("gradScaleOptional")) {
      grad = r.op("Div", {grad, r.reshape(r.cast(r.in("gradScaleOptional"), type), {})});
      r.out("gradsRef", i, grad);
    }
    if (r.flag("maximize")) grad = r.op("Neg", {grad});
    if (!r.equals("weightDecay", 0))
      grad = r.op("Add", {grad, mul(weight, r.number("weightDecay", type))});
    if (!r.equals("momentum", 0)) {
      Value buffer = grad;
      if (!r.flag("isFirstStep")) {
        const Value old = r.cast(r.in("momentumBufferListOptionalRef", i), type);
        const Value share = r.op("Sub", {r.constant(type, 1), r.number("dampening", type)});
        buffer = r.op("Add", {mul(old, r.number("momentum", type)), mul(grad, share)});
      }
      r.out("momentumBufferListOptionalRef", i, buffer);
      grad = r.flag("nesterov") ? r.op("Add", {grad, mul(buffer, r.number("momentum", type))})
                                : buffer;
    }
    r.out("paramsRef", i, r.op("Sub", {weight, mul(grad, r.number("lr", type))}));
  }
}

// The scale shrinks when a gradient was not finite, and grows after enough steps without one.
void update_scale(Recipe& r) {
  const Value scale = r.reshape(r.cast(r.in("currentScale"), DType::f32), {});
  const Value tracker = r.reshape(r.cast(r.in("growthTracker"), DType::i32), {});
  const Value found = r.cast(r.reshape(r.in("foundInf"), {}), DType::boolean);
  const Value next = r.op("Add", {tracker, r.constant(DType::i32, 1)});
  const Value full = r.op("Equal", {next, r.number("growthInterval", DType::i32)});
  const Value grown = r.op("Mul", {scale, r.number("growthFactor", DType::f32)});
  const Value bad = r.op("Or", {r.op("IsInf", {grown}), r.op("IsNaN", {grown})});
  const Value larger = r.op("Where", {r.op("And", {full, r.op("Not", {bad})}), grown, scale});
  const Value smaller = r.op("Mul", {scale, r.number("backoffFactor", DType::f32)});
  const Value zero = r.constant(DType::i32, 0);
  const Value kept = r.op("Where", {r.op("Or", {found, full}), zero, next});
  r.out("updatedScale",
        r.reshape(r.op("Where", {found, smaller, larger}), r.shape("updatedScale")));
  r.out("updatedGrowthTracker", r.reshape(kept, r.shape("updatedGrowthTracker")));
}

const Row kRows[] = {
    {"aclnnApplyAdamWV2", adamw}, {"aclnnApplyAdam", adam},
    {"aclnnApplyAdamW", adam},    {"aclnnApplyFusedEmaAdam", ema_adam},
    {"aclnnFusedSgd", sgd},       {"aclnnAmpUpdateScale", update_scale},
};

}  // namespace

std::span<const Row> optimizer_rows() { return kRows; }

}  // namespace anynpu::aclnn
