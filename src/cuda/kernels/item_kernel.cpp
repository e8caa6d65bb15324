// SPDX-License-Identifier: Apache-2.0
#include "cuda/kernels/item_kernel.h"

#include <algorithm>
#include <cctype>

#include "cuda/kernels/host_plan.h"
#include "cuda/kernels/index_check.h"
#include "cuda/kernels/jit_kernel.h"
#include "ops/data_movement/axes.h"

namespace anynpu::device::cuda {

namespace {

using ops::OpContext;
using ops::Operand;

// Empty if there is none.
std::string element_type(DType type) {
  if (const std::string_view name = cuda_name(type); !name.empty()) return std::string(name);
  const size_t bits = bits_of(type);
  return bits >= 4 && bits <= 128 ? bits_type(std::max<size_t>(bits / 8, 1)) : std::string();
}

std::string list_text(const std::vector<int64_t>& values) {
  std::string text;
  for (const int64_t value : values) text += format("{}ll,", value);
  return text.empty() ? "0" : text;
}

// Types, shapes, strides and counts of operands called `x` or `y`.
std::string operand_text(const std::vector<Operand>& operands, char lower, char type) {
  std::string text;
  const char upper = lower == 'x' ? 'X' : 'Y';
  for (size_t k = 0; k < operands.size(); ++k) {
    const Operand& one = operands[k];
    text += format("#define HAS_{}{} {}\ntypedef {} {}{};\n", upper, k, one.present ? 1 : 0,
                   one.present ? element_type(one.dtype) : "float", type, k);
    const Shape shape = one.present ? one.shape : Shape{};
    text += format(
        "__device__ const i64 {0}{1}[] = {{{2}}}; __device__ const i64 S{0}{1}[] = {{{3}}};\n"
        "static const i64 N{0}{1} = {4};\n",
        upper, k, list_text(shape), list_text(strides_of(shape)),
        one.present ? element_count(shape) : 0);
  }
  return text;
}

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

// The value of attribute `key` as CUDA; lists become arrays, whose definitions go to `before`.
std::string attribute(const OpContext& context, const std::string& key, std::string& before) {
  std::string_view name = key;
  const bool size = name.ends_with("_size") && !context.has_attr(name);
  for (const ops::AttrSchema& attr : context.schema->attrs) {
    if (size && attr.kind == ops::AttrKind::ints && format("{}_size", attr.name) == name)
      return format("{}", context.ints_attr(attr.name).size());
    if (attr.name != name) continue;
    if (attr.kind == ops::AttrKind::i) return format("({}ll)", context.int_attr(name));
    if (attr.kind == ops::AttrKind::f)
      return literal(static_cast<double>(context.float_attr(name)));
    if (attr.kind != ops::AttrKind::ints) break;
    const std::string line = format("__device__ const i64 attr_{}[] = {{{}}};\n", name,
                                    list_text(context.ints_attr(name)));
    if (before.find(line) == std::string::npos) before += line;
    return "attr_" + key;
  }
  return "undefined_attribute_" + key;
}

std::string with_attributes(const OpContext& context, const std::string& text,
                            std::string& before) {
  std::string result;
  for (size_t at = 0; at < text.size();) {
    if (text[at] != '$') {
      result += text[at++];
      continue;
    }
    size_t end = at + 1;
    while (end < text.size() && is_word(text[end])) ++end;
    result += attribute(context, text.substr(at + 1, end - at - 1), before);
    at = end;
  }
  return result;
}

std::string source_of(const OpContext& context, const ItemKernel& kernel) {
  std::string parameters, attributes;
  for (size_t k = 0; k < context.inputs.size(); ++k) parameters += format("const T{0}* x{0}, ", k);
  for (size_t k = 0; k < context.outputs.size(); ++k) parameters += format("R{0}* y{0}, ", k);
  std::string_view compute = kernel.compute;
  if (compute.empty() && context.has_input(0)) compute = compute_name(context.inputs[0].dtype);
  if (compute.empty()) compute = "float";
  const std::string before = with_attributes(context, kernel.before, attributes);
  const std::string body = with_attributes(context, kernel.body, attributes);
  const std::string loop =
      kernel.block_threads > 0
          ? "  const u64 i = blockIdx.x; if (i >= n) return;\n"
          : "  for (u64 i = blockIdx.x * (u64)blockDim.x + threadIdx.x; i < n; i += gridDim.x * "
            "(u64)blockDim.x)\n";
  return format(
      "{}{}typedef {} C;\n{}{}extern \"C\" __global__ void kernel({}char* work, volatile i64* "
      "board, i64 number, u64 n) {{\n{}  {{\n{}  }}\n}}\n",
      operand_text(context.inputs, 'x', 'T'), operand_text(context.outputs, 'y', 'R'), compute,
      attributes, before, parameters, loop, body);
}

}  // namespace

std::string filled(std::string text, Values values) {
  std::string result;
  for (size_t at = 0; at < text.size();) {
    if (text[at] != '@') {
      result += text[at++];
      continue;
    }
    size_t end = at + 1;
    while (end < text.size() && is_word(text[end])) ++end;
    const std::string_view name = std::string_view(text).substr(at + 1, end - at - 1);
    const auto* const value = std::find_if(values.begin(), values.end(),
                                           [&](const auto& one) { return one.first == name; });
    result += value == values.end() ? format("undefined_value_{}", name) : value->second;
    at = end;
  }
  return result;
}

ops::PlanResult plan_items(const OpContext& context, const ItemKernel& given) {
  ANYNPU_ASSIGN(auto kernel, JitKernel::make(source_of(context, given)));
  ANYNPU_ASSIGN(const IndexCheck check, IndexCheck::of(context));
  const size_t inputs = context.inputs.size(), outputs = context.outputs.size();
  const size_t items = given.items;
  const unsigned threads = given.block_threads;
  const int copied = given.copied_input;
  const size_t bytes = copied >= 0
                           ? bytes_of(context.outputs[0].dtype,
                                      static_cast<size_t>(element_count(context.outputs[0].shape)))
                           : 0;
  auto plan = cuda_plan([=](const ops::RunArgs& args, CudaQueue& queue) {
    if (bytes > 0 && args.outputs[0] != args.inputs[static_cast<size_t>(copied)])
      ANYNPU_TRY(queue.copy({args.outputs[0], args.inputs[static_cast<size_t>(copied)], bytes}));
    std::vector<const void*> addresses;
    for (size_t k = 0; k < inputs; ++k)
      addresses.push_back(k < args.inputs.size() ? args.inputs[k] : nullptr);
    for (size_t k = 0; k < outputs; ++k)
      addresses.push_back(k < args.outputs.size() ? args.outputs[k] : nullptr);
    addresses.push_back(args.workspace);
    std::vector<void*> arguments;
    for (const void*& address : addresses) arguments.push_back(&address);
    volatile int64_t* board = check.board;
    uint64_t number = check.number;
    size_t n = items;
    arguments.insert(arguments.end(), {&board, &number, &n});
    return threads > 0 ? kernel->launch(queue, n, threads, arguments.data())
                       : kernel->launch_over(queue, n, arguments.data());
  });
  plan->workspace_bytes = given.workspace_bytes;
  return plan;
}

Status can_run_items(const OpContext& context) {
  for (const auto* operands : {&context.inputs, &context.outputs}) {
    for (const Operand& operand : *operands) {
      const bool packed = bits_of(operand.dtype) % 8 != 0;
      if (operand.present && (packed || element_type(operand.dtype).empty()))
        return fail(Code::unsupported_dtype, "type {} has no GPU kernel", name_of(operand.dtype));
    }
  }
  return {};
}

bool has_constants(const OpContext& context, uint64_t mask) {
  for (size_t k = 0; k < context.inputs.size() && k < 64; ++k) {
    if ((mask >> k & 1) != 0 && context.inputs[k].present && !context.inputs[k].is_constant)
      return false;
  }
  return true;
}

}  // namespace anynpu::device::cuda
