// SPDX-License-Identifier: Apache-2.0
// Cells of LSTM and GRU in one operator, and the whole sequence of an LSTM.
#include "graph/flow.h"
#include "graph/tensor_value.h"
#include "import/tensorflow/lower.h"

namespace anynpu::tensorflow {

namespace {

ValueId sigmoid(Builder& b, ValueId x) { return b.node("Sigmoid", 13, {x}); }
ValueId hyperbolic(Builder& b, ValueId x) { return b.node("Tanh", 13, {x}); }

struct Lstm {
  ValueId w, wci, wcf, wco, bias;
  float forget = 1, clip = 3;
  bool peephole = false;
  bool forget_third = false;  // gates i, c, f, o; else i, f, c, o
};

struct LstmStep {
  ValueId i, cs, f, o, ci, co, h;
};

LstmStep lstm_step(Builder& b, const Lstm& cell, ValueId x, ValueId cs_prev, ValueId h_prev) {
  const ValueId both = b.node("Concat", 13, {x, h_prev}, {{"axis", int64_t{1}}});
  const ValueId gates = add(b, b.node("MatMul", 13, {both, cell.w}), cell.bias);
  const auto parts =
      b.nodes("Split", 18, {gates}, 4, {{"axis", int64_t{1}}, {"num_outputs", int64_t{4}}});
  const ValueId candidate = parts[cell.forget_third ? 1 : 2],
                forget = parts[cell.forget_third ? 2 : 1];
  const DType type = b.dtype(x);
  const auto seen = [&](ValueId gate, ValueId weights, ValueId state) {
    return cell.peephole ? add(b, gate, mul(b, state, weights)) : gate;
  };
  LstmStep step{};
  step.i = sigmoid(b, seen(parts[0], cell.wci, cs_prev));
  ValueId opened = seen(forget, cell.wcf, cs_prev);
  if (cell.forget != 0) opened = add(b, opened, b.scalar(type, cell.forget));
  step.f = sigmoid(b, opened);
  step.ci = hyperbolic(b, candidate);
  step.cs = add(b, mul(b, step.ci, step.i), mul(b, cs_prev, step.f));
  if (cell.clip > 0)
    step.cs = b.node("Clip", 13, {step.cs, b.scalar(type, -cell.clip), b.scalar(type, cell.clip)});
  step.o = sigmoid(b, seen(parts[3], cell.wco, step.cs));
  step.co = hyperbolic(b, step.cs);
  step.h = mul(b, step.co, step.o);
  return step;
}

Lstm lstm_of(Builder& b, size_t first) {
  Lstm cell{};
  cell.w = b.in(first);
  cell.wci = b.in(first + 1);
  cell.wcf = b.in(first + 2);
  cell.wco = b.in(first + 3);
  cell.bias = b.in(first + 4);
  const bool second = b.type() == "BlockLSTMV2";
  cell.forget = second ? 0 : b.f("forget_bias", 1);
  cell.clip = b.f("cell_clip", second ? 0.0f : 3.0f);
  cell.peephole = b.flag("use_peephole", false);
  cell.forget_third = !second;
  return cell;
}

}  // namespace

void lower_lstm_cell(Builder& b) {
  const ValueId x = b.in(0), cs = b.in(1), h = b.in(2);
  const Lstm cell = lstm_of(b, 3);
  if (!b.ok()) return;
  const LstmStep step = lstm_step(b, cell, x, cs, h);
  const ValueId all[] = {step.i, step.cs, step.f, step.o, step.ci, step.co, step.h};
  for (size_t i = 0; i < 7; ++i) b.out(i, all[i]);
}

// A Scan over time, whose body is the cell.
void lower_lstm_sequence(Builder& b) {
  const ValueId x = b.in(1), cs = b.in(2), h = b.in(3);
  const Lstm cell = lstm_of(b, 4);
  if (!b.has_rank(x, "the sequence", 3, 3) || !b.has_rank(h, "the state", 2, 2)) return;
  const Shape steps = b.shape(x), state = b.shape(h);
  Builder inner(b.model(), b.def().name);
  const auto input = [&](const char* name, Shape shape) {
    graph::Graph& graph = inner.graph();
    const ValueId id = graph.add_value(graph::tensor_value(name, b.dtype(x), std::move(shape)));
    graph.inputs.push_back(id);
    return id;
  };
  const ValueId inner_cs = input("cs", state), inner_h = input("h", state);
  const ValueId inner_x = input("x", {steps[1], steps[2]});
  std::vector<ValueId> captures;
  const auto captured = [&](ValueId outer, const char* name) {
    const graph::Value& value = b.value(outer);
    if (value.constant) return inner.constant(value.dtype, value.shape, value.constant);
    captures.push_back(outer);
    return input(name, value.shape);
  };
  Lstm within = cell;
  within.w = captured(cell.w, "w");
  within.bias = captured(cell.bias, "bias");
  if (cell.peephole) {
    within.wci = captured(cell.wci, "wci");
    within.wcf = captured(cell.wcf, "wcf");
    within.wco = captured(cell.wco, "wco");
  }
  const LstmStep step = lstm_step(inner, within, inner_x, inner_cs, inner_h);
  const ValueId all[] = {step.cs, step.h,  step.i,  step.cs, step.f,
                         step.o,  step.ci, step.co, step.h};
  for (ValueId id : all) inner.graph().outputs.push_back(inner.node("Identity", 13, {id}));
  if (!inner.ok()) return b.refuse(inner.status());
  if (Status status = inner.graph().verify(); !status.ok()) return b.refuse(status);
  graph::Node node;
  node.op = "Scan";
  node.opset = 16;
  node.inputs = {cs, h, x};
  node.inputs.insert(node.inputs.end(), captures.begin(), captures.end());
  node.attrs["num_scan_inputs"] = int64_t{1};
  node.attrs["body"] = std::shared_ptr<const graph::Graph>(
      std::make_shared<const graph::Graph>(std::move(inner.graph())));
  node.attrs[graph::kCapturesAttr] = static_cast<int64_t>(captures.size());
  std::vector<graph::Value> outputs;
  for (int i = 0; i < 2; ++i) outputs.push_back(graph::tensor_value({}, b.dtype(x), state));
  for (int i = 0; i < 7; ++i)
    outputs.push_back(graph::tensor_value({}, b.dtype(x), {steps[0], state[0], state[1]}));
  const auto made = b.flow_node(std::move(node), std::move(outputs));
  // Behind the longest sequence stand zeros.
  const auto longest = b.known(b.in(0));
  const bool whole = longest && longest->size() == 1 && steps[0] >= 0 && (*longest)[0] >= steps[0];
  if (whole || !b.ok()) {
    for (size_t i = 0; i < 7; ++i) b.out(i, made[i + 2]);
    return;
  }
  const ValueId count = b.squeeze(b.slice(b.shape_of(x), 0, 0, 1), {0});
  const ValueId numbers =
      b.node("Range", 11, {b.whole(DType::i64, 0), count, b.whole(DType::i64, 1)});
  const ValueId inside =
      b.unsqueeze(b.node("Less", 13, {numbers, b.cast(b.in(0), DType::i64)}), {1, 2});
  const ValueId zero = b.scalar(b.dtype(x), 0);
  for (size_t i = 0; i < 7; ++i) b.out(i, b.node("Where", 16, {inside, made[i + 2], zero}));
}

void lower_gru_cell(Builder& b) {
  const ValueId x = b.in(0), h = b.in(1), w_ru = b.in(2), w_c = b.in(3), b_ru = b.in(4),
                b_c = b.in(5);
  if (!b.ok()) return;
  const ValueId both = b.node("Concat", 13, {x, h}, {{"axis", int64_t{1}}});
  const ValueId gates = sigmoid(b, add(b, b.node("MatMul", 13, {both, w_ru}), b_ru));
  const auto parts =
      b.nodes("Split", 18, {gates}, 2, {{"axis", int64_t{1}}, {"num_outputs", int64_t{2}}});
  const ValueId kept = b.node("Concat", 13, {x, mul(b, h, parts[0])}, {{"axis", int64_t{1}}});
  const ValueId candidate = hyperbolic(b, add(b, b.node("MatMul", 13, {kept, w_c}), b_c));
  // u * h + (1 - u) * c
  const ValueId one = b.scalar(b.dtype(x), 1);
  const ValueId next = add(b, mul(b, parts[1], h), mul(b, sub(b, one, parts[1]), candidate));
  b.out(0, parts[0]);
  b.out(1, parts[1]);
  b.out(2, candidate);
  b.out(3, next);
}

}  // namespace anynpu::tensorflow
