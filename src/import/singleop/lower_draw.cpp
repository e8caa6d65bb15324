// SPDX-License-Identifier: Apache-2.0
// Draws: choices, orders and random numbers other than uniform and normal ones.
#include <algorithm>

#include "import/singleop/lower.h"

namespace anynpu::singleop {

namespace {

using Type = Builder::Type;

// Between 0 and 1; a seed that is not 0 is the operator's.
ValueId uniform(Builder& b, const Shape& shape) {
  NodeAttrs attrs{{"shape", std::vector<int64_t>(shape.begin(), shape.end())}};
  const int64_t seed = b.i("seed", 0) ^ b.i("seed2", 0) << 16;
  if (seed != 0) attrs["seed"] = static_cast<float>(seed);
  return b.node("RandomUniform", 1, {}, std::move(attrs));
}

// The places of `count` elements, smallest first.
std::vector<ValueId> smallest(Builder& b, ValueId x, int64_t count) {
  return b.nodes("TopK", 11, {x, b.list({count})}, 2,
                 {{"axis", int64_t{-1}}, {"largest", int64_t{0}}, {"sorted", int64_t{1}}});
}

ValueId random_order(Builder& b, int64_t count) {
  return smallest(b, uniform(b, {count}), count)[1];
}

DType described_type(Builder& b, DType otherwise) {
  const DType type = b.output_count() > 0 ? b.op().outputs[0].dtype : DType::undefined;
  return type == DType::undefined ? otherwise : type;
}

}  // namespace

// A mask -> places of some true elements, and which of them are there.
void lower_choice_with_mask(Builder& b) {
  const ValueId mask = b.in(0);
  const int64_t count = b.i_between("count", 256, 1, 1 << 24);
  if (!b.has_rank(mask, "x", 1) || !b.has_type(mask, "x", {DType::boolean})) return;
  const Shape shape = b.shape(mask);
  const int64_t all = element_count(shape), most = std::min(all, count);
  // True elements have keys below 1, the others 2: the smallest are the choice.
  const ValueId two = b.scalar(DType::f32, 2);
  const ValueId keys = b.node("Where", 16, {b.reshape(mask, {all}), uniform(b, {all}), two});
  const auto chosen = smallest(b, keys, most);
  const ValueId there = b.node("Less", 13, {chosen[0], b.scalar(DType::f32, 1)});
  const ValueId place = b.node("Where", 16, {there, chosen[1], b.whole(DType::i64, 0)});
  std::vector<ValueId> columns;
  int64_t inner = all;
  for (const int64_t extent : shape) {
    if (extent == 0) return b.refuse(Code::unsupported_shape, "x has no elements");
    inner /= extent;
    const ValueId part = b.node("Div", 14, {place, b.whole(DType::i64, inner)});
    columns.push_back(b.reshape(b.node("Mod", 13, {part, b.whole(DType::i64, extent)}), {most, 1}));
  }
  const ValueId index = b.cast(b.node("Concat", 13, columns, {{"axis", int64_t{1}}}), DType::i32);
  const auto padded = [&](ValueId x, std::vector<int64_t> pads) {
    return most == count ? x : b.node("Pad", 13, {x, b.list(pads)});
  };
  b.out(0, padded(index, {0, 0, count - most, 0}));
  b.out(1, b.cast(padded(b.cast(there, DType::u8), {0, count - most}), DType::boolean));
}

// Whole channels are left out, the others are divided by the share that is kept.
void lower_dropout_channels(Builder& b) {
  const ValueId x = b.in(0);
  const float keep = b.f("keep_prob", 0.5f);
  const int64_t rank = b.type() == "Dropout3D" ? 5 : 4;
  if (!b.has_rank(x, "x", rank, rank)) return;
  if (!(keep >= 0 && keep <= 1)) {
    return b.refuse(Code::invalid_argument, "keep_prob is {}, expected 0 to 1", keep);
  }
  Shape drawn(static_cast<size_t>(rank), 1);
  drawn[0] = b.shape(x)[0], drawn[1] = b.shape(x)[1];
  const ValueId kept = b.node("Less", 13, {uniform(b, drawn), b.scalar(DType::f32, keep)});
  const ValueId scale = b.scalar(b.dtype(x), keep > 0 ? 1 / double{keep} : 0);
  b.out(0, b.node("Where", 16, {kept, mul(b, x, scale), b.scalar(b.dtype(x), 0)}));
  const Shape shape = b.shape(x);
  b.out(1, b.node("Expand", 13, {kept, b.list(std::vector<int64_t>(shape.begin(), shape.end()))}));
}

// Logits, how many -> classes.
void lower_random_categorical(Builder& b) {
  const ValueId logits = b.cast(b.in(0), DType::f32);
  const int64_t count = b.in_value(1);
  const int64_t seed = b.has(2) ? b.in_value(2) : 0;
  if (!b.has_rank(logits, "logits", 2, 2)) return;
  NodeAttrs attrs{{"sample_size", count}, {"dtype", int64_t{7}}};
  if (seed != 0) attrs["seed"] = static_cast<float>(seed);
  b.out(0, b.cast(b.node("Multinomial", 7, {logits}, std::move(attrs)),
                  described_type(b, DType::i64)));
}

// A shape, the least number and one above the largest.
void lower_random_int(Builder& b) {
  const auto given = b.in_values(0);
  const ValueId least = b.in(1), end = b.in(2);
  if (!b.ok()) return;
  const DType type = b.dtype(least);
  const ValueId drawn = b.cast(uniform(b, Shape(given.begin(), given.end())), DType::f64);
  const ValueId width = b.cast(sub(b, end, least), DType::f64);
  const ValueId made = add(b, b.cast(b.node("Floor", 13, {mul(b, drawn, width)}), type), least);
  b.out(0, b.node("Min", 13, {made, sub(b, end, b.whole(type, 1))}));
}

// The same rows in another order.
void lower_random_shuffle(Builder& b) {
  const ValueId x = b.in(0);
  if (!b.ok() || b.rank(x) == 0 || b.shape(x)[0] < 2) return b.out(0, b.node("Identity", 13, {x}));
  b.out(0, b.node("Gather", 13, {x, random_order(b, b.shape(x)[0])}, {{"axis", int64_t{0}}}));
}

// 0 to n - 1 in a random order: n, then seed and offset.
void lower_random_permutation(Builder& b) {
  const int64_t count = b.in_value(0);
  for (size_t i = 1; i < b.input_count(); ++i) b.leave(i);
  if (!b.ok()) return;
  if (count < 0 || count > 1 << 26)
    return b.refuse(Code::invalid_argument, "n is {}, expected 0 to 2^26", count);
  const DType type = described_type(b, DType::i64);
  if (count == 0) return b.out(0, b.filled(type, {0}, 0));
  b.out(0, b.cast(random_order(b, count), type));
}

// A shape -> numbers with the density exp(-|x|) / 2.
void lower_standard_laplace(Builder& b) {
  const auto given = b.in_values(0);
  if (!b.ok()) return;
  const ValueId drawn = uniform(b, Shape(given.begin(), given.end()));
  const ValueId middle = sub(b, drawn, b.scalar(DType::f32, 0.5));
  const ValueId gap =
      sub(b, b.scalar(DType::f32, 1), mul(b, b.scalar(DType::f32, 2), b.node("Abs", 13, {middle})));
  const ValueId least = b.node("Max", 13, {gap, b.scalar(DType::f32, 1e-38)});
  b.out(0, mul(b, b.node("Neg", 13, {b.node("Sign", 13, {middle})}), b.node("Log", 13, {least})));
}

}  // namespace anynpu::singleop
