// SPDX-License-Identifier: Apache-2.0
#include "ops/elements/program.h"

#include <algorithm>
#include <iterator>

#include "ops/simd/rows.h"

namespace anynpu::ops {

namespace {

struct StepName {
  StepOp op;
  std::string_view name;
  bool finite = true;  // of finite operands, but for overflow
};

constexpr StepName kNames[] = {
    {StepOp::neg, "Neg"},
    {StepOp::abs, "Abs"},
    {StepOp::square, "Square"},
    {StepOp::sqrt, "Sqrt", false},
    {StepOp::reciprocal, "Reciprocal", false},
    {StepOp::exp, "Exp", false},
    {StepOp::log, "Log", false},
    {StepOp::erf, "Erf"},
    {StepOp::tanh, "Tanh"},
    {StepOp::sigmoid, "Sigmoid"},
    {StepOp::softplus, "Softplus"},
    {StepOp::relu, "Relu"},
    {StepOp::hard_swish, "HardSwish"},
    {StepOp::gelu, "Gelu"},
    {StepOp::gelu_tanh, "GeluTanh"},
    {StepOp::silu, "Swish"},
    {StepOp::mish, "Mish"},
    {StepOp::sin, "Sin"},
    {StepOp::cos, "Cos"},
    {StepOp::add, "Add"},
    {StepOp::sub, "Sub"},
    {StepOp::mul, "Mul"},
    {StepOp::div, "Div", false},
    {StepOp::max, "Max"},
    {StepOp::min, "Min"},
    {StepOp::leaky, "PRelu"},
    {StepOp::elu, "Elu"},
};
static_assert(std::size(kNames) == kStepOps);

// The step that reads each result last; the size of the program where none does.
std::vector<size_t> last_uses(const Program& p) {
  std::vector<size_t> last(p.steps.size(), p.steps.size());
  for (size_t k = 0; k < p.steps.size(); ++k) {
    for (const int64_t operand : {p.steps[k].a, p.steps[k].b}) {
      const auto at = operand - static_cast<int64_t>(p.inputs);
      if (at >= 0) last[static_cast<size_t>(at)] = k;
    }
  }
  return last;
}

// The register of each result: free again behind its last use, so that a step may write over what
// it reads.
std::vector<size_t> assign_registers(const Program& p, size_t& used) {
  const std::vector<size_t> last = last_uses(p);
  std::vector<size_t> place(p.steps.size(), 0);
  std::vector<bool> busy;
  for (size_t k = 0; k + 1 < p.steps.size(); ++k) {
    for (size_t j = 0; j < k; ++j) {
      if (last[j] == k) busy[place[j]] = false;
    }
    place[k] = static_cast<size_t>(std::find(busy.begin(), busy.end(), false) - busy.begin());
    if (place[k] == busy.size()) busy.push_back(false);
    busy[place[k]] = last[k] < p.steps.size();
  }
  used = busy.size();
  return place;
}

template <typename T>
std::vector<T> list_attr(const OpContext& context, const char* key) {
  const auto found = context.node->attrs.find(key);
  if (found == context.node->attrs.end()) return {};
  const auto* list = std::get_if<std::vector<T>>(&found->second);
  return list ? *list : std::vector<T>();
}

}  // namespace

std::string_view name_of(StepOp op) {
  return std::find_if(std::begin(kNames), std::end(kNames),
                      [op](const StepName& n) { return n.op == op; })
      ->name;
}

std::optional<StepOp> step_called(std::string_view name) {
  for (const StepName& row : kNames) {
    if (row.name == name) return row.op;
  }
  return {};
}

std::vector<AttrSchema> program_attributes() {
  return {
      {"steps", AttrKind::strings}, {"operands", AttrKind::ints}, {"numbers", AttrKind::floats}};
}

Result<Program> Program::of(const OpContext& context, size_t inputs_given) {
  Program program;
  program.inputs = inputs_given;
  const auto names = list_attr<std::string>(context, "steps");
  const auto operands = list_attr<int64_t>(context, "operands");
  program.numbers = list_attr<float>(context, "numbers");
  const auto inputs = static_cast<int64_t>(program.inputs);
  const auto numbers = static_cast<int64_t>(program.numbers.size());
  if (names.empty() || names.size() > kMostSteps || operands.size() != 2 * names.size() ||
      program.inputs > kMostProgramInputs) {
    return fail(Code::invalid_argument,
                "{}: {} steps with {} operands over {} inputs, expected 1 to {} steps with two "
                "each over at most {}",
                context.label(), names.size(), operands.size(), program.inputs, kMostSteps,
                kMostProgramInputs);
  }
  for (size_t k = 0; k < names.size(); ++k) {
    const auto op = step_called(names[k]);
    if (!op) return fail(Code::invalid_argument, "{}: no step '{}'", context.label(), names[k]);
    const ProgramStep step{*op, operands[2 * k], operands[2 * k + 1]};
    for (const int64_t operand : {step.a, step.b}) {
      if (operand >= -numbers && operand < inputs + static_cast<int64_t>(k)) continue;
      return fail(Code::invalid_argument,
                  "{}: step {} reads operand {}, expected {} to {}: numbers, inputs and the "
                  "results of steps before it",
                  context.label(), k, operand, -numbers, inputs + static_cast<int64_t>(k) - 1);
    }
    program.steps.push_back(step);
  }
  if (program.registers() <= kMostRegisters) return program;
  return fail(Code::invalid_argument, "{}: {} results are needed at a time, expected at most {}",
              context.label(), program.registers(), kMostRegisters);
}

void Program::write(graph::Node& node) const {
  std::vector<std::string> names;
  std::vector<int64_t> operands;
  for (const ProgramStep& step : steps) {
    names.emplace_back(name_of(step.op));
    operands.insert(operands.end(), {step.a, step.b});
  }
  node.attrs["steps"] = std::move(names);
  node.attrs["operands"] = std::move(operands);
  if (!numbers.empty()) node.attrs["numbers"] = numbers;
}

size_t Program::registers() const {
  size_t used = 0;
  (void)assign_registers(*this, used);
  return used;
}

bool Program::keeps_finite() const {
  return std::all_of(steps.begin(), steps.end(), [this](const ProgramStep& step) {
    if (step.op == StepOp::div) return step.b < 0 && numbers[static_cast<size_t>(-1 - step.b)] != 0;
    return std::find_if(std::begin(kNames), std::end(kNames),
                        [&](const StepName& n) { return n.op == step.op; })
        ->finite;
  });
}

BoundProgram::BoundProgram(const Program& program, Isa isa) : numbers_(program.numbers) {
  size_t used = 0;
  const std::vector<size_t> registers = assign_registers(program, used);
  const auto operand_of = [&](int64_t operand) {
    using Kind = StepOperand::Kind;
    if (operand < 0) return StepOperand{Kind::number, static_cast<size_t>(-1 - operand)};
    const auto at = static_cast<size_t>(operand);
    if (at < program.inputs) return StepOperand{Kind::input, at};
    return StepOperand{Kind::result, registers[at - program.inputs]};
  };
  for (size_t k = 0; k < program.steps.size(); ++k) {
    const ProgramStep& from = program.steps[k];
    BoundStep step;
    step.a = operand_of(from.a), step.b = operand_of(from.b);
    StepScalar scalar = StepScalar::none;
    if (step.b.kind == StepOperand::Kind::number) scalar = StepScalar::second;
    if (step.a.kind == StepOperand::Kind::number) scalar = StepScalar::first;
    step.loop = row_set(isa).find_step(from.op, scalar);
    step.out = k + 1 < program.steps.size() ? registers[k] : kMostRegisters;
    steps_.push_back(step);
  }
}

void BoundProgram::run(const float* const* inputs, float* registers, int64_t step, float* out,
                       int64_t count) const {
  const auto at = [&](StepOperand operand) {
    switch (operand.kind) {
      case StepOperand::Kind::input:
        return inputs[operand.index];
      case StepOperand::Kind::number:
        return numbers_.data() + operand.index;
      default:
        return static_cast<const float*>(registers + static_cast<int64_t>(operand.index) * step);
    }
  };
  for (const BoundStep& s : steps_) {
    float* to = s.out == kMostRegisters ? out : registers + static_cast<int64_t>(s.out) * step;
    s.loop(at(s.a), at(s.b), to, count);
  }
}

}  // namespace anynpu::ops
