// SPDX-License-Identifier: Apache-2.0
// FusedElementwise (domain "anynpu", made by compile/join_elementwise.cpp): a program of steps over
// broadcast inputs, in one pass over memory. All inputs have the type of the output; 16-bit floats
// are computed in float32 and rounded once.
#include <algorithm>
#include <cmath>

#include "ops/blocked_layout.h"
#include "ops/elements/program.h"
#include "ops/elementwise/elementwise.h"
#include "ops/elementwise/pieces.h"
#include "ops/elementwise/wide_engine.h"
#include "ops/parallel.h"
#include "ops/plain_kernel.h"
#include "ops/registry.h"
#include "ops/simd/rows.h"
#include "tensor/half_arrays.h"

namespace anynpu::ops::elementwise {

namespace {

constexpr int64_t kStepPiece = 512;  // elements: registers and pieces fit the first-level cache
constexpr int64_t kWorkOfThread = 32768;  // elements times steps that are worth a thread

Result<Program> program_of(const OpContext& context) {
  size_t inputs = 0;
  for (const Operand& input : context.inputs) inputs += input.present ? 1 : 0;
  return Program::of(context, inputs);
}

Status fused_rule(OpContext& context) {
  ANYNPU_TRY(program_of(context).status());
  return broadcast_rule(context, context.inputs[0].dtype);
}

// Whether `input` has one element for each channel of the output, with its rank.
bool is_by_channel(const Operand& input, const Shape& out) {
  if (!can_block(input) || input.shape.size() != out.size() || input.shape[1] != out[1] ||
      (input.shape[0] != 1 && input.shape[0] != out[0]))
    return false;
  return std::all_of(input.shape.begin() + 2, input.shape.end(), [](int64_t n) { return n == 1; });
}

// How the operands lie: all in blocks of channels, where one of the output's shape does already and
// all others can, else plain.
struct Operands {
  std::vector<Source> sources;
  std::vector<Layout> layouts;
  Layout output = Layout::plain;
};

Operands operands_of(const OpContext& context, const Program& program) {
  const Operand& y = context.outputs[0];
  bool blocked = false, fits = can_block(y) && (program.keeps_finite() || y.shape[1] % kBlock == 0);
  for (size_t i = 0; i < program.inputs; ++i) {
    const Operand& input = context.inputs[i];
    const bool same = input.shape == y.shape;
    blocked = blocked || (same && input.layout == Layout::blocked16);
    fits = fits && (same || element_count(input.shape) == 1 || is_by_channel(input, y.shape));
  }
  Operands made;
  if (blocked && fits) made.output = Layout::blocked16;
  for (size_t i = 0; i < program.inputs; ++i) {
    const Operand& input = context.inputs[i];
    const bool single = element_count(input.shape) == 1;
    const bool channels = made.output == Layout::blocked16 && !single && input.shape != y.shape;
    made.layouts.push_back(single ? Layout::plain : made.output);
    made.sources.push_back(channels ? channel_source(input, y.shape) : source_of(input, y.shape));
  }
  return made;
}

template <Isa isa>
PlanResult plan_fused(const OpContext& context) {
  ANYNPU_ASSIGN(const Program program, program_of(context));
  const Operand& y = context.outputs[0];
  const Operands operands = operands_of(context, program);
  const std::vector<Source> sources = operands.sources;
  const BoundProgram bound(program, isa);
  const DType type = y.dtype;
  const size_t bytes = size_of(type);
  const bool narrows = carried_type(type) != type;
  const auto count = static_cast<size_t>(
      element_count(y.shape) == 0 ? 0 : stored_elements(y.shape, operands.output));
  const auto least = static_cast<size_t>(
      std::max<int64_t>(kStepPiece, kWorkOfThread / static_cast<int64_t>(program.steps.size())));
  auto plan = make_plan([=](const RunArgs& args) {
    parallel(count, least, [&](size_t begin, size_t end) {
      struct alignas(kBufferAlignment) Row {
        float at[kStepPiece];
      };
      Row registers[kMostRegisters], places[kMostProgramInputs], made;
      const float* in[kMostProgramInputs] = {};
      bool fresh = true;  // a single element is laid out once
      for (auto at = static_cast<int64_t>(begin); at < static_cast<int64_t>(end);) {
        const int64_t n = std::min(kStepPiece, static_cast<int64_t>(end) - at);
        for (size_t i = 0; i < sources.size(); ++i) {
          if (!fresh && sources[i].single && !sources[i].dense) continue;
          const int64_t length = fresh && sources[i].single ? kStepPiece : n;
          std::byte* place = reinterpret_cast<std::byte*>(places[i].at);
          in[i] = reinterpret_cast<const float*>(
              piece_of(sources[i], args.inputs[i], at, sources[i].dense ? n : length, place));
        }
        std::byte* into = args.outputs[0] + static_cast<size_t>(at) * bytes;
        float* result = narrows ? made.at : reinterpret_cast<float*>(into);
        bound.run(in, registers[0].at, kStepPiece, result, n);
        if (narrows) narrow(type, made.at, into, static_cast<size_t>(n));
        at += n;
        fresh = false;
      }
    });
  });
  plan->input_layouts = operands.layouts;
  plan->output_layouts = {operands.output};
  for (size_t i = sources.size(); i-- > 0;) {
    if (sources[i].dense && context.inputs[i].shape == y.shape)
      plan->in_place_input = static_cast<int>(i);
  }
  return plan;
}

template <Isa isa>
Status can_run_fused(const OpContext&) {
  return check_isa(isa);
}

double step_of(StepOp op, double a, double b) {
  switch (op) {
    case StepOp::neg:
      return -a;
    case StepOp::abs:
      return std::fabs(a);
    case StepOp::square:
      return a * a;
    case StepOp::sqrt:
      return std::sqrt(a);
    case StepOp::reciprocal:
      return 1 / a;
    case StepOp::exp:
      return std::exp(a);
    case StepOp::log:
      return std::log(a);
    case StepOp::erf:
      return std::erf(a);
    case StepOp::tanh:
      return std::tanh(a);
    case StepOp::sigmoid:
      return 1 / (1 + std::exp(-a));
    case StepOp::softplus:
      return std::max(a, 0.0) + std::log1p(std::exp(-std::fabs(a)));
    case StepOp::relu:
      return a < 0 ? 0 : a;
    case StepOp::hard_swish:
      return a * std::clamp(a + 3, 0.0, 6.0) / 6;
    case StepOp::gelu:
      return 0.5 * a * (1 + std::erf(a * std::sqrt(0.5)));
    case StepOp::gelu_tanh:
      return 0.5 * a * (1 + std::tanh(0.7978845608028654 * (a + 0.044715 * a * a * a)));
    case StepOp::silu:  // its limit at -infinity, as Swish has it
      return std::isinf(a) && a < 0 ? 0 : a / (1 + std::exp(-a));
    case StepOp::mish:
      return a * std::tanh(std::max(a, 0.0) + std::log1p(std::exp(-std::fabs(a))));
    case StepOp::sin:
      return std::sin(a);
    case StepOp::cos:
      return std::cos(a);
    case StepOp::add:
      return a + b;
    case StepOp::sub:
      return a - b;
    case StepOp::mul:
      return a * b;
    case StepOp::div:
      return a / b;
    case StepOp::max:
      return std::isnan(a) || a > b ? a : b;
    case StepOp::min:
      return std::isnan(a) || a < b ? a : b;
    case StepOp::leaky:
      return a < 0 ? a * b : a;
    case StepOp::elu:
      return a < 0 ? b * std::expm1(a) : a;
  }
  return a;
}

// Every case, in double: the oracle of the tests.
PlanResult plan_fused_reference(const OpContext& context) {
  ANYNPU_ASSIGN(const Program program, program_of(context));
  const Operand& y = context.outputs[0];
  std::vector<Source> sources;
  std::vector<LoadBlock<double>> loads;
  for (size_t i = 0; i < program.inputs; ++i) {
    sources.push_back(source_of(context.inputs[i], y.shape));
    loads.push_back(load_block<double>(context.inputs[i].dtype));
  }
  const auto store = store_block<double>(y.dtype);
  const int64_t count = element_count(y.shape);
  return make_plan([=](const RunArgs& args) {
    std::vector<double> results(program.steps.size());
    for (int64_t at = 0; at < count; ++at) {
      const auto value = [&](int64_t operand) {
        if (operand < 0)
          return static_cast<double>(program.numbers[static_cast<size_t>(-1 - operand)]);
        const auto i = static_cast<size_t>(operand);
        if (i >= program.inputs) return results[i - program.inputs];
        const Source& s = sources[i];
        int64_t index = at, offset = 0;
        for (size_t d = s.extent.size(); d-- > 0; index /= s.extent[d])
          offset += index % s.extent[d] * s.stride[d];
        double element = 0;
        loads[i](args.inputs[i], offset, 1, &element, 1);
        return element;
      };
      for (size_t k = 0; k < program.steps.size(); ++k) {
        const ProgramStep& step = program.steps[k];
        results[k] = step_of(step.op, value(step.a), value(step.b));
      }
      store(args.outputs[0], at, &results.back(), 1);
    }
  });
}

}  // namespace

void register_fused(Registry& registry) {
  constexpr DTypeSet kTypes{DType::f32, DType::f16, DType::bf16};
  registry.add(OpSchema{.name = "FusedElementwise",
                        .domain = "anynpu",
                        .since = 1,
                        .inputs = {{"inputs", "T", Presence::variadic}},
                        .outputs = {{"Y", "T"}},
                        .types = {{"T", kTypes}},
                        .attrs = program_attributes(),
                        .traits = OpTraits::linear().with(PrecisionClass::gray),
                        .shape = fused_rule});
  registry.add_kernels(
      "FusedElementwise",
      {// Steps over pieces that stay in the cache, in AVX-512 or AVX2 registers.
       {"fused_avx512", kTypes, can_run_fused<Isa::avx512>, create_plain<plan_fused<Isa::avx512>>},
       {"fused_avx2", kTypes, can_run_fused<Isa::avx2>, create_plain<plan_fused<Isa::avx2>>},
       {"fused_baseline", kTypes, nullptr, create_plain<plan_fused<Isa::baseline>>},
       // Element by element, in double: the oracle of the tests.
       {"fused_reference", kTypes, nullptr, create_plain<plan_fused_reference>}},
      "anynpu");
}

}  // namespace anynpu::ops::elementwise
