// SPDX-License-Identifier: Apache-2.0
// A program of element-wise steps: attributes of FusedElementwise (domain "anynpu"), and of fused
// products and convolutions, which compute it from their result (epilogue.h):
//   steps     names of steps in order: "Add", "Sigmoid" ...
//   operands  two for each step (the second of a step of one operand repeats the first): input i is
//             i, the result of step k is inputs + k, number j is -1 - j
//   numbers   constants
// The result of the last step is the output. It is computed piece by piece, so that results of
// steps stay in the first-level cache.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ops/schema.h"
#include "ops/simd/isa.h"
#include "ops/simd/steps.h"

namespace anynpu::ops {

constexpr size_t kMostProgramInputs = 12;
constexpr size_t kMostRegisters = 12;
constexpr size_t kMostSteps = 64;

std::string_view name_of(StepOp op);
// The attributes, for schemas.
std::vector<AttrSchema> program_attributes();
std::optional<StepOp> step_called(std::string_view name);

struct ProgramStep {
  StepOp op = StepOp::add;
  int64_t a = 0, b = 0;  // as in the attribute `operands`
};

struct Program {
  size_t inputs = 0;
  std::vector<ProgramStep> steps;
  std::vector<float> numbers;

  // Reads and checks the attributes of a node, over this many inputs.
  static Result<Program> of(const OpContext& context, size_t inputs);
  void write(graph::Node& node) const;

  bool is_number(int64_t operand) const { return operand < 0; }
  // Registers that hold results between steps; the last result needs none.
  size_t registers() const;
  // Finite inputs give finite outputs, but for overflow.
  bool keeps_finite() const;
};

// A program ready to run: loops of one instruction set, results in registers.
class BoundProgram {
 public:
  BoundProgram(const Program& program, Isa isa);
  // Over `count` elements; inputs[i]: those of input i; registers: kMostRegisters rows of `step`
  // floats; `out` may be an input.
  void run(const float* const* inputs, float* registers, int64_t step, float* out,
           int64_t count) const;
  size_t size() const { return steps_.size(); }

 private:
  struct StepOperand {
    enum class Kind : uint8_t { input, result, number } kind = Kind::input;
    size_t index = 0;
  };
  struct BoundStep {
    StepLoop loop = nullptr;
    StepOperand a, b;
    size_t out = 0;  // register; kMostRegisters: the output
  };
  std::vector<BoundStep> steps_;
  std::vector<float> numbers_;
};

}  // namespace anynpu::ops
