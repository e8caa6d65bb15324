// SPDX-License-Identifier: Apache-2.0
// LSTM as Caffe has it: the net is unrolled over the steps, and a second bottom says for each step
// and sequence whether it continues (1) or starts over (0). A third bottom is an input that is the
// same for all steps; with expose_hidden the state comes in as two more and goes out as two tops.
#include "import/caffe/layers.h"

namespace anynpu::caffe {

namespace {

using Ints = std::vector<int64_t>;
constexpr int64_t kMostSteps = 1024;  // each becomes a dozen nodes

struct Cell {
  ValueId hidden = graph::kNoValue;  // none before the first step
  ValueId memory = graph::kNoValue;
};

// One step: `gates` is what the input adds to the gates i, f, o, g (N x 4H), `cont` is N x 1.
Result<Cell> step(Builder& b, const Cell& before, ValueId gates, ValueId cont, ValueId recurrent,
                  int64_t size) {
  if (before.hidden != graph::kNoValue) {
    ANYNPU_ASSIGN(ValueId past, b.add("Mul", {before.hidden, cont}));
    ANYNPU_ASSIGN(past, b.add("MatMul", {past, recurrent}));
    ANYNPU_ASSIGN(gates, b.add("Add", {gates, past}));
  }
  ANYNPU_ASSIGN(const auto parts, b.add_several("Split", {gates, b.integers({3 * size, size})},
                                                {{"axis", int64_t{1}}}, 2));
  ANYNPU_ASSIGN(const ValueId activated, b.add("Sigmoid", {parts[0]}));
  ANYNPU_ASSIGN(const auto ifo, b.add_several("Split", {activated, b.integers({size, size, size})},
                                              {{"axis", int64_t{1}}}, 3));
  ANYNPU_ASSIGN(const ValueId candidate, b.add("Tanh", {parts[1]}));
  Cell cell;
  ANYNPU_ASSIGN(cell.memory, b.add("Mul", {ifo[0], candidate}));
  if (before.memory != graph::kNoValue) {
    ANYNPU_ASSIGN(ValueId past, b.add("Mul", {before.memory, cont}));
    ANYNPU_ASSIGN(past, b.add("Mul", {past, ifo[1]}));
    ANYNPU_ASSIGN(cell.memory, b.add("Add", {past, cell.memory}));
  }
  ANYNPU_ASSIGN(const ValueId shown, b.add("Tanh", {cell.memory}));
  ANYNPU_ASSIGN(cell.hidden, b.add("Mul", {ifo[2], shown}));
  return cell;
}

// `rows` rows of x, each through weight `index` (outputs x inputs).
Result<ValueId> transformed(Builder& b, ValueId x, size_t index, int64_t rows, int64_t outputs) {
  const int64_t inputs = element_count(b.shape(x)) / rows;
  ANYNPU_ASSIGN(ValueId weight, b.weight(index, {outputs, inputs}));
  ANYNPU_ASSIGN(weight, b.add("Transpose", {weight}, {{"perm", Ints{1, 0}}}));
  ANYNPU_ASSIGN(const ValueId flat, b.reshape(x, {rows, inputs}));
  return b.add("MatMul", {flat, weight});
}

}  // namespace

Status lstm(Builder& b) {
  Params params(b.layer(), "recurrent_param");
  const int64_t size = params.integer("num_output", 0, 1);
  const bool exposed = params.flag("expose_hidden", false);
  ANYNPU_TRY(params.status());
  if (size == 0)
    return fail(Code::invalid_argument,
                "recurrent_param has no num_output; expected the size of the state");
  const size_t state = exposed ? 2 : 0, tops = b.layer().tops.size();
  const bool fixed = b.bottoms() == 3 + state;
  if ((!fixed && b.bottoms() != 2 + state) || tops != 1 + state) {
    return fail(Code::invalid_argument,
                "it has {} bottoms, {} tops and expose_hidden: {}; expected the bottoms x, cont, "
                "perhaps x_static{}",
                b.bottoms(), tops, exposed ? "true" : "false",
                exposed ? ", h_0 and c_0, and the tops h, h_T and c_T"
                        : ", and one top: add expose_hidden: true where the state is a bottom");
  }
  const ValueId x = b.bottom(0);
  for (size_t i = 0; i < b.bottoms(); ++i) ANYNPU_TRY(b.need_static(b.bottom(i)));
  if (b.rank(x) < 3 || b.rank(b.bottom(1)) != 2) {
    return fail(Code::unsupported_shape,
                "its bottoms are {} and {}; expected T x N x ... and T x N", to_string(b.shape(x)),
                to_string(b.shape(b.bottom(1))));
  }
  const int64_t steps = b.shape(x)[0], batch = b.shape(x)[1];
  if (steps < 1 || steps > kMostSteps || batch < 1) {
    return fail(Code::unsupported_shape,
                "it has {} steps of {} sequences; expected 1 to {} steps: split the sequences, the "
                "state goes on with expose_hidden: true",
                steps, batch, kMostSteps);
  }
  ANYNPU_ASSIGN(ValueId all, transformed(b, x, 0, steps * batch, 4 * size));
  ANYNPU_ASSIGN(const ValueId offsets, b.weight(1, {4 * size}));
  ANYNPU_ASSIGN(all, b.add("Add", {all, offsets}));
  if (fixed) {
    ANYNPU_ASSIGN(const ValueId same, transformed(b, b.bottom(2), 2, batch, 4 * size));
    ANYNPU_ASSIGN(all, b.reshape(all, {steps, batch, 4 * size}));
    ANYNPU_ASSIGN(all, b.add("Add", {all, same}));
    ANYNPU_ASSIGN(all, b.reshape(all, {steps * batch, 4 * size}));
  }
  ANYNPU_ASSIGN(ValueId recurrent, b.weight(fixed ? 3 : 2, {4 * size, size}));
  ANYNPU_ASSIGN(recurrent, b.add("Transpose", {recurrent}, {{"perm", Ints{1, 0}}}));
  ANYNPU_ASSIGN(const ValueId flags, b.reshape(b.bottom(1), {steps * batch, 1}));
  std::vector<ValueId> gates = {all}, conts = {flags};
  if (steps > 1) {
    const Ints parts(static_cast<size_t>(steps), batch);
    const auto count = static_cast<size_t>(steps);
    const Attrs rows = {{"axis", int64_t{0}}};
    ANYNPU_ASSIGN(gates, b.add_several("Split", {all, b.integers(parts)}, rows, count));
    ANYNPU_ASSIGN(conts, b.add_several("Split", {flags, b.integers(parts)}, rows, count));
  }
  Cell cell;
  if (exposed) {
    ANYNPU_ASSIGN(cell.hidden, b.reshape(b.bottom(b.bottoms() - 2), {batch, size}));
    ANYNPU_ASSIGN(cell.memory, b.reshape(b.bottom(b.bottoms() - 1), {batch, size}));
  }
  std::vector<ValueId> hidden;
  for (size_t t = 0; t < gates.size(); ++t) {
    ANYNPU_ASSIGN(cell, step(b, cell, gates[t], conts[t], recurrent, size));
    hidden.push_back(cell.hidden);
  }
  ANYNPU_ASSIGN(const ValueId joined, b.add("Concat", hidden, {{"axis", int64_t{0}}}));
  ANYNPU_TRY(b.set_top(0, b.reshape(joined, {steps, batch, size})));
  if (!exposed) return {};
  ANYNPU_TRY(b.set_top(1, b.reshape(cell.hidden, {1, batch, size})));
  return b.set_top(2, b.reshape(cell.memory, {1, batch, size}));
}

}  // namespace anynpu::caffe
