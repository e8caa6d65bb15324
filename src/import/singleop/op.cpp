// SPDX-License-Identifier: Apache-2.0
#include "import/singleop/op.h"

#include <cstring>

namespace anynpu::singleop {

namespace {

constexpr std::string_view kTypeNames[] = {
    "bool",     "int",        "float",       "string",         "data_type",    "list_bool",
    "list_int", "list_float", "list_string", "list_data_type", "list_list_int"};
static_assert(std::size(kTypeNames) == std::variant_size_v<Attr>);

struct AttrText {
  std::string out;
  void operator()(bool v) { out += v ? "1" : "0"; }
  void operator()(int64_t v) { out += std::to_string(v); }
  void operator()(float v) {
    uint32_t bits;
    std::memcpy(&bits, &v, sizeof(bits));
    out += format("{:#x}", bits);
  }
  void operator()(DType v) { out += std::to_string(static_cast<int>(v)); }
  void operator()(const std::string& v) { out += json::quote(v); }
  template <typename T>
  void operator()(const std::vector<T>& list) {
    out += '[';
    for (const auto& item : list) {
      (*this)(static_cast<const T&>(item));
      out += ',';
    }
    out += ']';
  }
};

void add_attrs(const Attrs& attrs, std::string& out) {
  for (const auto& [name, attr] : attrs) {
    AttrText text;
    std::visit(text, attr);
    out += format("|{}:{}={}", name, type_name(attr), text.out);
  }
}

void add_numbers(const Shape& shape, std::string& out) {
  for (int64_t extent : shape) out += format("_{}", extent);
}

void add_desc(const TensorDesc& desc, bool extents, std::string& out) {
  out += format("|{}_{}_{}", static_cast<int>(desc.dtype), static_cast<int>(desc.format),
                desc.shape.size());
  if (extents) {
    add_numbers(desc.shape, out);
    for (const auto& [low, high] : desc.shape_ranges) out += format("~{},{}", low, high);
  }
  if (desc.storage_format != Format::undefined) {
    out += format("@{}", static_cast<int>(desc.storage_format));
    if (extents) add_numbers(desc.storage_shape, out);
  }
  if (!desc.is_constant) return;
  // A constant is part of what was compiled: models that differ in it are different.
  out += '=';
  for (std::byte b : desc.constant) {
    constexpr char kDigits[] = "0123456789abcdef";
    out += kDigits[static_cast<unsigned>(b) >> 4];
    out += kDigits[static_cast<unsigned>(b) & 15];
  }
}

std::string describe(const SingleOp& op, bool extents) {
  std::string out = op.type;
  for (const TensorDesc& desc : op.inputs) add_desc(desc, extents, out);
  out += "->";
  for (const TensorDesc& desc : op.outputs) add_desc(desc, extents, out);
  add_attrs(op.attrs, out);
  return out;
}

}  // namespace

std::string_view type_name(const Attr& attr) { return kTypeNames[attr.index()]; }

bool SingleOp::is_dynamic() const {
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (has_input(i) && !is_static(inputs[i].shape)) return true;
  }
  return false;
}

std::string key_of(const SingleOp& op) { return describe(op, true); }
std::string family_of(const SingleOp& op) { return describe(op, false); }

std::string file_name(const SingleOp& op, size_t index) {
  std::string out = format("{}_{}", index, op.type);
  for (const auto* descs : {&op.inputs, &op.outputs}) {
    for (const TensorDesc& desc : *descs) {
      out += format("_{}_{}", static_cast<int>(desc.dtype), static_cast<int>(desc.format));
      add_numbers(desc.shape, out);
    }
  }
  return out;
}

}  // namespace anynpu::singleop
