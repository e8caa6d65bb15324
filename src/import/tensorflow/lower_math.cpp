// SPDX-License-Identifier: Apache-2.0
// Arithmetic that is more than one of our operators, element by element.
#include <cmath>
#include <limits>

#include "import/tensorflow/lower.h"
#include "tensor/onnx_type.h"

namespace anynpu::tensorflow {

namespace {

template <typename Compute>
void by_element(Builder& b, size_t inputs, Compute&& compute) {
  if (b.input_count() < inputs)
    return b.refuse(Code::corrupt_model, "it has {} inputs, expected {}", b.input_count(), inputs);
  const Builder::Aligned x = b.aligned();
  if (b.ok()) b.out_aligned(0, compute(x.ids), x);
}

ValueId number(Builder& b, ValueId like, double value) { return b.scalar(b.dtype(like), value); }

// The remainder with the sign of the divisor.
ValueId floor_mod(Builder& b, ValueId x, ValueId y) {
  if (!is_floating(b.dtype(x))) return b.node("Mod", 13, {x, y});
  const auto fmod = [&](ValueId p, ValueId q) {
    return b.node("Mod", 13, {p, q}, {{"fmod", int64_t{1}}});
  };
  const ValueId rest = fmod(x, y), zero = number(b, x, 0);
  const ValueId same =
      b.node("Equal", 13, {b.node("Less", 13, {x, zero}), b.node("Less", 13, {y, zero})});
  return b.node("Where", 16, {same, rest, fmod(add(b, rest, y), y)});
}

}  // namespace

void lower_floor_mod(Builder& b) {
  by_element(b, 2, [&](const auto& x) { return floor_mod(b, x[0], x[1]); });
}

void lower_truncate_mod(Builder& b) {
  by_element(b, 2, [&](const auto& x) {
    return b.node("Mod", 13, {x[0], x[1]}, {{"fmod", int64_t{1}}});
  });
}

void lower_floor_div(Builder& b) {
  by_element(b, 2, [&](const auto& x) {
    if (is_floating(b.dtype(x[0]))) return b.node("Floor", 13, {div(b, x[0], x[1])});
    return div(b, sub(b, x[0], floor_mod(b, x[0], x[1])), x[1]);
  });
}

// 0 where the divisor is 0.
void lower_div_no_nan(Builder& b) {
  by_element(b, 2, [&](const auto& x) {
    const ValueId zero = number(b, x[1], 0), one = number(b, x[1], 1);
    const ValueId none = b.node("Equal", 13, {x[1], zero});
    const ValueId quotient = div(b, x[0], b.node("Where", 16, {none, one, x[1]}));
    return b.node("Where", 16, {none, zero, quotient});
  });
}

void lower_mul_no_nan(Builder& b) {
  by_element(b, 2, [&](const auto& x) {
    const ValueId zero = number(b, x[1], 0);
    const ValueId none = b.node("Equal", 13, {x[1], zero});
    return b.node("Where", 16, {none, zero, mul(b, x[0], x[1])});
  });
}

// tanh(x / 2) * (exp(x) + 1): nothing cancels where x is small.
void lower_expm1(Builder& b) {
  by_element(b, 1, [&](const auto& x) {
    const ValueId power = b.node("Exp", 13, {x[0]});
    const ValueId half = b.node("Tanh", 13, {mul(b, x[0], number(b, x[0], 0.5))});
    const ValueId product = mul(b, half, add(b, power, number(b, x[0], 1)));
    const ValueId large = b.node("Greater", 13, {x[0], number(b, x[0], 10)});
    return b.node("Where", 16, {large, sub(b, power, number(b, x[0], 1)), product});
  });
}

// 2 * atanh(x / (2 + x)) where 1 + x would lose the end of x.
void lower_log1p(Builder& b) {
  by_element(b, 1, [&](const auto& x) {
    const ValueId ratio = div(b, x[0], add(b, x[0], number(b, x[0], 2)));
    const ValueId small = mul(b, b.node("Atanh", 9, {ratio}), number(b, x[0], 2));
    const ValueId large = b.node("Log", 13, {add(b, x[0], number(b, x[0], 1))});
    const ValueId is_small = b.node("Less", 13, {b.node("Abs", 13, {x[0]}), number(b, x[0], 0.5)});
    return b.node("Where", 16, {is_small, small, large});
  });
}

void lower_is_finite(Builder& b) {
  by_element(b, 1, [&](const auto& x) {
    const ValueId wrong =
        b.node("Or", 7, {b.node("IsNaN", 13, {x[0]}), b.node("IsInf", 20, {x[0]})});
    return b.node("Not", 1, {wrong});
  });
}

void lower_xor(Builder& b) {
  by_element(b, 2, [&](const auto& x) { return b.node("Xor", 7, {x[0], x[1]}); });
}

void lower_zeros_like(Builder& b) {
  by_element(b, 1, [&](const auto& x) {
    if (b.is_fixed(x[0]) && element_count(b.shape(x[0])) <= (1 << 16))
      return b.filled(b.dtype(x[0]), b.shape(x[0]), 0);
    return b.node("Expand", 13, {number(b, x[0], 0), b.shape_of(x[0])});
  });
}

void lower_ones_like(Builder& b) {
  by_element(b, 1, [&](const auto& x) {
    if (b.is_fixed(x[0]) && element_count(b.shape(x[0])) <= (1 << 16))
      return b.filled(b.dtype(x[0]), b.shape(x[0]), 1);
    return b.node("Expand", 13, {number(b, x[0], 1), b.shape_of(x[0])});
  });
}

void lower_shift(Builder& b) {
  const std::string direction = b.type() == "LeftShift" ? "LEFT" : "RIGHT";
  by_element(b, 2, [&](const auto& x) {
    return b.node("BitShift", 11, {x[0], x[1]}, {{"direction", direction}});
  });
}

// Select takes whole rows where the condition has one element for each.
void lower_select(Builder& b) {
  if (b.input_count() != 3) return b.refuse(Code::corrupt_model, "it has no three inputs");
  const ValueId condition = b.in(0), x = b.in(1);
  if (!b.ok()) return;
  if (b.has_shape(condition) && b.has_shape(x) && b.rank(condition) == 1 && b.rank(x) > 1) {
    Ints shape(static_cast<size_t>(b.rank(x)), 1);
    shape[0] = -1;
    return b.out(0, b.node("Where", 16, {b.reshape(condition, shape), x, b.in(2)}));
  }
  by_element(b, 3, [&](const auto& v) { return b.node("Where", 16, {v[0], v[1], v[2]}); });
}

void lower_approximate_equal(Builder& b) {
  const float tolerance = b.f("tolerance", 1e-5f);
  by_element(b, 2, [&](const auto& x) {
    const ValueId distance = b.node("Abs", 13, {sub(b, x[0], x[1])});
    return b.node("Less", 13, {distance, number(b, distance, tolerance)});
  });
}

}  // namespace anynpu::tensorflow
