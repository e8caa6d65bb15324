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
  const Value step = r.reshape(tensor("step"), {});
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
    {"aclnnApplyAdamWV2", adamw},
    {"aclnnAmpUpdateScale", update_scale},
};

}  // namespace

std::span<const Row> optimizer_rows() { return kRows; }

}  // namespace anynpu::aclnn
