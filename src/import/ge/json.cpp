// SPDX-License-Identifier: Apache-2.0
#include "import/ge/json.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/protowire.h"
#include "import/ge/model_def.h"

namespace anynpu::ge {

namespace {

struct FieldRow {
  std::string_view message;
  uint32_t number;
  std::string_view name, type;
  bool repeated;
};

constexpr FieldRow kFields[] = {
#define X(message, number, name, type, repeated) {#message, number, #name, #type, repeated},
#include "import/ge/fields.def"
#undef X
};

constexpr std::array<std::string_view, 11> kListTypes = {
    "VT_LIST_NONE",  "VT_LIST_STRING",      "VT_LIST_INT",         "VT_LIST_FLOAT",
    "VT_LIST_BOOL",  "VT_LIST_BYTES",       "VT_LIST_TENSOR_DESC", "VT_LIST_TENSOR",
    "VT_LIST_GRAPH", "VT_LIST_NAMED_ATTRS", "VT_LIST_DATA_TYPE"};

const FieldRow* find_field(std::string_view message, uint32_t number) {
  for (const FieldRow& row : kFields) {
    if (row.message == message && row.number == number) return &row;
  }
  return nullptr;
}

// Bytes that are no text are shown as hexadecimal digits.
std::string text_of(std::span<const std::byte> bytes) {
  const std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const bool plain = std::all_of(text.begin(), text.end(), [](char c) {
    return static_cast<unsigned char>(c) >= 0x20 || c == '\n' || c == '\t' || c == '\r';
  });
  if (plain) return text;
  constexpr size_t kMost = 64;
  constexpr char kDigits[] = "0123456789abcdef";
  std::string digits;
  for (size_t i = 0; i < std::min(text.size(), kMost); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    digits += kDigits[byte >> 4];
    digits += kDigits[byte & 15];
  }
  return text.size() > kMost ? format("{}... ({} bytes)", digits, text.size()) : digits;
}

Result<json::Value> message_json(const WireField& field, std::string_view message);
Result<json::Value> fields_json(WireReader reader, std::string_view message);

json::Value real_json(float value) {
  if (std::isfinite(value)) return static_cast<double>(value);
  return std::string(std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf");
}

Status append_scalars(const WireField& field, const FieldRow& row, json::Array& out) {
  if (row.type == "float") {
    std::vector<float> values;
    ANYNPU_TRY(field.append_to(values));
    for (float value : values) out.push_back(real_json(value));
    return {};
  }
  std::vector<int64_t> values;
  ANYNPU_TRY(field.append_to(values));
  for (int64_t value : values) {
    if (row.type == "bool") {
      out.emplace_back(value != 0);
    } else {
      out.emplace_back(value);
    }
  }
  return {};
}

Status append_value(const WireField& field, const FieldRow& row, json::Array& out) {
  if (row.type == "string" || row.type == "bytes") {
    std::span<const std::byte> bytes;
    ANYNPU_TRY(field.to(bytes));
    if (row.message == "TensorDef") {
      out.emplace_back(static_cast<int64_t>(bytes.size()));
    } else {
      out.emplace_back(text_of(bytes));
    }
    return {};
  }
  if (row.type == "DataType" || row.type == "ListValueType") {
    int64_t number = 0;
    ANYNPU_TRY(field.to(number));
    const bool list = row.type == "ListValueType";
    const bool known = number >= 0 && number < static_cast<int64_t>(kListTypes.size());
    out.emplace_back(!list   ? dtype_name(number)
                     : known ? std::string(kListTypes[static_cast<size_t>(number)])
                             : std::to_string(number));
    return {};
  }
  if (row.type == "int64" || row.type == "uint32" || row.type == "bool" || row.type == "float")
    return append_scalars(field, row, out);
  ANYNPU_ASSIGN(json::Value value, message_json(field, row.type));
  out.push_back(std::move(value));
  return {};
}

// {"key": ..., "value": {...}}
Result<json::Value> entry_json(const WireField& field) {
  std::string key;
  json::Value value = json::Object{};
  WireReader reader(field);
  WireField part;
  while (reader.next(part)) {
    if (part.number == 1) {
      std::span<const std::byte> bytes;
      ANYNPU_TRY(part.to(bytes));
      key = text_of(bytes);
    }
    if (part.number == 2) {
      ANYNPU_ASSIGN(value, message_json(part, "AttrDef"));
    }
  }
  ANYNPU_TRY(reader.status());
  return json::Value(json::Object{{"key", std::move(key)}, {"value", std::move(value)}});
}

Result<json::Value> message_json(const WireField& field, std::string_view message) {
  if (message == "map") return entry_json(field);
  return fields_json(WireReader(field), message);
}

Result<json::Value> fields_json(WireReader reader, std::string_view message) {
  // One list for each field that is there, in the order of the table.
  std::vector<std::pair<const FieldRow*, json::Array>> found;
  WireField field;
  while (reader.next(field)) {
    const FieldRow* row = find_field(message, field.number);
    if (!row) continue;
    auto place = std::find_if(found.begin(), found.end(),
                              [&](const auto& entry) { return entry.first == row; });
    if (place == found.end()) place = found.insert(found.end(), {row, {}});
    ANYNPU_TRY(append_value(field, *row, place->second));
  }
  ANYNPU_TRY(reader.status());
  std::sort(found.begin(), found.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  json::Object object;
  for (auto& [row, values] : found) {
    if (values.empty() && !row->repeated) continue;
    std::string name =
        row->message == "TensorDef" && row->name == "data" ? "data_bytes" : std::string(row->name);
    object.emplace_back(std::move(name),
                        row->repeated ? json::Value(std::move(values)) : std::move(values.back()));
  }
  return json::Value(std::move(object));
}

}  // namespace

Result<json::Value> model_def_json(std::span<const std::byte> bytes) {
  return fields_json(WireReader(bytes), "ModelDef");
}

}  // namespace anynpu::ge
