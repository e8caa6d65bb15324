// SPDX-License-Identifier: Apache-2.0
// Values rounded to what an integer of some bits would hold: FakeQuant, whose range is moved so
// that zero is one of its steps, and QuantizeAndDequantize, whose range is symmetric. Ranges may
// come at run time; those of constants are computed while the model is read.
#include <algorithm>
#include <limits>

#include "import/tensorflow/lower.h"

namespace anynpu::tensorflow {

namespace {

ValueId number(Builder& b, double value) { return b.scalar(DType::f32, value); }

// The range of a FakeQuant: its ends and its step, and whether it is only the number 0.
struct Range {
  ValueId low, high, scale, empty = kNoValue;
};

// As FakeQuant moves it.
Range moved_range(Builder& b, ValueId low, ValueId high) {
  const int64_t bits = b.i("num_bits", 8);
  if (bits < 2 || bits > 16)
    b.refuse(Code::invalid_argument, "num_bits is {}, expected 2 to 16", bits);
  const ValueId first = number(b, b.flag("narrow_range", false) ? 1 : 0);
  const ValueId last =
      number(b, static_cast<double>((int64_t{1} << std::clamp<int64_t>(bits, 2, 16)) - 1));
  Range range;
  range.scale = div(b, sub(b, high, low), sub(b, last, first));
  const ValueId zero = sub(b, first, div(b, low, range.scale));
  const ValueId rounded = b.node("Floor", 13, {add(b, zero, number(b, 0.5))});
  const ValueId step = b.node("Max", 13, {b.node("Min", 13, {rounded, last}), first});
  range.low = mul(b, sub(b, first, step), range.scale);
  range.high = mul(b, sub(b, last, step), range.scale);
  range.empty =
      b.node("And", 7,
             {b.node("Equal", 13, {low, number(b, 0)}), b.node("Equal", 13, {high, number(b, 0)})});
  return range;
}

Range range_of(Builder& b, size_t input) {
  if (b.type().starts_with("FakeQuantWithMinMaxArgs"))
    return moved_range(b, number(b, b.f("min", -6)), number(b, b.f("max", 6)));
  const ValueId low = b.cast(b.in(input), DType::f32), high = b.cast(b.in(input + 1), DType::f32);
  return moved_range(b, low, high);
}

ValueId inside(Builder& b, ValueId x, const Range& range) {
  return b.node("Max", 13, {b.node("Min", 13, {x, range.high}), range.low});
}

}  // namespace

void lower_fake_quant(Builder& b) {
  Range range = range_of(b, 1);
  const bool first = b.is_first(0);
  const ValueId x = first ? b.in_first(0) : b.in(0);
  if (!b.ok()) return;
  if (first) {
    for (ValueId* id : {&range.low, &range.high, &range.scale, &range.empty})
      *id = b.to_first(*id, static_cast<size_t>(b.rank(x)));
  }
  const ValueId steps =
      add(b, div(b, sub(b, inside(b, x, range), range.low), range.scale), number(b, 0.5));
  ValueId y = add(b, mul(b, b.node("Floor", 13, {steps}), range.scale), range.low);
  const auto empty = b.known(range.empty);
  if (!empty ||
      std::count(empty->begin(), empty->end(), 0) != static_cast<ptrdiff_t>(empty->size()))
    y = b.node("Where", 16, {range.empty, number(b, 0), y});
  first ? b.out_first(0, y) : b.out(0, y);
}

// Passes gradients of what lies inside the range.
void lower_fake_quant_grad(Builder& b) {
  const Range range = range_of(b, 2);
  const ValueId gradient = b.in(0), x = b.in(1);
  if (!b.ok()) return;
  const ValueId kept = b.node("Equal", 13, {inside(b, x, range), x});
  b.out(0, b.node("Where", 16, {kept, gradient, number(b, 0)}));
}

// The smaller of two scales counts: those that bring the ends of the range to the ends of the
// integers. V3 has its bits as an input.
void lower_quantize_and_dequantize(Builder& b) {
  const ValueId x = b.in(0);
  const int64_t bits = b.type() == "QuantizeAndDequantizeV3" ? b.in_value(3) : b.i("num_bits", 8);
  const bool is_signed = b.flag("signed_input", true), narrow = b.flag("narrow_range", false);
  const bool given = b.flag("range_given", b.type() == "QuantizeAndDequantizeV3");
  const bool to_even =
      b.word("round_mode", "HALF_TO_EVEN", {"HALF_TO_EVEN", "HALF_UP"}) == "HALF_TO_EVEN";
  const int64_t axis = b.i("axis", -1);
  if (b.ok() && (bits < 1 || bits > 62))
    b.refuse(Code::invalid_argument, "num_bits is {}, expected 1 to 62", bits);
  if (!b.has_rank(x, "the input", 0)) return;
  const auto half = static_cast<double>(int64_t{1} << (bits - 1));
  const double least = is_signed ? -half + (narrow ? 1 : 0) : 0,
               most = is_signed ? half - 1 : 2 * half - 1;
  const DType type = b.dtype(x);
  const auto constant = [&](double value) { return b.scalar(type, value); };
  Ints shape, others;
  for (int64_t i = 0; i < b.rank(x); ++i) {
    shape.push_back(axis >= 0 && i == axis ? -1 : 1);
    if (axis < 0 || i != axis) others.push_back(i);
  }
  const auto end_of = [&](const char* reduce, size_t input) {
    if (!given) return b.node(reduce, 18, {x, b.list(others)}, {{"keepdims", int64_t{1}}});
    const ValueId end = b.cast(b.in(input), type);
    return axis < 0 ? b.reshape(end, {}) : b.reshape(end, shape);
  };
  const ValueId low = end_of("ReduceMin", 1), high = end_of("ReduceMax", 2);
  const auto scale_of = [&](double end, ValueId range) {
    const ValueId positive = b.node("Greater", 13, {mul(b, constant(end), range), constant(0)});
    const ValueId none = constant(std::numeric_limits<float>::max());
    return b.node("Where", 16, {positive, div(b, constant(end), range), none});
  };
  const ValueId from_low = scale_of(least, low), from_high = scale_of(most, high);
  const ValueId by_low = b.node("Less", 13, {from_low, from_high});
  const ValueId scale = b.node("Where", 16, {by_low, from_low, from_high});
  const ValueId back =
      b.node("Where", 16, {by_low, div(b, low, constant(least)), div(b, high, constant(most))});
  ValueId y = x;
  if (given) {
    const ValueId top = b.node("Where", 16, {by_low, mul(b, constant(most), back), high});
    const ValueId bottom = b.node("Where", 16, {by_low, low, mul(b, constant(least), back)});
    y = b.node("Max", 13, {b.node("Min", 13, {x, top}), bottom});
  }
  y = mul(b, y, scale);
  y = to_even ? b.node("Round", 11, {y}) : b.node("Floor", 13, {add(b, y, constant(0.5))});
  b.out(0, mul(b, y, back));
}

}  // namespace anynpu::tensorflow
