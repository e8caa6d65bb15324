// SPDX-License-Identifier: Apache-2.0
#include "ops/unpacked.h"

#include <algorithm>
#include <array>

#include "base/align.h"
#include "ops/parallel.h"
#include "ops/runtime_params.h"

namespace anynpu::ops {

namespace {

constexpr size_t kMostOperands = 8;
constexpr size_t kLeastBytes = size_t{16} << 10;  // of a task

// The unpacked copy of an operand in the workspace; count 0: it needs none.
struct Copy {
  size_t at = 0, count = 0;
};

struct Copies {
  std::array<Copy, kMostOperands> list;
  size_t used = 0;
};

// Makes the operands of 4 bits int8 and gives each scratch from `at` on.
Copies lay_out(std::vector<Operand>& operands, size_t& at) {
  Copies copies{{}, operands.size()};
  for (size_t i = 0; i < operands.size(); ++i) {
    Operand& operand = operands[i];
    if (!operand.present || bits_of(operand.dtype) != 4) continue;
    operand.dtype = DType::i8;
    operand.is_constant = false;
    operand.constant = {};
    copies.list[i] = {at, static_cast<size_t>(element_count(operand.shape))};
    at += round_up(copies.list[i].count, kBufferAlignment);
  }
  return copies;
}

void unpack(const std::byte* from, std::byte* to, size_t count) {
  parallel((count + 1) / 2, kLeastBytes, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      to[2 * i] = from[i] & std::byte{15};
      if (2 * i + 1 < count) to[2 * i + 1] = from[i] >> 4;
    }
  });
}

void pack(const std::byte* from, std::byte* to, size_t count) {
  parallel((count + 1) / 2, kLeastBytes, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      const std::byte second = 2 * i + 1 < count ? from[2 * i + 1] : std::byte{0};
      to[i] = from[2 * i] | second << 4;
    }
  });
}

}  // namespace

PlanResult plan_unpacked(const OpContext& context, PlanFunction function) {
  if (bits_of(context.inputs[0].dtype) != 4) return function(context);
  if (std::max(context.inputs.size(), context.outputs.size()) > kMostOperands)
    return no_kernel_for(context);
  OpContext wide = context;
  size_t scratch = 0;
  const Copies in = lay_out(wide.inputs, scratch), out = lay_out(wide.outputs, scratch);
  ANYNPU_ASSIGN(std::shared_ptr<const KernelPlan> inner, function(wide));
  auto plan = make_checked_plan([in, out, scratch, inner](const RunArgs& args) -> Status {
    std::array<const std::byte*, kMostOperands> inputs{};
    std::array<std::byte*, kMostOperands> outputs{};
    for (size_t i = 0; i < in.used; ++i) {
      const Copy& copy = in.list[i];
      inputs[i] = copy.count > 0 ? args.workspace + copy.at : args.inputs[i];
      if (copy.count > 0) unpack(args.inputs[i], args.workspace + copy.at, copy.count);
    }
    for (size_t i = 0; i < out.used; ++i) {
      outputs[i] = out.list[i].count > 0 ? args.workspace + out.list[i].at : args.outputs[i];
    }
    ANYNPU_TRY(inner->run({{inputs.data(), in.used},
                           {outputs.data(), out.used},
                           args.packed,
                           args.workspace + scratch}));
    for (size_t i = 0; i < out.used; ++i) {
      const Copy& copy = out.list[i];
      if (copy.count > 0) pack(args.workspace + copy.at, args.outputs[i], copy.count);
    }
    return {};
  });
  plan->workspace_bytes = scratch + inner->workspace_bytes;
  return plan;
}

}  // namespace anynpu::ops
