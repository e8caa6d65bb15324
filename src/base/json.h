// SPDX-License-Identifier: Apache-2.0
// JSON in and out. parse() checks depth and size limits and reports line and column; objects keep
// the order of their keys (of repeated keys the last value counts). Only json.cpp knows the parsing
// library. Values are plain data: copy, move, no sharing.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"

namespace anynpu::json {

class Value;
using Array = std::vector<Value>;
using Member = std::pair<std::string, Value>;
using Object = std::vector<Member>;

class Value {
 public:
  Value() = default;
  Value(bool v) : data_(v) {}  // NOLINT: implicit by design, as the rest
  Value(int v) : data_(static_cast<int64_t>(v)) {}
  Value(int64_t v) : data_(v) {}
  Value(uint64_t v) : data_(v) {}
  Value(double v) : data_(v) {}
  Value(const char* v) : data_(std::string(v)) {}
  Value(std::string v) : data_(std::move(v)) {}
  Value(Array v) : data_(std::move(v)) {}
  Value(Object v) : data_(std::move(v)) {}

  // Null pointers when the value is of another kind.
  const bool* boolean() const { return std::get_if<bool>(&data_); }
  const std::string* string() const { return std::get_if<std::string>(&data_); }
  const Array* array() const { return std::get_if<Array>(&data_); }
  const Object* object() const { return std::get_if<Object>(&data_); }
  Array* array() { return std::get_if<Array>(&data_); }
  Object* object() { return std::get_if<Object>(&data_); }
  bool is_null() const { return std::holds_alternative<std::monostate>(data_); }
  bool is_number() const;
  // Fails on other kinds, fractions and numbers outside 64 bits.
  Result<int64_t> integer() const;
  // Any number.
  Result<double> real() const;

  // The member `key` of an object; null when it is absent or this is not an object.
  const Value* find(std::string_view key) const;
  // Adds or replaces a member; turns null into an object first.
  void set(std::string_view key, Value value);

  // "object", "string", ...: for messages.
  std::string_view kind() const;

  // Compact text; with `indent` > 0, one member per line. NaN and infinities become null.
  std::string dump(int indent = 0) const;

 private:
  friend struct Dumper;
  std::variant<std::monostate, bool, int64_t, uint64_t, double, std::string, Array, Object> data_;
};

struct Limits {
  size_t max_objects_deep = 64;  // nesting of {
  size_t max_arrays_deep = 64;   // nesting of [
  size_t max_bytes = size_t{64} << 20;
};

// `what` names the text in messages, such as a file name.
Result<Value> parse(std::string_view text, std::string_view what, const Limits& limits = {});

// `text` in quotes, with escapes; bytes that are not UTF-8 become U+FFFD.
std::string quote(std::string_view text);

}  // namespace anynpu::json
