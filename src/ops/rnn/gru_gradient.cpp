// SPDX-License-Identifier: Apache-2.0
// GruGateGrad (domain anynpu): backpropagation through time of a GRU layer with
// linear_before_reset = 1 (the reset gate multiplies the product with the state). Outputs:
// gradients of the gate pre-activations of every step, the input part and the recurrent part, and
// of the initial state. Gradients of inputs and weights are matrix products of these.
#include <algorithm>

#include "ops/parallel.h"
#include "ops/registry.h"
#include "ops/rnn/rnn.h"
#include "ops/runtime_params.h"

namespace anynpu::ops::rnn {

namespace gru_gradient {

namespace {

// The operands, in order.
enum : size_t { kWeights, kFirst, kStates, kDy, kDh, kUpdate, kReset, kNew, kHiddenNew };

Status rule(OpContext& context) {
  const Operand &w = context.inputs[kWeights], &h = context.inputs[kStates];
  for (Operand& output : context.outputs) output.dtype = h.dtype;
  for (const Operand& input : context.inputs) {
    if (!input.fully_known()) return {};
  }
  bool fits = h.rank() == 3 && w.shape == Shape{3 * h.shape[2], h.shape[2]};
  for (size_t i = kFirst; fits && i <= kHiddenNew; ++i) {
    const bool state = i == kFirst || i == kDh;
    fits = context.inputs[i].shape == (state ? Shape(h.shape.begin() + 1, h.shape.end()) : h.shape);
  }
  if (!fits) {
    return fail(
        Code::shape_mismatch,
        "{}: weights {} and states {}, expected [3 * hidden, hidden], [steps, batch, hidden] "
        "and operands of these shapes",
        context.label(), to_string(w.shape), to_string(h.shape));
  }
  const Shape gates = {h.shape[0], h.shape[1], 3 * h.shape[2]};
  ANYNPU_TRY(set_output(context, 1, h.dtype, gates));
  ANYNPU_TRY(set_output(context, 2, h.dtype, Shape(h.shape.begin() + 1, h.shape.end())));
  return set_output(context, 0, h.dtype, gates);
}

struct Layer {
  int64_t steps, batch, hidden;
  int64_t at_z, at_r;  // places of these gates among the three
};

// One sequence.
template <typename T>
void backward(const Layer& s, const RunArgs& args, int64_t n) {
  T* dh = output_of<T>(args, 2) + n * s.hidden;
  std::copy_n(input_of<T>(args, kDh) + n * s.hidden, s.hidden, dh);
  for (int64_t t = s.steps - 1; t >= 0; --t) {
    const int64_t row = (t * s.batch + n) * s.hidden;
    const auto of = [&](size_t index) { return input_of<T>(args, index) + row; };
    const T *dy = of(kDy), *z = of(kUpdate), *r = of(kReset), *fresh = of(kNew),
            *from_h = of(kHiddenNew);
    const T* before = t > 0 ? input_of<T>(args, kStates) + row - s.batch * s.hidden
                            : input_of<T>(args, kFirst) + n * s.hidden;
    T *of_x = output_of<T>(args, 0) + row * 3, *of_h = output_of<T>(args, 1) + row * 3;
    for (int64_t k = 0; k < s.hidden; ++k) {
      const T g = dh[k] + dy[k];
      const T dn = g * (1 - z[k]) * (1 - fresh[k] * fresh[k]);
      const T dz = g * (before[k] - fresh[k]) * z[k] * (1 - z[k]);
      const T dr = dn * from_h[k] * r[k] * (1 - r[k]);
      of_x[s.at_z * s.hidden + k] = of_h[s.at_z * s.hidden + k] = dz;
      of_x[s.at_r * s.hidden + k] = of_h[s.at_r * s.hidden + k] = dr;
      of_x[2 * s.hidden + k] = dn;
      of_h[2 * s.hidden + k] = dn * r[k];
      dh[k] = g * z[k];
    }
    for (int64_t gate = 0; gate < 3 * s.hidden; ++gate) {
      const T* w = input_of<T>(args, kWeights) + gate * s.hidden;
      for (int64_t k = 0; k < s.hidden; ++k) dh[k] += of_h[gate] * w[k];
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
  const Shape& h = context.inputs[kStates].shape;
  const bool z_first = context.int_attr("z_first") != 0;
  const Layer layer{h[0], h[1], h[2], z_first ? 0 : 1, z_first ? 1 : 0};
  return context.inputs[kStates].dtype == DType::f32 ? plan_of<float>(layer)
                                                     : plan_of<double>(layer);
}

}  // namespace

}  // namespace gru_gradient

void register_gru_gradient(Registry& registry) {
  constexpr DTypeSet kTypes{DType::f32, DType::f64};
  OpSchema schema{.name = "GruGateGrad",
                  .domain = "anynpu",
                  .since = 1,
                  .outputs = {{"of_x", "T"}, {"of_h", "T"}, {"dh0", "T"}},
                  .types = {{"T", kTypes}},
                  .attrs = {{"z_first", AttrKind::i, int64_t{1}}},
                  .traits = OpTraits::general(),
                  .shape = gru_gradient::rule};
  for (const char* name :
       {"weights", "h0", "h", "dy", "dh", "update", "reset", "new", "hidden_new"})
    schema.inputs.push_back({name, "T"});
  registry.add(schema);
  registry.add(KernelDef{.op = "GruGateGrad",
                         .name = "reference",
                         .domain = "anynpu",
                         .types = kTypes,
                         .create = create_plain<gru_gradient::plan>});
}

}  // namespace anynpu::ops::rnn
