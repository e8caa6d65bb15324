// SPDX-License-Identifier: Apache-2.0
// Random numbers from the seed and offset of torch's generator, and dropout. Numbers differ from
// those of other devices; the distributions do not.
#include "aclnn/arithmetic.h"

namespace anynpu::aclnn {

namespace {

Value uniform(Recipe& r, const Shape& shape) {
  return r.op("PhiloxUniform", seeds_of(r), {{"shape", shape}});
}

// Of mean 0 and deviation 1, from two uniform numbers each: sqrt(-2 ln(1 - u)) * cos(2 pi v).
Value normal(Recipe& r, const Shape& shape) {
  Shape both = shape;
  both.insert(both.begin(), 2);
  const Value pair = uniform(r, both);
  const Value u = r.reshape(r.slice(pair, 0, 0, 1), shape);
  const Value v = r.reshape(r.slice(pair, 0, 1, 2), shape);
  const auto number = [&](double value) { return r.constant(DType::f32, value); };
  const Value log = r.op("Log", {r.op("Sub", {number(1), u})});
  const Value size = r.op("Sqrt", {r.op("Mul", {number(-2), log})});
  return r.op("Mul", {size, r.op("Cos", {r.op("Mul", {v, number(6.283185307179586)})})});
}

// from + (to - from) * u.
void fill_uniform(Recipe& r) {
  const Value from = r.number("from", DType::f32), to = r.number("to", DType::f32);
  const Value u = uniform(r, r.shape(0));
  r.out(0, r.op("Add", {from, r.op("Mul", {u, r.op("Sub", {to, from})})}));
}

// Integers of [from, to).
void fill_integers(Recipe& r) {
  const Value from = r.number("from", DType::f64), to = r.number("to", DType::f64);
  const Value u = r.cast(uniform(r, r.shape(0)), DType::f64);
  const Value steps = r.op("Floor", {r.op("Mul", {u, r.op("Sub", {to, from})})});
  r.out(0, r.op("Add", {from, steps}));
}

// Integers up to the largest that the type counts one by one, as torch's random_().
void fill_any_integers(Recipe& r) {
  const DType type = r.dtype(0);
  const double most = type == DType::boolean ? 2
                      : type == DType::f16   ? 2049
                      : type == DType::bf16  ? 257
                      : type == DType::f32   ? 16777217.0
                      : type == DType::i8    ? 128
                      : type == DType::u8    ? 256
                      : type == DType::i16   ? 32768
                      : type == DType::i32   ? 2147483648.0
                                             : 9007199254740992.0;
  const Value u = r.cast(uniform(r, r.shape(0)), DType::f64);
  r.out(0, r.op("Floor", {r.op("Mul", {u, r.constant(DType::f64, most)})}));
}

// Numbers below n in an order that is drawn.
void shuffled(Recipe& r) {
  const int64_t n = r.integer("n");
  if (n < 0 || n != r.tensor("out").count()) {
    refuse("n is {}; out has {} elements", n, r.tensor("out").count());
  }
  if (n == 0) return;
  const auto order = r.ops("TopK", {uniform(r, {n}), r.constant({n})}, 2, {{"axis", 0}});
  r.out("out", r.reshape(order[1], r.shape("out")));
}

// mean + deviation * n; each of them a tensor or a number.
void fill_normal(Recipe& r) {
  const Param out = r.result();
  const auto part = [&](const char* name) { return operand(r, name, DType::f32); };
  const Value n = normal(r, r.shape(out));
  r.out(out, r.op("Add", {part("mean"), r.op("Mul", {part("std"), n})}));
}

// 1 with the probability given.
void bernoulli(Recipe& r) {
  const Param out = r.result();
  r.out(out, r.op("Less", {uniform(r, r.shape(out)), operand(r, "prob", DType::f32)}));
}

// Bits that are 1 where an element is kept; `prob` is that of dropping it.
void dropout_mask(Recipe& r) {
  const int64_t bytes = r.tensor("out").count();
  const Value kept =
      r.op("GreaterOrEqual", {uniform(r, {bytes * 8}), r.number("prob", DType::f32)});
  r.out("out", r.reshape(r.op("PackBits", {kept}), r.shape("out")));
}

void dropout_by_mask(Recipe& r) {
  const DType type = computed_in(r.dtype("self"));
  const int64_t count = r.tensor("self").count();
  const Value mask = r.reshape(r.in("mask"), {r.tensor("mask").count()});
  const Value kept = r.reshape(r.op("UnpackBits", {mask}, {{"count", count}}), r.shape("self"));
  const Value one = r.constant(type, 1);
  const Value scale = r.op("Reciprocal", {r.op("Sub", {one, r.number("prob", type)})});
  const Value grown = r.op("Mul", {r.cast(r.in("self"), type), scale});
  r.out("out", r.op("Where", {kept, grown, r.constant(type, 0)}));
}

const Row kRows[] = {
    {"aclnnInplaceUniform", fill_uniform},
    {"aclnnInplaceRandom", fill_integers},
    {"aclnnInplaceNormal", fill_normal},
    {"aclnnInplaceUniformTensor", fill_uniform},
    {"aclnnInplaceRandomTensor", fill_integers},
    {"aclnnInplaceNormalTensor", fill_normal},
    {"aclnnInplaceRandomWithoutFromTo", fill_any_integers},
    {"aclnnInplaceRandomWithoutFromToTensor", fill_any_integers},
    {"aclnnRandperm", shuffled},
    {"aclnnNormalFloatFloat", fill_normal},
    {"aclnnNormalFloatTensor", fill_normal},
    {"aclnnNormalTensorFloat", fill_normal},
    {"aclnnNormalTensorTensor", fill_normal},
    {"aclnnBernoulli", bernoulli},
    {"aclnnInplaceBernoulli", bernoulli},
    {"aclnnBernoulliTensor", bernoulli},
    {"aclnnInplaceBernoulliTensor", bernoulli},
    {"aclnnDropoutGenMask", dropout_mask},
    {"aclnnDropoutGenMaskV2", dropout_mask},
    {"aclnnDropoutGenMaskV2Tensor", dropout_mask},
    {"aclnnDropoutDoMask", dropout_by_mask},
};

}  // namespace

std::span<const Row> random_rows() { return kRows; }

}  // namespace anynpu::aclnn
