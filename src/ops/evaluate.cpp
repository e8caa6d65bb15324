// SPDX-License-Identifier: Apache-2.0
// Constant folding: a node with constant inputs, run once by its reference kernel.
#include <cstdlib>
#include <memory>

#include "ops/check_kernel.h"
#include "ops/registry.h"

namespace anynpu::ops {

namespace {

struct Free {
  void operator()(std::byte* memory) const { std::free(memory); }
};
using Buffer = std::unique_ptr<std::byte, Free>;

Result<Buffer> allocate(size_t bytes) {
  const size_t rounded = (bytes + kBufferAlignment) / kBufferAlignment * kBufferAlignment;
  Buffer buffer(static_cast<std::byte*>(std::aligned_alloc(kBufferAlignment, rounded)));
  if (!buffer)
    return fail(Code::out_of_memory, "{} bytes cannot be allocated; free some memory", bytes);
  return buffer;
}

}  // namespace

Result<std::vector<std::vector<std::byte>>> evaluate(const OpContext& context) {
  std::vector<const std::byte*> inputs;
  for (const Operand& input : context.inputs) {
    if (input.present && !input.is_constant) {
      return fail(Code::invalid_argument, "{} has an input that is not a constant",
                  context.label());
    }
    inputs.push_back(input.present ? input.constant.data() : nullptr);
  }
  const auto kernels = Registry::instance().kernels(context.schema->name, context.schema->domain);
  if (kernels.empty()) {
    return fail(Code::unsupported_op, "{} has no reference kernel", context.label());
  }
  ANYNPU_TRY(check_kernel(*kernels.back(), context), "the reference kernel of {}", context.label());
  ANYNPU_ASSIGN(auto kernel, kernels.back()->create(context));
  ANYNPU_ASSIGN(Buffer packed, allocate(kernel->packed_bytes()));
  ANYNPU_TRY(kernel->pack(context, {packed.get(), kernel->packed_bytes()}));
  ANYNPU_ASSIGN(auto plan, kernel->plan(context));
  ANYNPU_ASSIGN(Buffer workspace, allocate(plan->workspace_bytes));

  std::vector<Buffer> buffers;
  std::vector<std::byte*> outputs;
  for (const Operand& output : context.outputs) {
    if (!output.fully_known()) {
      outputs.push_back(nullptr);
      continue;
    }
    const auto count = static_cast<size_t>(element_count(output.shape));
    ANYNPU_ASSIGN(Buffer buffer, allocate(bytes_of(output.dtype, count)));
    outputs.push_back(buffer.get());
    buffers.push_back(std::move(buffer));
  }
  ANYNPU_TRY(plan->run({inputs, outputs, packed.get(), workspace.get()}));

  std::vector<std::vector<std::byte>> results;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Operand& output = context.outputs[i];
    if (!outputs[i]) {
      results.emplace_back();
      continue;
    }
    const auto count = static_cast<size_t>(element_count(output.shape));
    results.emplace_back(outputs[i], outputs[i] + bytes_of(output.dtype, count));
  }
  return results;
}

}  // namespace anynpu::ops
