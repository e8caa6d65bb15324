// SPDX-License-Identifier: Apache-2.0
// Small operators of networks that came late: the cell of an LSTM, gates with limits, low-rank
// updates of products, bits of signs.
#include <algorithm>

#include "aclnn/arithmetic.h"

namespace anynpu::aclnn {

namespace {

constexpr DType kType = DType::f32;

Value floats(Recipe& r, Param param) { return r.cast(r.in(param), kType); }
Value mul(Recipe& r, Value a, Value b) { return r.op("Mul", {a, b}); }
Value add(Recipe& r, Value a, Value b) { return r.op("Add", {a, b}); }
Value from_one(Recipe& r, Value x) { return r.op("Sub", {r.constant(kType, 1), x}); }

// --- the cell of an LSTM: input, forget, candidate and output gates beside each other

struct Gates {
  Value in, forget, candidate, out;
};

Gates cut(Recipe& r, Value x) {
  const int64_t width = r.extent(x, 1);
  if (width % 4 != 0) refuse("gates have {} columns; expected a multiple of 4", width);
  const auto part = [&](int64_t i) { return r.slice(x, 1, i * width / 4, (i + 1) * width / 4); };
  return {part(0), part(1), part(2), part(3)};
}

void lstm_cell(Recipe& r) {
  Value sum = add(r, floats(r, "inputGates"), floats(r, "hiddenGates"));
  for (const char* name : {"inputBiasOptional", "hiddenBiasOptional"}) {
    if (r.given(name)) sum = add(r, sum, floats(r, name));
  }
  Gates g = cut(r, sum);
  g = {r.op("Sigmoid", {g.in}), r.op("Sigmoid", {g.forget}), r.op("Tanh", {g.candidate}),
       r.op("Sigmoid", {g.out})};
  const Value c = add(r, mul(r, g.forget, floats(r, "cx")), mul(r, g.in, g.candidate));
  r.out("cyOut", c);
  r.out("hyOut", mul(r, g.out, r.op("Tanh", {c})));
  r.out("storageOut", r.op("Concat", {g.in, g.forget, g.candidate, g.out}, {{"axis", 1}}));
}

void lstm_cell_gradient(Recipe& r) {
  const Gates g = cut(r, floats(r, "storage"));
  const Value c = r.op("Tanh", {floats(r, "cy")});
  const auto given = [&](const char* name) {
    return r.given(name) ? floats(r, name) : r.filled(kType, r.shape("cy"), 0);
  };
  const Value dh = given("gradHyOptional");
  const Value dc =
      add(r, given("gradCOptional"), mul(r, mul(r, dh, g.out), from_one(r, mul(r, c, c))));
  const auto through = [&](Value d, Value gate) {
    return mul(r, d, mul(r, gate, from_one(r, gate)));
  };
  const Value made =
      r.op("Concat",
           {through(mul(r, dc, g.candidate), g.in), through(mul(r, dc, floats(r, "cx")), g.forget),
            mul(r, mul(r, dc, g.in), from_one(r, mul(r, g.candidate, g.candidate))),
            through(mul(r, dh, c), g.out)},
           {{"axis", 1}});
  r.out("gradGatesOut", made);
  r.out("gradCxOut", mul(r, dc, g.forget));
  if (r.flag("hasBias") && r.given("gradBiasOut"))
    r.out("gradBiasOut", r.op("ReduceSum", {made, r.constant({0})}, {{"keepdims", 0}}));
}

// --- a gate with limits: min(a, limit) * sigmoid(alpha * that) * (b within limits + bias)

void clipped_swiglu(Recipe& r) {
  if (r.rank("x") == 0) refuse("x has no axes; expected at least one");
  const int64_t axis = r.axis("dim", r.rank("x"));
  const Shape s = r.shape("x");
  const int64_t extent = s[static_cast<size_t>(axis)];
  if (extent % 2 != 0) refuse("axis {} has {} elements; expected an even number", axis, extent);
  const Value x = floats(r, "x");
  const bool woven = r.flag("interleaved");
  const Value a = woven ? r.slice(x, axis, 0, extent, 2) : r.slice(x, axis, 0, extent / 2);
  const Value b = woven ? r.slice(x, axis, 1, extent, 2) : r.slice(x, axis, extent / 2, extent);
  const Value limit = r.number("limit", kType);
  const Value gate = r.op("Min", {a, limit});
  const Value other = r.op("Max", {r.op("Min", {b, limit}), r.op("Neg", {limit})});
  const Value share = r.op("Sigmoid", {mul(r, gate, r.number("alpha", kType))});
  Value y = mul(r, mul(r, gate, share), add(r, other, r.number("bias", kType)));
  if (r.given("groupIndexOptional")) {
    // Only the rows of groups count.
    const Value sizes = r.cast(r.in("groupIndexOptional"), DType::i64);
    const Value rows =
        r.op("ReduceSum", {r.reshape(sizes, {element_count(r.shape(sizes))}), r.constant({0})},
             {{"keepdims", 0}});
    const auto number = [&](int64_t v) { return r.constant(DType::i64, static_cast<double>(v)); };
    Shape beside(s.size(), 1);
    beside[0] = s[0];
    const Value row = r.reshape(r.op("Range", {number(0), number(s[0]), number(1)}), beside);
    y = r.op("Where", {r.op("Less", {row, rows}), y, r.constant(kType, 0)});
  }
  r.out("out", y);
}

// --- y + scale * x * A * B, with matrices of low rank that each row chooses

void add_lora(Recipe& r) {
  if (r.rank("x") != 2 || r.rank("y") != 2) {
    refuse("x and y have {} and {} axes; expected rows and columns", r.rank("x"), r.rank("y"));
  }
  const Value x = floats(r, "x"), y = floats(r, "y");
  const int64_t rows = r.extent(x, 0), layer = r.integer("layerIdx");
  const Value chosen = r.reshape(r.cast(r.in("indices"), DType::i64), {rows});
  const auto matrices = [&](const char* name) {
    const Value all = floats(r, name);
    const Shape s = r.shape(all);  // sets, layers, out, in
    if (s.size() != 4 || layer < 0 || layer >= s[1]) {
      refuse("{} is {} for layer {}; expected sets, layers and matrices", name, to_string(s),
             layer);
    }
    const Value of_layer = r.reshape(r.slice(all, 1, layer, layer + 1), {s[0], s[2] * s[3]});
    const Value own = r.op("GatherRows", {of_layer, chosen});  // 0 for none
    return r.reshape(own, {rows, s[2], s[3]});
  };
  const auto times = [&](Value v, const char* name) {
    const Value w = matrices(name);
    const Value column = r.reshape(v, {rows, r.extent(v, 1), 1});
    return r.reshape(r.op("MatMul", {w, column}), {rows, r.extent(w, 1)});
  };
  Value made = r.given("weightAOptional") ? times(x, "weightAOptional") : x;
  made = mul(r, times(made, "weightB"), r.number("scale", kType));
  const int64_t from = r.integer("yOffset"), size = r.integer("ySliceSize"), width = r.extent(y, 1);
  if (from < 0 || size != r.extent(made, 1) || from + size > width) {
    refuse("columns {} to {} of {} are written with {}", from, from + size, width,
           r.extent(made, 1));
  }
  const Value pads = r.constant({0, from, 0, width - from - size});
  r.out("out", add(r, y, r.op("Pad", {made, pads})));
}

void biased_softmax(Recipe& r) {
  Value x = floats(r, "x");
  if (!r.equals("scaleValue", 1)) x = mul(r, x, r.number("scaleValue", kType));
  if (r.given("attenMaskOptional")) x = add(r, x, floats(r, "attenMaskOptional"));
  x = add(r, x, floats(r, "relativePosBias"));
  r.out("out", r.op("Softmax", {x}, {{"axis", -1}}));
}

// --- bits of signs, the lowest first: 1 for what is not negative

void pack_signs(Recipe& r) {
  const int64_t count = r.tensor("self").count(), bytes = r.tensor("out").count();
  if (bytes * 8 < count) refuse("out has {} bytes for {} signs", bytes, count);
  const Value flat = r.reshape(floats(r, "self"), {count});
  Value bits = r.op("GreaterOrEqual", {flat, r.constant(kType, 0)});
  if (bytes * 8 > count)
    bits = r.op("Concat", {bits, r.filled(DType::boolean, {bytes * 8 - count}, 0)}, {{"axis", 0}});
  r.out("out", r.reshape(r.op("PackBits", {bits}), r.shape("out")));
}

void unpack_signs(Recipe& r) {
  const int64_t count = r.tensor("out").count(), bytes = r.tensor("self").count();
  if (bytes * 8 < count) refuse("self has {} bits for {} signs", bytes * 8, count);
  const Value bits = r.op("UnpackBits", {r.reshape(r.in("self"), {bytes})}, {{"count", count}});
  const Value signs =
      r.op("Where", {r.cast(bits, DType::boolean), r.constant(kType, 1), r.constant(kType, -1)});
  r.out("out", r.reshape(signs, r.shape("out")));
}

const Row kRows[] = {
    {"aclnnThnnFusedLstmCell", lstm_cell},
    {"aclnnThnnFusedLstmCellBackward", lstm_cell_gradient},
    {"aclnnClippedSwiglu", clipped_swiglu},
    {"aclnnAddLora", add_lora},
    {"aclnnMaskedSoftmaxWithRelPosBias", biased_softmax},
    {"aclnnSignBitsPack", pack_signs},
    {"aclnnSignBitsUnpack", unpack_signs},
};

}  // namespace

std::span<const Row> cells_rows() { return kRows; }

}  // namespace anynpu::aclnn
