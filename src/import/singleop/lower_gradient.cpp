// SPDX-License-Identifier: Apache-2.0
// Gradients that frameworks ask for by the operators' names.
#include <cmath>
#include <variant>

#include "import/singleop/lower.h"

namespace anynpu::singleop {

namespace {

// A state without its axis of steps: [batch, hidden].
ValueId plain_state(Builder& b, size_t index, int64_t batch, int64_t hidden) {
  const ValueId x = b.in(index);
  if (!b.has_count(x, "a state", batch * hidden)) return x;
  return b.reshape(x, {batch, hidden});
}

ValueId sum_along(Builder& b, ValueId x, int64_t axis) {
  return b.node("ReduceSum", 13, {x, b.list({axis})}, {{"keepdims", int64_t{0}}});
}

// A word as the operator's definition has it. torch_npu sets these as bool, by a conversion of C++
// that it does not mean; the card then takes the default.
std::string word_or_default(Builder& b, const char* name, const char* otherwise,
                            std::initializer_list<std::string_view> taken) {
  const auto found = b.op().attrs.find(name);
  const bool text =
      found != b.op().attrs.end() && std::holds_alternative<std::string>(found->second);
  return text ? b.word(name, otherwise, taken) : otherwise;
}

// A tensor without axes stands for one that is left out.
void leave_placeholders(Builder& b, size_t first) {
  for (size_t i = first; i < b.input_count(); ++i) {
    if (b.has(i) && !b.op().inputs[i].shape.empty()) {
      return b.refuse(
          Code::unsupported_feature,
          "input {} has the shape {}, expected none from {} on: lengths of sequences, masks "
          "and peepholes are not taken",
          i, to_string(b.op().inputs[i].shape), first);
    }
    b.leave(i);
  }
}

// States in front of each step: [steps * batch, hidden].
ValueId states_before(Builder& b, ValueId h0, ValueId h) {
  const Shape s = b.shape(h);
  ValueId before = b.reshape(h0, {1, s[1], s[2]});
  if (s[0] > 1) {
    const ValueId first = b.node("Slice", 13, {h, b.list({0}), b.list({s[0] - 1}), b.list({0})});
    before = b.node("Concat", 13, {before, first}, {{"axis", int64_t{0}}});
  }
  return b.reshape(before, {s[0] * s[1], s[2]});
}

// Each output in the shape that it is described with, where it has as many elements.
void write_described(Builder& b, std::initializer_list<ValueId> outputs) {
  for (size_t o = 0; b.ok() && o < b.output_count() && o < outputs.size(); ++o) {
    const ValueId value = outputs.begin()[o];
    const Shape& described = b.op().outputs[o].shape;
    const bool shaped = element_count(described) == element_count(b.shape(value));
    b.out(o, shaped ? b.reshape(value, described) : value);
  }
}

}  // namespace

// x, w [inputs + hidden, 4 * hidden], b, y, init_h, init_c, h, c, dy, dh, dc, i, j, f, o, tanh_c
// and optional ones -> dw, db, dx, dh of the state before, dc of it. DynamicRNNV2Grad has w of x
// and w of h in the places of w and b, and gradients of both first. Of one step (nn.LSTMCell)
// tensors have no axis of steps.
void lower_dynamic_rnn_gradient(Builder& b) {
  enum : size_t {
    kX,
    kW,
    kB,
    kY,
    kH0,
    kC0,
    kH,
    kC,
    kDy,
    kDh,
    kDc,
    kI,
    kJ,
    kF,
    kO,
    kTanh,
    kFirstOptional
  };
  const bool two = b.type() == "DynamicRNNV2Grad";
  word_or_default(b, "cell_type", "LSTM", {"LSTM"});
  word_or_default(b, "direction", "UNIDIRECTIONAL", {"UNIDIRECTIONAL"});
  const std::string order = word_or_default(b, "gate_order", "ijfo", {"ijfo", "ifjo", "ifco"});
  const auto stepped = [&](size_t index) {
    const ValueId value = b.in(index);
    if (!b.ok() || b.rank(value) != 2) return value;
    return b.reshape(value, {1, b.shape(value)[0], b.shape(value)[1]});
  };
  const ValueId x = stepped(kX), w = b.in(kW), c = stepped(kC), h = stepped(kH);
  ValueId from_x = w, from_h = two ? b.in(kB) : w;
  if (!two) b.leave(kB);
  b.leave(kY);
  leave_placeholders(b, kFirstOptional);
  if (!b.ok() || !b.has_rank(x, "x", 3, 3) || !b.has_rank(c, "c", 3, 3) ||
      !b.has_rank(h, "h", 3, 3) || !b.has_rank(w, "w", 2, 2))
    return;
  const int64_t steps = b.shape(x)[0], batch = b.shape(x)[1], inputs = b.shape(x)[2];
  const int64_t hidden = b.shape(c)[2];
  const bool fits =
      two ? b.shape(w) == Shape{inputs, 4 * hidden} && b.shape(from_h) == Shape{hidden, 4 * hidden}
          : b.shape(w) == Shape{inputs + hidden, 4 * hidden};
  if (!fits || b.shape(c) != Shape{steps, batch, hidden}) {
    return b.refuse(
        Code::unsupported_shape,
        "x, the weights and c have the shapes {}, {}{} and {}, expected [steps, batch, inputs], "
        "{} and [steps, batch, hidden]",
        to_string(b.shape(x)), to_string(b.shape(w)), two ? ", " + to_string(b.shape(from_h)) : "",
        to_string(b.shape(c)),
        two ? "[inputs, 4 * hidden], [hidden, 4 * hidden]" : "[inputs + hidden, 4 * hidden]");
  }
  if (!two) {
    const auto rows = [&](int64_t from, int64_t to) {
      return b.node("Slice", 13, {w, b.list({from}), b.list({to}), b.list({0})});
    };
    from_x = rows(0, inputs);
    from_h = rows(inputs, inputs + hidden);
  }
  const ValueId h0 = plain_state(b, kH0, batch, hidden);
  const auto made =
      b.nodes("anynpu.LstmGateGrad", 1,
              {b.transpose(from_h, {1, 0}), plain_state(b, kC0, batch, hidden), c, stepped(kDy),
               plain_state(b, kDh, batch, hidden), plain_state(b, kDc, batch, hidden), stepped(kI),
               stepped(kJ), stepped(kF), stepped(kO), stepped(kTanh)},
              3, {{"j_second", int64_t{order == "ijfo"}}});
  if (!b.ok()) return;
  // What went into each step: x and the state before it.
  const ValueId rows = b.reshape(x, {steps * batch, inputs}), before = states_before(b, h0, h);
  const ValueId gates = b.reshape(made[0], {steps * batch, 4 * hidden});
  const auto weights_of = [&](ValueId went_in) {
    return b.node("MatMul", 13, {b.transpose(went_in, {1, 0}), gates});
  };
  const ValueId db = sum_along(b, gates, 0);
  const ValueId dx =
      b.reshape(b.node("MatMul", 13, {gates, b.transpose(from_x, {1, 0})}), {steps, batch, inputs});
  if (two)
    return write_described(b, {weights_of(rows), weights_of(before), db, dx, made[1], made[2]});
  const ValueId both = b.node("Concat", 13, {rows, before}, {{"axis", int64_t{1}}});
  write_described(b, {weights_of(both), db, dx, made[1], made[2]});
}

// x, w [inputs, 3 * hidden] of x and [hidden, 3 * hidden] of h, y, init_h, h, dy, dh, update,
// reset, new, hidden_new and optional ones -> dw of both, db of both, dx, dh of the state before.
void lower_dynamic_gru_gradient(Builder& b) {
  enum : size_t {
    kX,
    kWx,
    kWh,
    kY,
    kH0,
    kH,
    kDy,
    kDh,
    kUpdate,
    kReset,
    kNew,
    kHiddenNew,
    kFirstOptional
  };
  word_or_default(b, "direction", "UNIDIRECTIONAL", {"UNIDIRECTIONAL"});
  const std::string order = word_or_default(b, "gate_order", "zrh", {"zrh", "rzh"});
  const ValueId x = b.in(kX), wx = b.in(kWx), wh = b.in(kWh), h = b.in(kH);
  b.leave(kY);
  leave_placeholders(b, kFirstOptional);
  if (!b.ok() || !b.has_rank(x, "x", 3, 3) || !b.has_rank(h, "h", 3, 3)) return;
  const int64_t steps = b.shape(x)[0], batch = b.shape(x)[1], inputs = b.shape(x)[2];
  const int64_t hidden = b.shape(h)[2];
  if (b.shape(wx) != Shape{inputs, 3 * hidden} || b.shape(wh) != Shape{hidden, 3 * hidden}) {
    return b.refuse(
        Code::unsupported_shape,
        "x, h and the weights have the shapes {}, {}, {} and {}, expected [steps, batch, inputs], "
        "[steps, batch, hidden], [inputs, 3 * hidden] and [hidden, 3 * hidden]",
        to_string(b.shape(x)), to_string(b.shape(h)), to_string(b.shape(wx)),
        to_string(b.shape(wh)));
  }
  const ValueId h0 = plain_state(b, kH0, batch, hidden);
  const auto made =
      b.nodes("anynpu.GruGateGrad", 1,
              {b.transpose(wh, {1, 0}), h0, h, b.in(kDy), plain_state(b, kDh, batch, hidden),
               b.in(kUpdate), b.in(kReset), b.in(kNew), b.in(kHiddenNew)},
              3, {{"z_first", int64_t{order == "zrh"}}});
  if (!b.ok()) return;
  const ValueId of_x = b.reshape(made[0], {steps * batch, 3 * hidden}),
                of_h = b.reshape(made[1], {steps * batch, 3 * hidden});
  const ValueId rows = b.reshape(x, {steps * batch, inputs}), before = states_before(b, h0, h);
  const ValueId dx = b.node("MatMul", 13, {of_x, b.transpose(wx, {1, 0})});
  write_described(b,
                  {b.node("MatMul", 13, {b.transpose(rows, {1, 0}), of_x}),
                   b.node("MatMul", 13, {b.transpose(before, {1, 0}), of_h}), sum_along(b, of_x, 0),
                   sum_along(b, of_h, 0), b.reshape(dx, {steps, batch, inputs}), made[2]});
}

// Sorted rows and values that are looked up in them: the place of each, before or behind equal
// ones.
void lower_search_sorted(Builder& b) {
  const ValueId rows = b.in(0), values = b.in(1);
  if (!b.ok()) return;
  const ValueId found = b.node("anynpu.SearchSorted", 1, {rows, b.cast(values, b.dtype(rows))},
                               {{"right", int64_t{b.flag("right", false)}}});
  b.out(0, found, Builder::Type::any);
}

// grad, x1, x2 and the distances, each repeated to [.., P, R, M]: by x1, [.., P, M]. The output may
// have fewer batches: what x1 was repeated for is added up.
void lower_cdist_gradient(Builder& b) {
  constexpr float kLargest = 2147483647.0f;
  const float p = b.f("p", 2);
  const ValueId g = b.in(0), x1 = b.in(1), x2 = b.in(2), d = b.in(3);
  if (!b.ok() || !b.has_rank(x1, "x1", 3)) return;
  const ValueId gap = sub(b, x1, x2);
  if (!b.ok()) return;
  const DType type = b.dtype(gap);
  const ValueId zero = b.scalar(type, 0), size = b.node("Abs", 13, {gap}),
                sign = b.node("Sign", 13, {gap});
  ValueId slope = kNoValue;
  if (p == 0) {
    slope = mul(b, gap, zero);
  } else if (p == 1) {
    slope = sign;
  } else if (p < 0 || std::isinf(p) ||
             p >= kLargest) {  // torch_npu says -1 for the largest difference
    slope = b.node("Where", 9, {b.node("Equal", 13, {size, d}), sign, zero});
  } else {
    const ValueId top = mul(b, sign, b.node("Pow", 15, {size, b.scalar(type, p - 1)}));
    const ValueId bottom = b.node("Pow", 15, {d, b.scalar(type, p - 1)});
    const ValueId none =
        b.node("Or", 7, {b.node("Equal", 13, {d, zero}), b.node("Equal", 13, {size, zero})});
    slope = b.node("Where", 9, {none, zero, div(b, top, bottom)});
  }
  ValueId made = sum_along(b, mul(b, g, slope), -2);
  const Shape& wanted = b.op().outputs[0].shape;
  const bool known = b.ok() && is_static(wanted);
  while (b.ok() && known && b.rank(made) > static_cast<int64_t>(wanted.size()))
    made = sum_along(b, made, 0);
  for (size_t axis = 0; b.ok() && known && axis < wanted.size(); ++axis) {
    if (wanted[axis] == 1 && b.shape(made)[axis] != 1)
      made = b.node("ReduceSum", 13, {made, b.list({static_cast<int64_t>(axis)})},
                    {{"keepdims", int64_t{1}}});
  }
  b.out(0, made);
}

}  // namespace anynpu::singleop
