// SPDX-License-Identifier: Apache-2.0
// LstmGateGrad (domain anynpu): backpropagation through time of an LSTM layer. Outputs: gradients
// of the pre-activations of the four gates of every step, and of the initial states. Gradients of
// inputs and weights are matrix products of these, which other nodes compute.
#include <algorithm>
#include <vector>

#include "ops/parallel.h"
#include "ops/registry.h"
#include "ops/rnn/rnn.h"
#include "ops/runtime_params.h"

namespace anynpu::ops::rnn {

namespace lstm_gradient {

namespace {

// The operands, in order.
enum : size_t { kWeights, kFirstCell, kCells, kDy, kDh, kDc, kI, kJ, kF, kO, kTanh };

Status rule(OpContext& context) {
  const Operand &w = context.inputs[kWeights], &c = context.inputs[kCells];
  for (Operand& output : context.outputs) output.dtype = c.dtype;
  for (const Operand& input : context.inputs) {
    if (!input.fully_known()) return {};
  }
  bool fits = c.rank() == 3 && w.shape == Shape{4 * c.shape[2], c.shape[2]};
  for (size_t i = kFirstCell; fits && i <= kTanh; ++i) {
    const bool state = i == kFirstCell || i == kDh || i == kDc;
    fits = context.inputs[i].shape == (state ? Shape(c.shape.begin() + 1, c.shape.end()) : c.shape);
  }
  if (!fits) {
    return fail(
        Code::shape_mismatch,
        "{}: weights {} and cells {}, expected [4 * hidden, hidden], [steps, batch, hidden] "
        "and operands of these shapes",
        context.label(), to_string(w.shape), to_string(c.shape));
  }
  const Shape state(c.shape.begin() + 1, c.shape.end());
  ANYNPU_TRY(set_output(context, 1, c.dtype, state));
  ANYNPU_TRY(set_output(context, 2, c.dtype, state));
  return set_output(context, 0, c.dtype, {c.shape[0], c.shape[1], 4 * c.shape[2]});
}

struct Layer {
  int64_t steps, batch, hidden;
  int64_t at_j, at_f;  // places of these gates among the four
};

// One sequence; `dh` and `dc` are the gradients of its states, [hidden].
template <typename T>
void backward(const Layer& s, const RunArgs& args, int64_t n) {
  const int64_t wide = 4 * s.hidden;
  T *dh = output_of<T>(args, 1) + n * s.hidden, *dc = output_of<T>(args, 2) + n * s.hidden;
  std::copy_n(input_of<T>(args, kDh) + n * s.hidden, s.hidden, dh);
  std::copy_n(input_of<T>(args, kDc) + n * s.hidden, s.hidden, dc);
  const T* weights = input_of<T>(args, kWeights);
  for (int64_t t = s.steps - 1; t >= 0; --t) {
    const int64_t row = (t * s.batch + n) * s.hidden;
    const auto of = [&](size_t index) { return input_of<T>(args, index) + row; };
    const T *dy = of(kDy), *i = of(kI), *j = of(kJ), *f = of(kF), *o = of(kO), *tanh = of(kTanh);
    const T* before = t > 0 ? input_of<T>(args, kCells) + row - s.batch * s.hidden
                            : input_of<T>(args, kFirstCell) + n * s.hidden;
    T* gates = output_of<T>(args, 0) + row * 4;
    T *di = gates, *dj = gates + s.at_j * s.hidden, *df = gates + s.at_f * s.hidden,
      *d_out = gates + 3 * s.hidden;
    for (int64_t k = 0; k < s.hidden; ++k) {
      const T g = dh[k] + dy[k];
      const T cell = dc[k] + g * o[k] * (1 - tanh[k] * tanh[k]);
      d_out[k] = g * tanh[k] * o[k] * (1 - o[k]);
      di[k] = cell * j[k] * i[k] * (1 - i[k]);
      dj[k] = cell * i[k] * (1 - j[k] * j[k]);
      df[k] = cell * before[k] * f[k] * (1 - f[k]);
      dc[k] = cell * f[k];
    }
    std::fill_n(dh, s.hidden, T{0});
    for (int64_t gate = 0; gate < wide; ++gate) {
      const T g = gates[gate];
      const T* w = weights + gate * s.hidden;
      for (int64_t k = 0; k < s.hidden; ++k) dh[k] += g * w[k];
    }
  }
}

template <typename T>
std::unique_ptr<KernelPlan> plan_of(const Layer& layer) {
  return make_plan([layer](const RunArgs& args) {
    parallel(static_cast<size_t>(layer.batch), 1, [&](size_t begin, size_t end) {
      for (size_t n = begin; n < end; ++n) backward<T>(layer, args, static_cast<int64_t>(n));
    });
  });
}

PlanResult plan(const OpContext& context) {
  const Shape& c = context.inputs[kCells].shape;
  const bool j_second = context.int_attr("j_second") != 0;
  const Layer layer{c[0], c[1], c[2], j_second ? 1 : 2, j_second ? 2 : 1};
  return context.inputs[kCells].dtype == DType::f32 ? plan_of<float>(layer)
                                                    : plan_of<double>(layer);
}

}  // namespace

}  // namespace lstm_gradient

void register_lstm_gradient(Registry& registry) {
  constexpr DTypeSet kTypes{DType::f32, DType::f64};
  OpSchema schema{.name = "LstmGateGrad",
                  .domain = "anynpu",
                  .since = 1,
                  .outputs = {{"gates", "T"}, {"dh0", "T"}, {"dc0", "T"}},
                  .types = {{"T", kTypes}},
                  .attrs = {{"j_second", AttrKind::i, int64_t{1}}},
                  .traits = OpTraits::general(),
                  .shape = lstm_gradient::rule};
  for (const char* name : {"weights", "c0", "c", "dy", "dh", "dc", "i", "j", "f", "o", "tanh_c"})
    schema.inputs.push_back({name, "T"});
  registry.add(schema);
  registry.add(KernelDef{.op = "LstmGateGrad",
                         .name = "reference",
                         .domain = "anynpu",
                         .types = kTypes,
                         .create = create_plain<lstm_gradient::plan>});
}

}  // namespace anynpu::ops::rnn
