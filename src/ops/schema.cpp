// SPDX-License-Identifier: Apache-2.0
#include "ops/schema.h"

namespace anynpu::ops {

namespace {

const graph::Attr* find_attr(const OpContext& context, std::string_view key) {
  if (!context.node) return nullptr;
  const auto found = context.node->attrs.find(std::string(key));
  return found == context.node->attrs.end() ? nullptr : &found->second;
}

const AttrDefault* find_default(const OpContext& context, std::string_view key) {
  if (!context.schema) return nullptr;
  for (const AttrSchema& attr : context.schema->attrs) {
    if (attr.name == key) return &attr.value;
  }
  return nullptr;
}

// The node's value of type T, else the schema's default of type D converted to T, else T{}.
template <typename T, typename D = T>
T attr_or_default(const OpContext& context, std::string_view key) {
  if (const graph::Attr* attr = find_attr(context, key)) {
    if (const T* value = std::get_if<T>(attr)) return *value;
  }
  if (const AttrDefault* fallback = find_default(context, key)) {
    if (const D* value = std::get_if<D>(fallback)) return T(*value);
  }
  return T{};
}

}  // namespace

Operand Operand::of(const graph::Graph& graph, graph::ValueId id) {
  if (id == graph::kNoValue) return absent();
  const graph::Value& value = graph.values[static_cast<size_t>(id)];
  Operand operand;
  operand.dtype = value.dtype;
  operand.shape = value.shape;
  operand.has_shape = value.has_shape;
  if (value.constant) {
    operand.is_constant = true;
    operand.constant = value.constant->bytes;
  }
  return operand;
}

int64_t OpContext::int_attr(std::string_view key) const {
  return attr_or_default<int64_t>(*this, key);
}
float OpContext::float_attr(std::string_view key) const {
  return attr_or_default<float>(*this, key);
}
std::string OpContext::string_attr(std::string_view key) const {
  return attr_or_default<std::string, std::string_view>(*this, key);
}
std::vector<int64_t> OpContext::ints_attr(std::string_view key) const {
  return attr_or_default<std::vector<int64_t>>(*this, key);
}
bool OpContext::has_attr(std::string_view key) const { return find_attr(*this, key) != nullptr; }

std::string OpContext::label() const {
  if (!node) return "node";
  return format("{} '{}'", node->op, node->name);
}

Status OpContext::check_constants(size_t first, size_t last, std::string_view what) const {
  for (size_t i = first; i <= last; ++i) {
    if (has_input(i) && !inputs[i].is_constant)
      return fail(Code::unsupported_feature, "{} is no constant", what);
  }
  return {};
}

const FormalOperand* formal_at(const std::vector<FormalOperand>& formals, size_t index) {
  if (index < formals.size()) return &formals[index];
  if (!formals.empty() && formals.back().presence == Presence::variadic) return &formals.back();
  return nullptr;
}

}  // namespace anynpu::ops
