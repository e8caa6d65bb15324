// SPDX-License-Identifier: Apache-2.0
// RNN, GRU and LSTM: schemas, and the reference, one loop over time with a cell per operator, in
// double. Both directions, lengths per batch, initial states, peepholes, clip, layout.
#include "ops/rnn/rnn.h"

#include <algorithm>
#include <cmath>

#include "ops/elements/wide.h"
#include "ops/families.h"
#include "ops/registry.h"
#include "ops/runtime_params.h"
#include "ops/widen.h"

namespace anynpu::ops::rnn {

namespace {

constexpr double kNone = 0;
const CellFunction kFunctions[] = {
    {"Sigmoid", [](double x, double, double) { return 1 / (1 + std::exp(-x)); }, kNone, kNone},
    {"Tanh", [](double x, double, double) { return std::tanh(x); }, kNone, kNone},
    {"Relu", [](double x, double, double) { return x > 0 ? x : 0; }, kNone, kNone},
    {"Affine", [](double x, double a, double b) { return a * x + b; }, 1, 0},
    {"LeakyRelu", [](double x, double a, double) { return x < 0 ? a * x : x; }, 0.01, kNone},
    {"ThresholdedRelu", [](double x, double a, double) { return x > a ? x : 0; }, 1, kNone},
    {"ScaledTanh", [](double x, double a, double b) { return a * std::tanh(b * x); }, 1, 1},
    {"HardSigmoid", [](double x, double a, double b) { return std::clamp(a * x + b, 0.0, 1.0); },
     0.2, 0.5},
    {"Elu", [](double x, double a, double) { return x < 0 ? a * std::expm1(x) : x; }, 1, kNone},
    {"Softsign", [](double x, double, double) { return x / (1 + std::fabs(x)); }, kNone, kNone},
    {"Softplus",
     [](double x, double, double) {
       return std::fmax(x, 0.0) + std::log1p(std::exp(-std::fabs(x)));
     },
     kNone, kNone},
};

template <typename T>
std::vector<T> list_attr(const OpContext& context, const char* key) {
  const auto found = context.node->attrs.find(key);
  if (found == context.node->attrs.end()) return {};
  const auto* list = std::get_if<std::vector<T>>(&found->second);
  return list ? *list : std::vector<T>{};
}

Status read_activations(const OpContext& context, RnnShape& s) {
  std::vector<std::string> names = list_attr<std::string>(context, "activations");
  const auto alphas = list_attr<float>(context, "activation_alpha"),
             betas = list_attr<float>(context, "activation_beta");
  s.per_direction = s.cell == Cell::rnn ? 1 : s.cell == Cell::gru ? 2 : 3;
  const std::vector<std::string> usual = s.cell == Cell::rnn ? std::vector<std::string>{"Tanh"}
                                         : s.cell == Cell::gru
                                             ? std::vector<std::string>{"Sigmoid", "Tanh"}
                                             : std::vector<std::string>{"Sigmoid", "Tanh", "Tanh"};
  if (names.empty()) {
    for (int64_t d = 0; d < s.directions; ++d)
      names.insert(names.end(), usual.begin(), usual.end());
  }
  if (names.size() != s.per_direction * static_cast<size_t>(s.directions)) {
    return fail(Code::invalid_argument, "{}: {} activations, expected {}", context.label(),
                names.size(), s.per_direction * static_cast<size_t>(s.directions));
  }
  for (size_t i = 0; i < names.size(); ++i) {
    const auto* row =
        std::find_if(std::begin(kFunctions), std::end(kFunctions), [&](const CellFunction& f) {
          return f.name.size() == names[i].size() &&
                 std::equal(f.name.begin(), f.name.end(), names[i].begin(),
                            [](char a, char b) { return (a | 32) == (b | 32); });
        });
    if (row == std::end(kFunctions)) {
      return fail(Code::invalid_argument, "{}: activation '{}' is not one of ONNX", context.label(),
                  names[i]);
    }
    s.functions.push_back({row->name, row->f,
                           i < alphas.size() ? static_cast<double>(alphas[i]) : row->alpha,
                           i < betas.size() ? static_cast<double>(betas[i]) : row->beta});
  }
  return {};
}

}  // namespace

Result<RnnShape> rnn_shape_of(const OpContext& context) {
  RnnShape s;
  const std::string_view op = context.schema->name;
  s.cell = op == "LSTM" ? Cell::lstm : op == "GRU" ? Cell::gru : Cell::rnn;
  s.gates = s.cell == Cell::lstm ? 4 : s.cell == Cell::gru ? 3 : 1;
  const std::string direction = context.string_attr("direction");
  if (direction != "forward" && direction != "reverse" && direction != "bidirectional") {
    return fail(Code::invalid_argument,
                "{}: direction is '{}', expected forward, reverse or bidirectional",
                context.label(), direction);
  }
  s.directions = direction == "bidirectional" ? 2 : 1;
  s.reverse = direction == "reverse";
  s.batch_first = context.int_attr("layout") != 0;
  s.input_forget = context.int_attr("input_forget") != 0;
  s.linear_before_reset = context.int_attr("linear_before_reset") != 0;
  s.clip = context.has_attr("clip") ? static_cast<double>(context.float_attr("clip")) : 0;
  const Shape &x = context.inputs[0].shape, &w = context.inputs[1].shape,
              &r = context.inputs[2].shape;
  if (x.size() == 3 && r.size() == 3) {
    s.time = x[s.batch_first ? 1 : 0], s.batch = x[s.batch_first ? 0 : 1], s.input = x[2],
    s.hidden = r[2];
  }
  const auto is = [&](size_t input, const Shape& shape) {
    return !context.has_input(input) || context.inputs[input].shape == shape;
  };
  const Shape state = s.batch_first ? Shape{s.batch, s.directions, s.hidden}
                                    : Shape{s.directions, s.batch, s.hidden};
  const int64_t wide = s.wide();
  if (x.size() != 3 || s.hidden < 1 || w != Shape{s.directions, wide, s.input} ||
      r != Shape{s.directions, wide, s.hidden} || !is(3, {s.directions, 2 * wide}) ||
      !is(4, {s.batch}) || !is(5, state) || !is(6, state) || !is(7, {s.directions, 3 * s.hidden})) {
    return fail(Code::shape_mismatch,
                "{}: X {}, W {} and R {} (or another input) do not fit {} direction(s)",
                context.label(), to_string(x), to_string(w), to_string(r), s.directions);
  }
  if (context.has_attr("hidden_size") && context.int_attr("hidden_size") != s.hidden) {
    return fail(Code::shape_mismatch, "{}: hidden_size is {}, the weights R have {}",
                context.label(), context.int_attr("hidden_size"), s.hidden);
  }
  ANYNPU_TRY(read_activations(context, s));
  return s;
}

int64_t sequence_length(const RnnShape& s, const RunArgs& args, int64_t b) {
  if (args.inputs.size() < 5 || !args.inputs[4]) return s.time;
  return std::clamp<int64_t>(reinterpret_cast<const int32_t*>(args.inputs[4])[b], 0, s.time);
}

namespace {

Status rnn_rule(OpContext& context) {
  const DType type = context.inputs[0].dtype;
  for (Operand& output : context.outputs) output.dtype = type;
  for (const Operand& input : context.inputs) {
    if (input.present && !input.fully_known()) return {};
  }
  ANYNPU_ASSIGN(const RnnShape s, rnn_shape_of(context));
  const Shape state = s.batch_first ? Shape{s.batch, s.directions, s.hidden}
                                    : Shape{s.directions, s.batch, s.hidden};
  ANYNPU_TRY(set_output(context, 0, type,
                        s.batch_first ? Shape{s.batch, s.time, s.directions, s.hidden}
                                      : Shape{s.time, s.directions, s.batch, s.hidden}));
  ANYNPU_TRY(set_output(context, 1, type, state));
  return set_output(context, 2, type, state);
}

// One sequence of one direction. Buffers: h, c, next h, gates from x, gates from h.
class Sequence {
 public:
  Sequence(const RnnShape& shape, DType type, const RunArgs& args, double* memory)
      : s_(shape),
        load_(load_block<double>(type)),
        store_(store_block<double>(type)),
        args_(args),
        h_(memory),
        c_(h_ + s_.hidden),
        from_x_(c_ + s_.hidden),
        from_h_(from_x_ + s_.gates * s_.hidden),
        next_(from_h_ + s_.gates * s_.hidden) {}

  void run(int64_t direction, int64_t b) {
    d_ = direction;
    const int64_t state = s_.state(d_, b);
    for (int64_t i = 0; i < s_.hidden; ++i) {
      h_[i] = input(5, state + i);
      c_[i] = input(6, state + i);
    }
    const int64_t length = sequence_length(s_, args_, b);
    for (int64_t step = 0; step < s_.time; ++step) {
      const bool live = step < length;
      const int64_t t = live && s_.backwards(d_) ? length - 1 - step : step;
      if (live) cell(s_.x(t, b));
      const int64_t y = s_.y(d_, t, b);
      for (int64_t i = 0; i < s_.hidden; ++i) output(0, y + i, live ? h_[i] : 0);
    }
    for (int64_t i = 0; i < s_.hidden; ++i) {
      output(1, state + i, h_[i]);
      output(2, state + i, c_[i]);
    }
  }

 private:
  double input(size_t index, int64_t at) const {
    if (index >= args_.inputs.size() || !args_.inputs[index]) return 0;
    double value = 0;
    load_(args_.inputs[index], at, 0, &value, 1);
    return value;
  }
  void output(size_t index, int64_t at, double value) const {
    if (index < args_.outputs.size() && args_.outputs[index])
      store_(args_.outputs[index], at, &value, 1);
  }
  double clipped(double x) const { return s_.clip > 0 ? std::clamp(x, -s_.clip, s_.clip) : x; }
  const CellFunction& f(size_t i) const { return s_.function(d_, i); }

  // Sum of products with the recurrent weights of one gate, with its bias.
  double recurrent(int64_t gate, const double* h) const {
    const int64_t wide = s_.gates * s_.hidden;
    double sum = input(3, d_ * 2 * wide + wide + gate);
    for (int64_t k = 0; k < s_.hidden; ++k)
      sum += input(2, (d_ * wide + gate) * s_.hidden + k) * h[k];
    return sum;
  }

  void cell(int64_t x) {
    const int64_t wide = s_.gates * s_.hidden, n = s_.hidden;
    for (int64_t gate = 0; gate < wide; ++gate) {
      double sum = input(3, d_ * 2 * wide + gate);
      for (int64_t k = 0; k < s_.input; ++k)
        sum += input(1, (d_ * wide + gate) * s_.input + k) * input(0, x + k);
      from_x_[gate] = sum;
      from_h_[gate] = recurrent(gate, h_);
    }
    if (s_.cell == Cell::rnn) {
      for (int64_t i = 0; i < n; ++i) next_[i] = f(0)(clipped(from_x_[i] + from_h_[i]));
    } else if (s_.cell == Cell::gru) {
      gru(n);
    } else {
      lstm(n);
    }
    std::copy(next_, next_ + n, h_);
  }

  void gru(int64_t n) {  // gates z, r, h
    for (int64_t i = 0; i < 2 * n; ++i) from_x_[i] = f(0)(clipped(from_x_[i] + from_h_[i]));
    double* reset = next_ + n;
    for (int64_t i = 0; i < n; ++i) reset[i] = from_x_[n + i] * h_[i];
    for (int64_t i = 0; i < n; ++i) {
      const double z = from_x_[i];
      const double inner = s_.linear_before_reset ? from_x_[n + i] * from_h_[2 * n + i]
                                                  : recurrent(2 * n + i, reset);
      next_[i] = (1 - z) * f(1)(clipped(from_x_[2 * n + i] + inner)) + z * h_[i];
    }
  }

  void lstm(int64_t n) {  // gates i, o, f, c; peepholes i, o, f
    for (int64_t i = 0; i < n; ++i) {
      const auto gate = [&](int64_t g) { return from_x_[g * n + i] + from_h_[g * n + i]; };
      const auto peephole = [&](int64_t g) { return input(7, d_ * 3 * n + g * n + i); };
      const double in = f(0)(clipped(gate(0) + peephole(0) * c_[i]));
      const double forget = s_.input_forget ? 1 - in : f(0)(clipped(gate(2) + peephole(2) * c_[i]));
      const double cell = forget * c_[i] + in * f(1)(clipped(gate(3)));
      const double out = f(0)(clipped(gate(1) + peephole(1) * cell));
      c_[i] = cell;
      next_[i] = out * f(2)(cell);
    }
  }

  const RnnShape& s_;
  LoadBlock<double> load_;
  StoreBlock<double> store_;
  const RunArgs& args_;
  double *h_, *c_, *from_x_, *from_h_, *next_;
  int64_t d_ = 0;
};

}  // namespace

PlanResult plan_rnn(const OpContext& context) {
  ANYNPU_ASSIGN(RnnShape s, rnn_shape_of(context));
  const DType type = context.inputs[0].dtype;
  const auto bytes = static_cast<size_t>(s.hidden * (4 + 2 * s.gates)) * sizeof(double);
  auto plan = make_plan([=](const RunArgs& args) {
    Sequence sequence(s, type, args, reinterpret_cast<double*>(args.workspace));
    for (int64_t d = 0; d < s.directions; ++d) {
      for (int64_t b = 0; b < s.batch; ++b) sequence.run(d, b);
    }
  });
  plan->workspace_bytes = bytes;
  return plan;
}

void add_schemas(Registry& registry) {
  const std::vector<AttrSchema> common = {{"activation_alpha", AttrKind::floats},
                                          {"activation_beta", AttrKind::floats},
                                          {"activations", AttrKind::strings},
                                          {"clip", AttrKind::f},
                                          {"direction", AttrKind::s, std::string_view("forward")},
                                          {"hidden_size", AttrKind::i},
                                          {"layout", AttrKind::i, int64_t{0}}};
  const auto optional = [](std::string_view name, std::string_view type) {
    return FormalOperand{name, type, Presence::optional};
  };
  for (std::string_view name : {"RNN", "GRU", "LSTM"}) {
    OpSchema schema{.name = name,
                    .since = 7,
                    .inputs = {{"X", "T"},
                               {"W", "T"},
                               {"R", "T"},
                               optional("B", "T"),
                               optional("sequence_lens", "I"),
                               optional("initial_h", "T")},
                    .outputs = {{"Y", "T", Presence::optional}, {"Y_h", "T", Presence::optional}},
                    .types = {{"T", kFloats}, {"I", {DType::i32}}},
                    .attrs = common,
                    .traits = OpTraits::general(),
                    .shape = rnn_rule};
    if (name != "RNN") schema.traits = schema.traits.with(Rounding::every_step);
    if (name == "GRU") schema.attrs.push_back({"linear_before_reset", AttrKind::i, int64_t{0}});
    if (name == "LSTM") {
      schema.attrs.push_back({"input_forget", AttrKind::i, int64_t{0}});
      schema.inputs.insert(schema.inputs.end(), {optional("initial_c", "T"), optional("P", "T")});
      schema.outputs.push_back({"Y_c", "T", Presence::optional});
    }
    registry.add(schema);
  }
}

}  // namespace anynpu::ops::rnn
