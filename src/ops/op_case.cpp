// SPDX-License-Identifier: Apache-2.0
#include "ops/op_case.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "base/text.h"
#include "ops/blocked_layout.h"
#include "ops/registry.h"
#include "tensor/element.h"

namespace anynpu::ops {

namespace {

Result<int64_t> parse_integer(std::string_view text) {
  int64_t value = 0;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end.ec != std::errc{} || end.ptr != text.data() + text.size()) {
    return fail(Code::parse_error, "'{}' is not an integer", text);
  }
  return value;
}

Result<std::vector<int64_t>> parse_list(std::string_view text, char separator) {
  std::vector<int64_t> list;
  if (text.empty() || text == "scalar") return list;
  for (std::string_view part : split(text, separator)) {
    ANYNPU_ASSIGN(const int64_t value, parse_integer(part));
    list.push_back(value);
  }
  return list;
}

Result<DType> parse_dtype(std::string_view text) {
  for (int i = 0; i < 64; ++i) {
    if (name_of(static_cast<DType>(i)) == text) return static_cast<DType>(i);
  }
  return fail(Code::parse_error, "'{}' is no type; expected float32, float16, bfloat16, ...", text);
}

Result<graph::Attr> parse_attr(const OpSchema& schema, std::string_view key,
                               std::string_view text) {
  for (const AttrSchema& attr : schema.attrs) {
    if (attr.name != key) continue;
    switch (attr.kind) {
      case AttrKind::i: {
        ANYNPU_ASSIGN(const int64_t value, parse_integer(text));
        return graph::Attr(value);
      }
      case AttrKind::f:
        return graph::Attr(std::strtof(std::string(text).c_str(), nullptr));
      case AttrKind::s:
        return graph::Attr(std::string(text));
      case AttrKind::ints: {
        ANYNPU_ASSIGN(auto list, parse_list(text, ','));
        return graph::Attr(std::move(list));
      }
      case AttrKind::floats: {
        std::vector<float> list;
        for (std::string_view part : split(text, ','))
          list.push_back(std::strtof(std::string(part).c_str(), nullptr));
        return graph::Attr(std::move(list));
      }
      case AttrKind::strings: {
        const auto parts = split(text, ',');
        return graph::Attr(std::vector<std::string>(parts.begin(), parts.end()));
      }
      default:
        break;
    }
  }
  return fail(Code::parse_error, "operator {} has no attribute '{}' that text can set", schema.name,
              key);
}

// Values of a fixed generator: multiples of 1/64 in (-2, 2), exact in every floating type.
std::vector<std::byte> random_data(DType dtype, const Shape& shape, uint64_t seed) {
  const auto count = static_cast<size_t>(element_count(shape));
  std::vector<std::byte> data(bytes_of(dtype, count));
  uint64_t state = seed * 0x9e3779b97f4a7c15u + 1;
  const auto next = [&state] {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<uint32_t>(state >> 33);
  };
  const auto floats = [&](auto zero) {
    auto* values = reinterpret_cast<decltype(zero)*>(data.data());
    for (size_t i = 0; i < count; ++i) {
      values[i] =
          Element<decltype(zero)>::store((static_cast<float>(next() % 255) - 127.0f) / 64.0f);
    }
  };
  const auto integers = [&](auto zero) {
    auto* values = reinterpret_cast<decltype(zero)*>(data.data());
    for (size_t i = 0; i < count; ++i) values[i] = static_cast<decltype(zero)>(next() % 17);
  };
  if (!visit_floats(dtype, floats) && !visit_integers(dtype, integers)) {
    for (std::byte& byte : data) byte = static_cast<std::byte>(next() & 1);
  }
  return data;
}

struct FreeDeleter {
  void operator()(std::byte* memory) const { std::free(memory); }
};
using AlignedBytes = std::unique_ptr<std::byte, FreeDeleter>;

AlignedBytes aligned_bytes(size_t bytes) {
  const size_t rounded = (bytes / kBufferAlignment + 1) * kBufferAlignment;
  return AlignedBytes(static_cast<std::byte*>(std::aligned_alloc(kBufferAlignment, rounded)));
}

// A copy of `data` in `layout`, starting on the boundary that plans promise.
Result<AlignedBytes> stored_copy(const Operand& operand, const std::byte* data, Layout from,
                                 Layout to) {
  const size_t bytes = stored_bytes(operand.dtype, operand.shape, to);
  AlignedBytes copy = aligned_bytes(bytes);
  if (from == to) {
    if (bytes > 0) std::memcpy(copy.get(), data, bytes);
    return copy;
  }
  const auto reorder = plan_reorder(operand.dtype, operand.shape, from, to);
  const std::byte* inputs[] = {data};
  std::byte* outputs[] = {copy.get()};
  ANYNPU_TRY(reorder->run({inputs, outputs, nullptr, nullptr}));
  return copy;
}

}  // namespace

Result<OpCase> OpCase::parse(std::string_view text) {
  OpCase result;
  std::vector<std::string_view> words;
  for (std::string_view word : split(text, ' ')) {
    if (!word.empty()) words.push_back(word);
  }
  if (words.empty()) return fail(Code::parse_error, "an empty case; expected 'Operator shape=...'");
  std::vector<DType> dtypes;
  int64_t seed = 1, outputs = 1;
  std::string_view shapes, ints, constants;
  std::vector<std::pair<std::string_view, std::string_view>> attrs;
  result.node_.op = words[0];
  result.node_.name = "case";
  result.node_.opset = 13;
  for (size_t i = 1; i < words.size(); ++i) {
    const size_t at = words[i].find('=');
    if (at == std::string_view::npos) return fail(Code::parse_error, "'{}' lacks '='", words[i]);
    const std::string_view key = words[i].substr(0, at), value = words[i].substr(at + 1);
    if (key == "shape")
      shapes = value;
    else if (key == "ints")
      ints = value;
    else if (key == "const")
      constants = value;
    else if (key == "domain")
      result.node_.domain = value;
    else if (key == "dtype") {
      for (std::string_view one : split(value, ',')) {
        ANYNPU_ASSIGN(const DType dtype, parse_dtype(one));
        dtypes.push_back(dtype);
      }
    } else if (key == "opset") {
      ANYNPU_ASSIGN(result.node_.opset, parse_integer(value));
    } else if (key == "seed") {
      ANYNPU_ASSIGN(seed, parse_integer(value));
    } else if (key == "outputs") {
      ANYNPU_ASSIGN(outputs, parse_integer(value));
    } else
      attrs.emplace_back(key, value);
  }
  ANYNPU_ASSIGN(const OpSchema* schema, Registry::instance().find(result.node_));
  for (const auto& [key, value] : attrs) {
    ANYNPU_ASSIGN(result.node_.attrs[std::string(key)], parse_attr(*schema, key, value));
  }
  if (dtypes.empty()) dtypes = {DType::f32};
  for (std::string_view part : split(shapes, ',')) {
    const DType dtype = dtypes[std::min(result.inputs_.size(), dtypes.size() - 1)];
    if (part == "_") {
      result.inputs_.push_back(Operand::absent());
      result.data_.emplace_back();
      continue;
    }
    ANYNPU_ASSIGN(auto shape, parse_list(part, 'x'));
    ANYNPU_TRY(check_shape(shape));
    result.data_.push_back(random_data(dtype, shape, static_cast<uint64_t>(seed++)));
    result.inputs_.push_back(Operand::of(dtype, shape));
  }
  if (!ints.empty()) {
    const size_t colon = ints.find(':');
    ANYNPU_ASSIGN(const int64_t index, parse_integer(ints.substr(0, colon)));
    ANYNPU_ASSIGN(const auto values, parse_list(ints.substr(colon + 1), ','));
    if (index != static_cast<int64_t>(result.inputs_.size())) {
      return fail(Code::parse_error, "ints must follow the shapes: input {}",
                  result.inputs_.size());
    }
    Operand operand = Operand::of(DType::i64, {static_cast<int64_t>(values.size())});
    operand.is_constant = true;
    std::vector<std::byte> bytes(values.size() * sizeof(int64_t));
    if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
    result.data_.push_back(std::move(bytes));
    result.inputs_.push_back(operand);
  }
  if (constants.empty() && result.node_.op.find("MatMul") == std::string::npos &&
      (schema->name.ends_with("Conv") || schema->name.ends_with("Gemm"))) {
    constants = "1,2";
  }
  ANYNPU_ASSIGN(const auto constant_list, parse_list(constants == "none" ? "" : constants, ','));
  for (int64_t index : constant_list) {
    if (index >= 0 && index < static_cast<int64_t>(result.inputs_.size())) {
      result.inputs_[static_cast<size_t>(index)].is_constant = true;
    }
  }
  for (size_t i = 0; i < result.inputs_.size(); ++i) {
    result.node_.inputs.push_back(result.inputs_[i].present ? static_cast<int>(i)
                                                            : graph::kNoValue);
  }
  for (int64_t i = 0; i < outputs; ++i) result.node_.outputs.push_back(100 + static_cast<int>(i));
  name_required_outputs(result.node_);
  return result;
}

Result<OpContext> OpCase::context(Layout layout) const {
  std::vector<Operand> inputs = inputs_;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].is_constant) {
      inputs[i].constant = data_[i];
    } else if (can_block(inputs[i])) {
      inputs[i].layout = layout;
    }
  }
  ANYNPU_ASSIGN(OpContext context, infer(node_, std::move(inputs)));
  for (Operand& output : context.outputs) {
    if (can_block(output)) output.layout = layout;
  }
  return context;
}

Result<std::vector<std::vector<std::byte>>> OpCase::run(const KernelDef& def, Layout layout,
                                                        int times, double* best_ns) const {
  ANYNPU_ASSIGN(const OpContext context, this->context(layout));
  ANYNPU_ASSIGN(auto kernel, def.create(context));
  AlignedBytes packed = aligned_bytes(kernel->packed_bytes());
  ANYNPU_TRY(kernel->pack(context, {packed.get(), kernel->packed_bytes()}));
  ANYNPU_ASSIGN(auto plan, kernel->plan(context));
  AlignedBytes workspace = aligned_bytes(plan->workspace_bytes);
  // A kernel must not rely on what its workspace holds.
  std::memset(workspace.get(), 0xff, plan->workspace_bytes);

  std::vector<AlignedBytes> kept;
  std::vector<const std::byte*> inputs(context.inputs.size(), nullptr);
  for (size_t i = 0; i < data_.size(); ++i) {
    if (!inputs_[i].present || kernel->packs_input(i)) continue;
    ANYNPU_ASSIGN(AlignedBytes copy, stored_copy(inputs_[i], data_[i].data(), Layout::plain,
                                                 layout_at(plan->input_layouts, i)));
    inputs[i] = copy.get();
    kept.push_back(std::move(copy));
  }
  std::vector<std::byte*> outputs;
  for (size_t i = 0; i < context.outputs.size(); ++i) {
    const Operand& output = context.outputs[i];
    kept.push_back(aligned_bytes(
        stored_bytes(output.dtype, output.shape, layout_at(plan->output_layouts, i))));
    outputs.push_back(kept.back().get());
  }
  double best = 0;
  for (int i = 0; i < times; ++i) {
    const auto start = std::chrono::steady_clock::now();
    ANYNPU_TRY(plan->run({inputs, outputs, packed.get(), workspace.get()}));
    const std::chrono::duration<double, std::nano> taken = std::chrono::steady_clock::now() - start;
    if (i == 0 || taken.count() < best) best = taken.count();
  }
  if (best_ns) *best_ns = best;

  std::vector<std::vector<std::byte>> results;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Operand& output = context.outputs[i];
    ANYNPU_ASSIGN(
        AlignedBytes plain,
        stored_copy(output, outputs[i], layout_at(plan->output_layouts, i), Layout::plain));
    results.emplace_back(plain.get(),
                         plain.get() + stored_bytes(output.dtype, output.shape, Layout::plain));
  }
  return results;
}

double OpCase::flops() const {
  const auto known = context();
  if (!known.ok()) return 0;
  const auto outputs = static_cast<double>(element_count(known->outputs[0].shape));
  if (node_.op.ends_with("Conv")) {
    const Shape& w = inputs_[1].shape;
    return 2.0 * outputs * static_cast<double>(element_count(w)) / static_cast<double>(w[0]);
  }
  if (node_.op.ends_with("Gemm") || node_.op == "MatMul") {
    const Shape& a = inputs_[0].shape;
    const bool transposed = known->int_attr("transA") != 0;
    return 2.0 * outputs * static_cast<double>(transposed ? a[0] : a.back());
  }
  return 0;
}

double worst_error(DType dtype, const std::vector<std::byte>& a, const std::vector<std::byte>& b) {
  if (a.size() != b.size()) return INFINITY;
  double worst = 0, rtol = 0, atol = 0;
  switch (dtype) {
    case DType::f32:
      rtol = 2e-5, atol = 2e-5;
      break;
    case DType::f64:
      rtol = 1e-12, atol = 1e-12;
      break;
    case DType::f16:
      rtol = 2e-3, atol = 2e-3;
      break;
    case DType::bf16:
      rtol = 1.6e-2, atol = 1.6e-2;
      break;
    default:
      return a == b ? 0 : INFINITY;
  }
  visit_floats(dtype, [&](auto zero) {
    using T = decltype(zero);
    for (size_t i = 0; i + sizeof(T) <= a.size(); i += sizeof(T)) {
      T x, y;
      std::memcpy(&x, a.data() + i, sizeof(T));
      std::memcpy(&y, b.data() + i, sizeof(T));
      const auto p = static_cast<double>(Element<T>::load(x));
      const auto q = static_cast<double>(Element<T>::load(y));
      if (p == q || (std::isnan(p) && std::isnan(q))) continue;
      const double error = std::fabs(p - q) / (atol + rtol * std::fabs(q));
      worst = std::isnan(error) ? INFINITY : std::max(worst, error);
    }
  });
  return worst;
}

Status check_all_kernels(const OpCase& op_case, int* compared) {
  ANYNPU_ASSIGN(const OpContext plain, op_case.context());
  const auto kernels = Registry::instance().kernels(plain.schema->name, plain.schema->domain);
  if (kernels.empty()) return fail(Code::unsupported_op, "{}: no kernel", plain.label());
  ANYNPU_ASSIGN(const auto expected, op_case.run(*kernels.back(), Layout::plain));
  for (const KernelDef* kernel : kernels) {
    for (const Layout layout : {Layout::plain, Layout::blocked16}) {
      ANYNPU_ASSIGN(const OpContext context, op_case.context(layout));
      if (!kernel->types.has(context.inputs[0].dtype)) continue;
      if (kernel->can_run && !kernel->can_run(context).ok()) continue;
      ANYNPU_ASSIGN(const auto actual, op_case.run(*kernel, layout), "kernel {}", kernel->name);
      if (compared) ++*compared;
      for (size_t i = 0; i < actual.size(); ++i) {
        const double error = worst_error(context.outputs[i].dtype, actual[i], expected[i]);
        if (error > 1) {
          return fail(
              Code::internal,
              "kernel {} ({} input) differs from the reference in output {} by {} times the "
              "tolerance",
              kernel->name, layout == Layout::plain ? "plain" : "blocked", i, error);
        }
      }
    }
  }
  return {};
}

void name_required_outputs(graph::Node& node) {
  const auto schema = Registry::instance().find(node);
  if (!schema.ok()) return;
  for (size_t i = node.outputs.size(); i < (*schema)->outputs.size(); ++i) {
    if ((*schema)->outputs[i].presence != Presence::required) return;
    node.outputs.push_back(1000 + static_cast<int>(i));
  }
}

}  // namespace anynpu::ops
