// SPDX-License-Identifier: Apache-2.0
// Recurrent layers. The Common* forms are ONNX's own; the Dynamic* ones hold x and h in one matrix
// or two, have the gates in an order of their own and give the gates of every step as outputs.
#include "import/singleop/lower.h"

namespace anynpu::singleop {

namespace {

using Type = Builder::Type;

constexpr int64_t kOpset = 14;

// Columns [index * width, (index + 1) * width) of the last axis.
ValueId part(Builder& b, ValueId value, int64_t index, int64_t width, int64_t axis = -1) {
  return b.node("Slice", 13,
                {value, b.list({index * width}), b.list({(index + 1) * width}), b.list({axis})});
}

ValueId join(Builder& b, std::vector<ValueId> parts, int64_t axis) {
  return b.node("Concat", 13, std::move(parts), {{"axis", axis}});
}

// The parts of a matrix [rows, n * width], in another order, as ONNX has them: [1, n * width,
// rows].
ValueId reordered(Builder& b, ValueId matrix, const std::vector<int64_t>& order, int64_t width) {
  std::vector<ValueId> parts;
  for (int64_t from : order) parts.push_back(part(b, matrix, from, width));
  const ValueId joined = join(b, std::move(parts), -1);
  return b.node("Unsqueeze", 13, {b.transpose(joined, {1, 0}), b.list({0})});
}

std::vector<ValueId> reordered_bias(Builder& b, ValueId bias, const std::vector<int64_t>& order,
                                    int64_t width) {
  std::vector<ValueId> parts;
  const ValueId flat = b.reshape(bias, {-1});
  for (int64_t from : order) parts.push_back(part(b, flat, from, width));
  return parts;
}

// What both dynamic layers leave out.
void check_dynamic(Builder& b) {
  b.word("direction", "UNIDIRECTIONAL", {"UNIDIRECTIONAL"});
  b.word("activation", "tanh", {"tanh"});
  if (b.i("cell_depth", 1) != 1 || b.i("num_proj", 0) != 0 || b.f("keep_prob", 1) != 1 ||
      !b.flag("time_major", true)) {
    b.refuse(Code::unsupported_feature,
             "cell_depth, num_proj, keep_prob and time_major are {}, {}, {} and {}, expected 1, 0, "
             "1 and true",
             b.i("cell_depth", 1), b.i("num_proj", 0), b.f("keep_prob", 1),
             b.flag("time_major", true));
  }
}

struct Layer {
  ValueId x, h0;  // h0: [1, batch, hidden]
  int64_t steps, batch, hidden;
};

ValueId state(Builder& b, size_t index, const Layer& layer) {
  if (!b.has(index)) return b.filled(b.dtype(layer.x), {1, layer.batch, layer.hidden}, 0);
  return b.reshape(b.in(index), {1, layer.batch, layer.hidden});
}

// h of the step before, for all steps: [steps, batch, hidden].
ValueId before(Builder& b, ValueId h, const Layer& layer) {
  if (layer.steps == 1) return layer.h0;
  const ValueId first =
      b.node("Slice", 13, {h, b.list({0}), b.list({layer.steps - 1}), b.list({0})});
  return join(b, {layer.h0, first}, 0);
}

bool read_layer(Builder& b, int64_t gates, size_t hidden_from, Layer& layer) {
  layer.x = b.in(0);
  const ValueId w = b.in(hidden_from);
  if (!b.ok()) return false;
  if (b.rank(layer.x) != 3 || b.rank(w) != 2 || b.shape(w)[1] % gates != 0) {
    b.refuse(Code::unsupported_shape,
             "x and the weights have the shapes {} and {}, expected [steps, batch, size] and "
             "[rows, {} * hidden]",
             to_string(b.shape(layer.x)), to_string(b.shape(w)), gates);
    return false;
  }
  layer.steps = b.shape(layer.x)[0];
  layer.batch = b.shape(layer.x)[1];
  layer.hidden = b.shape(w)[1] / gates;
  if (layer.steps >= 0 && layer.batch >= 0) return true;
  b.refuse(Code::unsupported_shape, "x has the shape {}, expected known extents",
           to_string(b.shape(layer.x)));
  return false;
}

// c of every step from the gates of every step: [steps, batch, hidden].
ValueId cells(Builder& b, const Layer& layer, ValueId i, ValueId j, ValueId f, ValueId c0) {
  const ValueId first = b.reshape(c0, {layer.batch, layer.hidden});
  return b.node("anynpu.LinearRecurrence", 1, {f, b.node("Mul", 13, {i, j}), first});
}

NodeAttrs common_attrs(Builder& b, const char* switch_name, const char* onnx_switch) {
  NodeAttrs attrs{{"hidden_size", b.i("hidden_size")},
                  {"direction", b.s("direction", "forward")},
                  {onnx_switch, b.i_between(switch_name, 0, 0, 1)}};
  for (const char* name : {"activation_alpha", "activation_beta"}) {
    if (auto values = b.floats(name); !values.empty()) attrs[name] = std::move(values);
  }
  if (auto names = b.strings("activations"); !names.empty()) attrs["activations"] = names;
  if (const float clip = b.f("clip", -1); clip > 0) attrs["clip"] = clip;
  return attrs;
}

std::vector<ValueId> operands(Builder& b, size_t count) {
  std::vector<ValueId> out;
  for (size_t i = 0; i < count; ++i) {
    ValueId value = i < 3 ? b.in(i) : b.in_or_none(i);
    if (i == 4 && value != kNoValue) value = b.cast(b.index(value), DType::i32);
    out.push_back(value);
  }
  return out;
}

// The rows of w for x and for h.
std::pair<ValueId, ValueId> split_rows(Builder& b, ValueId w, int64_t inputs, int64_t hidden) {
  return {b.node("Slice", 13, {w, b.list({0}), b.list({inputs}), b.list({0})}),
          b.node("Slice", 13, {w, b.list({inputs}), b.list({inputs + hidden}), b.list({0})})};
}

}  // namespace

void lower_common_lstm(Builder& b) {
  const auto made =
      b.nodes("LSTM", kOpset, operands(b, 8), 3, common_attrs(b, "input_forget", "input_forget"));
  for (size_t o = 0; o < 3 && o < b.output_count(); ++o) b.out(o, made[o]);
}

void lower_common_gru(Builder& b) {
  const auto made = b.nodes("GRU", kOpset, operands(b, 6), 2,
                            common_attrs(b, "linear_before_reset", "linear_before_reset"));
  for (size_t o = 0; o < 2 && o < b.output_count(); ++o) b.out(o, made[o]);
}

// x, w [inputs + hidden, 4 * hidden], b, lengths, h, c -> y, h, c and the gates i, j, f, o and
// tanh(c) of every step. DynamicRNNV2 has two matrices: for x and for h.
void lower_dynamic_rnn(Builder& b) {
  b.word("cell_type", "LSTM", {"LSTM"});
  b.word("gate_order", "ijfo", {"ijfo", "ifjo", "ifco"});  // c is another name of j
  check_dynamic(b);
  const bool two = b.type() == "DynamicRNNV2";
  const size_t lengths = two ? 4 : 3;
  Layer layer{};
  if (!b.ok() || !read_layer(b, 4, two ? 2 : 1, layer)) return;
  if (b.has(lengths) || b.flag("use_peephole", false) || b.f("cell_clip", -1) > 0)
    return b.refuse(Code::unsupported_feature,
                    "lengths of sequences, peepholes and cell_clip are not taken; leave them out");
  const int64_t inputs = b.shape(layer.x)[2], hidden = layer.hidden;
  ValueId wx = b.in(1), wh = two ? b.in(2) : kNoValue;
  if (!two) std::tie(wx, wh) = split_rows(b, b.in(1), inputs, hidden);
  ValueId bias = b.has(two ? 3 : 2) ? b.reshape(b.in(two ? 3 : 2), {-1})
                                    : b.filled(b.dtype(layer.x), {4 * hidden}, 0);
  if (!b.has_count(bias, "the bias", 4 * hidden)) return;
  layer.h0 = state(b, lengths + 1, layer);
  const ValueId c0 = state(b, lengths + 2, layer);
  const bool j_second = b.s("gate_order", "ijfo") == "ijfo";
  const int64_t at_j = j_second ? 1 : 2, at_f = j_second ? 2 : 1;
  if (const float more = b.f("forget_bias", 0); more != 0) {
    std::vector<ValueId> parts;
    for (int64_t g = 0; g < 4; ++g) {
      const ValueId one = part(b, bias, g, hidden);
      const ValueId extra = b.scalar(b.dtype(layer.x), more);
      parts.push_back(g == at_f ? b.node("Add", 14, {one, extra}) : one);
    }
    bias = join(b, std::move(parts), 0);
  }
  const std::vector<int64_t> order = {0, 3, at_f, at_j};  // ONNX: i, o, f, c
  std::vector<ValueId> all_bias = reordered_bias(b, bias, order, hidden);
  all_bias.push_back(b.filled(b.dtype(layer.x), {4 * hidden}, 0));
  const auto made =
      b.nodes("LSTM", kOpset,
              {layer.x, reordered(b, wx, order, hidden), reordered(b, wh, order, hidden),
               b.node("Unsqueeze", 13, {join(b, std::move(all_bias), 0), b.list({0})}), kNoValue,
               layer.h0, c0},
              3, {{"hidden_size", hidden}});
  const ValueId h = b.node("Squeeze", 13, {made[0], b.list({1})});
  b.out(0, h);
  if (b.output_count() > 1) b.out(1, h);
  if (b.output_count() <= 2) return;
  const ValueId sums = b.node("Add", 14,
                              {b.node("Add", 14,
                                      {b.node("MatMul", 13, {layer.x, wx}),
                                       b.node("MatMul", 13, {before(b, h, layer), wh})}),
                               bias});
  const auto gate = [&](int64_t index, const char* function) {
    return b.node(function, 13, {part(b, sums, index, hidden)});
  };
  const ValueId i = gate(0, "Sigmoid"), j = gate(at_j, "Tanh"), f = gate(at_f, "Sigmoid"),
                o = gate(3, "Sigmoid");
  const ValueId c = cells(b, layer, i, j, f, c0);
  const ValueId outputs[] = {c, i, j, f, o, b.node("Tanh", 13, {c})};
  for (size_t at = 2; at < b.output_count() && at < 8; ++at) b.out(at, outputs[at - 2]);
}

// x, weights for x and for h [rows, 3 * hidden], their biases, lengths, h -> y, h and update,
// reset, new and hidden_new of every step.
void lower_dynamic_gru(Builder& b) {
  check_dynamic(b);
  b.word("gate_order", "zrh", {"zrh", "rzh"});
  Layer layer{};
  if (!b.ok() || !read_layer(b, 3, 2, layer)) return;
  if (b.has(5) || b.f("cell_clip", -1) > 0 || !b.flag("reset_after", true))
    return b.refuse(Code::unsupported_feature,
                    "lengths of sequences, cell_clip and reset_after = false are not taken");
  const int64_t hidden = layer.hidden;
  const bool z_first = b.s("gate_order", "zrh") == "zrh";
  const int64_t at_z = z_first ? 0 : 1, at_r = 1 - at_z;
  const auto bias = [&](size_t index) {
    return b.has(index) ? b.reshape(b.in(index), {-1})
                        : b.filled(b.dtype(layer.x), {3 * hidden}, 0);
  };
  const ValueId wx = b.in(1), wh = b.in(2), bx = bias(3), bh = bias(4);
  if (!b.has_count(bx, "the bias of x", 3 * hidden) ||
      !b.has_count(bh, "the bias of h", 3 * hidden))
    return;
  layer.h0 = state(b, 6, layer);
  const std::vector<int64_t> order = {at_z, at_r, 2};
  std::vector<ValueId> all = reordered_bias(b, bx, order, hidden);
  for (ValueId one : reordered_bias(b, bh, order, hidden)) all.push_back(one);
  const auto made = b.nodes(
      "GRU", kOpset,
      {layer.x, reordered(b, wx, order, hidden), reordered(b, wh, order, hidden),
       b.node("Unsqueeze", 13, {join(b, std::move(all), 0), b.list({0})}), kNoValue, layer.h0},
      2, {{"hidden_size", hidden}, {"linear_before_reset", int64_t{1}}});
  const ValueId h = b.node("Squeeze", 13, {made[0], b.list({1})});
  b.out(0, h);
  if (b.output_count() > 1) b.out(1, h);
  if (b.output_count() <= 2) return;
  const ValueId from_x = b.node("Add", 14, {b.node("MatMul", 13, {layer.x, wx}), bx});
  const ValueId from_h = b.node("Add", 14, {b.node("MatMul", 13, {before(b, h, layer), wh}), bh});
  const auto gate = [&](int64_t index) {
    return b.node(
        "Sigmoid", 13,
        {b.node("Add", 14, {part(b, from_x, index, hidden), part(b, from_h, index, hidden)})});
  };
  const ValueId update = gate(at_z), reset = gate(at_r), hidden_new = part(b, from_h, 2, hidden);
  const ValueId fresh = b.node(
      "Tanh", 13,
      {b.node("Add", 14, {part(b, from_x, 2, hidden), b.node("Mul", 14, {reset, hidden_new})})});
  const ValueId outputs[] = {update, reset, fresh, hidden_new};
  for (size_t at = 2; at < b.output_count() && at < 6; ++at) b.out(at, outputs[at - 2]);
}

// x, h, c, w [inputs + hidden, 4 * hidden], b -> c, h, i, j, f, o, tanh(c).
void lower_lstm_cell(Builder& b) {
  b.word("activation", "tanh", {"tanh"});
  if (b.f("keep_prob", 1) != 1)
    return b.refuse(Code::unsupported_feature, "keep_prob is {}, expected 1", b.f("keep_prob", 1));
  const ValueId x = b.in(0), h = b.in(1), c0 = b.in(2);
  if (!b.has_rank(c0, "c", 2, 2)) return;
  const int64_t hidden = b.shape(c0).back();
  if (!b.has_count(b.in(4), "the bias", 4 * hidden)) return;
  const ValueId sums = b.node(
      "Add", 14, {b.node("MatMul", 13, {join(b, {x, h}, -1), b.in(3)}), b.reshape(b.in(4), {-1})});
  const ValueId i = b.node("Sigmoid", 13, {part(b, sums, 0, hidden)});
  const ValueId j = b.node("Tanh", 13, {part(b, sums, 1, hidden)});
  const ValueId more = b.scalar(b.dtype(x), b.f("forget_bias", 1));
  const ValueId f = b.node("Sigmoid", 13, {b.node("Add", 14, {part(b, sums, 2, hidden), more})});
  const ValueId o = b.node("Sigmoid", 13, {part(b, sums, 3, hidden)});
  const ValueId c = b.node("Add", 14, {b.node("Mul", 14, {f, c0}), b.node("Mul", 14, {i, j})});
  const ValueId tanh_c = b.node("Tanh", 13, {c});
  const ValueId outputs[] = {c, b.node("Mul", 14, {o, tanh_c}), i, j, f, o, tanh_c};
  for (size_t at = 0; at < b.output_count() && at < 7; ++at) b.out(at, outputs[at]);
}

}  // namespace anynpu::singleop
