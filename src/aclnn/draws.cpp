// SPDX-License-Identifier: Apache-2.0
// Random numbers that are more than uniform or normal ones: dropout in one operator, slopes,
// classes.
#include "aclnn/arithmetic.h"

namespace anynpu::aclnn {

namespace draws {

namespace {

// Numbers of [0, 1) from the seed and offset of the call.
Value uniform(Recipe& r, const Shape& shape) {
  return r.op("PhiloxUniform", seeds_of(r), {{"shape", shape}});
}

// -log(1 - u) / lambda
void exponential(Recipe& r) {
  const Value u = uniform(r, r.shape("selfRef"));
  const Value log = r.op("Log1p", {r.op("Neg", {u})});
  r.out("selfRef", r.op("Div", {r.op("Neg", {log}), r.number("lambda", DType::f32)}));
}

// The bits of `mask` as 0 and 1 of the type, for `count` elements.
Value unpacked(Recipe& r, Param mask, int64_t count, DType type) {
  const int64_t bytes = (count + 7) / 8;
  const Value flat = r.slice(r.reshape(r.in(mask), {r.tensor(mask).count()}), 0, 0, bytes);
  const Value shifts = r.constant(DType::u8, {1, 8}, {0, 1, 2, 3, 4, 5, 6, 7});
  const Value moved =
      r.op("BitShift", {r.reshape(flat, {bytes, 1}), shifts}, {{"direction", "RIGHT"}});
  const Value bit = r.op("BitwiseAnd", {moved, r.constant(DType::u8, 1)});
  return r.cast(r.slice(r.reshape(bit, {bytes * 8}), 0, 0, count), type);
}
// Bits to a byte, the lowest first.
Value packed(Recipe& r, Value kept, int64_t count, int64_t bytes) {
  Value flat = r.cast(r.reshape(kept, {count}), DType::i32);
  if (bytes * 8 > count) {
    flat = r.op("Concat", {flat, r.filled(DType::i32, {bytes * 8 - count}, 0)}, {{"axis", 0}});
  }
  const Value weights = r.constant(DType::i32, {1, 8}, {1, 2, 4, 8, 16, 32, 64, 128});
  const Value each = r.op("Mul", {r.reshape(flat, {bytes, 8}), weights});
  return r.cast(r.op("ReduceSum", {each, r.constant({1})}, {{"keepdims", 0}}), DType::u8);
}
void dropout(Recipe& r) {
  const Value x = r.in("input");
  const DType type = computed_in(r.dtype("input"));
  const int64_t count = r.tensor("input").count();
  const Shape shape = r.shape("input");
  const double p = r.real("p");
  const Value kept =
      r.cast(r.op("GreaterOrEqual", {uniform(r, shape), r.constant(DType::f32, p)}), DType::f32);
  const Value scale = r.constant(type, p < 1 ? 1 / (1 - p) : 0);
  r.out("out", r.op("Mul", {r.cast(x, type), r.op("Mul", {r.cast(kept, type), scale})}));
  r.out("maskOut",
        r.reshape(packed(r, kept, count, r.tensor("maskOut").count()), r.shape("maskOut")));
}
void dropout_gradient(Recipe& r) {
  const DType type = computed_in(r.dtype("gradY"));
  const int64_t count = r.tensor("gradY").count();
  const Value kept = r.reshape(unpacked(r, "mask", count, type), r.shape("gradY"));
  const Value scaled = r.op("Mul", {kept, r.number("scale", type)});
  r.out("gradX", r.op("Mul", {r.cast(r.in("gradY"), type), scaled}));
}

// Nothing is dropped outside of training.
void dropout_in_training(Recipe& r) {
  if (r.flag("train")) return dropout(r);
  r.out("out", r.in("input"));
  r.out("maskOut", r.filled(DType::u8, r.shape("maskOut"), 255));
}
void dropout_backward(Recipe& r) {
  const DType type = computed_in(r.dtype("gradOutput"));
  const int64_t count = r.tensor("gradOutput").count();
  const Value kept = r.reshape(unpacked(r, "mask", count, type), r.shape("gradOutput"));
  const Value scaled = r.op("Mul", {kept, r.number("scale", type)});
  r.out("out", r.op("Mul", {r.cast(r.in("gradOutput"), type), scaled}));
}

// In training the slope of each negative element is drawn and kept in `noise`.
void rrelu(Recipe& r) {
  const DType type = computed_in(r.dtype("self"));
  const Value x = r.cast(r.in("self"), type);
  const double lower = r.scalar("lower").real(), upper = r.scalar("upper").real();
  const int out = static_cast<int>(r.row().number);
  if (!r.flag("training")) {
    return r.out(out, r.op("LeakyRelu", {x}, {{"alpha", (lower + upper) / 2}}));
  }
  const Value u = r.cast(uniform(r, r.shape("self")), type);
  const Value slopes =
      r.op("Add", {r.op("Mul", {u, r.constant(type, upper - lower)}), r.constant(type, lower)});
  const Value negative = r.op("LessOrEqual", {x, r.constant(type, 0)});
  const Value noise = r.op("Where", {negative, slopes, r.constant(type, 1)});
  r.out("noise", noise);
  r.out(out, r.op("Mul", {x, noise}));
}

// Classes drawn by their weights: the largest of log(weight) + Gumbel noise; without replacement
// the largest ones.
void multinomial(Recipe& r) {
  const DType type = DType::f32;
  const Value weights = r.cast(r.in("self"), type);
  const int64_t samples = r.integer("numsamples");
  const Shape shape = r.shape("self");
  const int64_t classes = shape.back(), rows = shape.size() == 2 ? shape[0] : 1;
  const bool again = r.flag("replacement");
  const Shape drawn = again ? Shape{rows, samples, classes} : Shape{rows, 1, classes};
  const Value u = r.op("Max", {uniform(r, drawn), r.constant(type, 1e-20)});
  const Value noise = r.op("Neg", {r.op("Log", {r.op("Neg", {r.op("Log", {u})})})});
  const Value log = r.op("Log", {r.reshape(weights, {rows, 1, classes})});
  const Value score = r.op("Add", {log, noise});
  Value chosen;
  if (again) {
    chosen = r.op("ArgMax", {score}, {{"axis", 2}, {"keepdims", 0}});
  } else {
    if (samples > classes) {
      refuse("numsamples is {} without replacement; expected at most {}", samples, classes);
    }
    chosen = r.ops("TopK", {score, r.constant({samples})}, 2, {{"axis", 2}})[1];
  }
  r.out("out", r.reshape(chosen, r.shape("out")));
}

const Row kRows[] = {
    {"aclnnSimThreadExponential", exponential},
    {"aclnnDropout", dropout_in_training},
    {"aclnnDropoutBackward", dropout_backward},
    {"aclnnDropoutV3", dropout},
    {"aclnnDropoutV3Grad", dropout_gradient},
    {"aclnnRReluWithNoise", rrelu, "", false, 7},
    {"aclnnInplaceRReluWithNoise", rrelu, "", false, 0},
    {"aclnnMultinomial", multinomial},
    {"aclnnMultinomialTensor", multinomial},
};

}  // namespace

}  // namespace draws

std::span<const Row> draws_rows() { return draws::kRows; }

}  // namespace anynpu::aclnn
