// SPDX-License-Identifier: Apache-2.0
#include "base/json.h"

#include <charconv>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

namespace anynpu::json {

namespace {

// Builds a Value from the library's events; stops at the first failure.
class Builder : public nlohmann::json_sax<nlohmann::json> {
 public:
  Builder(std::string_view text, std::string_view what, const Limits& limits)
      : text_(text), what_(what), limits_(limits) {}

  bool null() override { return add(Value()); }
  bool boolean(bool v) override { return add(v); }
  bool number_integer(number_integer_t v) override { return add(int64_t{v}); }
  bool number_unsigned(number_unsigned_t v) override {
    if (v <= static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
      return add(static_cast<int64_t>(v));
    }
    return add(uint64_t{v});
  }
  bool number_float(number_float_t v, const string_t&) override { return add(v); }
  bool string(string_t& v) override { return add(std::move(v)); }
  bool binary(binary_t&) override { return false; }
  bool key(string_t& v) override {
    key_ = std::move(v);
    return true;
  }
  bool start_object(std::size_t) override {
    if (++objects_ > limits_.max_objects_deep) return too_deep('{', limits_.max_objects_deep);
    return open(Object{});
  }
  bool start_array(std::size_t) override {
    if (++arrays_ > limits_.max_arrays_deep) return too_deep('[', limits_.max_arrays_deep);
    return open(Array{});
  }
  bool end_object() override {
    --objects_;
    return close();
  }
  bool end_array() override {
    --arrays_;
    return close();
  }
  bool parse_error(std::size_t position, const std::string& token,
                   const nlohmann::detail::exception&) override {
    const std::string_view before = text_.substr(0, position ? position - 1 : 0);
    size_t line = 1;
    for (char c : before) line += c == '\n';
    const size_t start = before.rfind('\n');
    const size_t column = before.size() - (start == std::string_view::npos ? 0 : start + 1) + 1;
    std::string seen = quote(token.substr(0, 40));
    status_ = fail(Code::parse_error,
                   "{}: line {}, column {}: {} does not belong here; expected valid JSON, so check "
                   "commas, quotes and brackets around it",
                   what_, line, column, token.empty() ? "the end of the text" : seen);
    return false;
  }

  Result<Value> finish(bool parsed) {
    if (!status_.ok()) return status_;
    if (!parsed) return fail(Code::parse_error, "{}: not valid JSON; check its text", what_);
    return std::move(root_);
  }

 private:
  struct Level {
    Value value;
    std::string key;  // under which the parent takes the value
  };

  bool too_deep(char bracket, size_t limit) {
    status_ =
        fail(Code::parse_error,
             "{}: '{}' is nested more than {} levels deep; expected at most {}: flatten the text",
             what_, bracket, limit, limit);
    return false;
  }
  bool open(Value container) {
    stack_.push_back({std::move(container), std::move(key_)});
    return true;
  }
  bool close() {
    Level level = std::move(stack_.back());
    stack_.pop_back();
    key_ = std::move(level.key);
    return add(std::move(level.value));
  }
  bool add(Value value) {
    if (stack_.empty()) {
      root_ = std::move(value);
    } else if (Array* list = stack_.back().value.array()) {
      list->push_back(std::move(value));
    } else {
      stack_.back().value.set(key_, std::move(value));
    }
    return true;
  }

  std::string_view text_;
  std::string_view what_;
  Limits limits_;
  Status status_;
  Value root_;
  std::vector<Level> stack_;
  std::string key_;
  size_t objects_ = 0;
  size_t arrays_ = 0;
};

// Length of the valid UTF-8 sequence at the start of `text`; 0 when there is none.
size_t utf8_length(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  const size_t length = first < 0x80       ? 1
                        : first >> 5 == 6  ? 2
                        : first >> 4 == 14 ? 3
                        : first >> 3 == 30 ? 4
                                           : 0;
  if (length == 0 || length > text.size()) return 0;
  uint32_t point = length == 1 ? first : first & (0xff >> (length + 1));
  for (size_t i = 1; i < length; ++i) {
    if (byte(i) >> 6 != 2) return 0;
    point = point << 6 | (byte(i) & 0x3f);
  }
  constexpr uint32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = point >= 0xd800 && point <= 0xdfff;
  return point < kSmallest[length] || point > 0x10ffff || surrogate ? 0 : length;
}

void append_quoted(std::string& out, std::string_view text) {
  out += '"';
  for (size_t i = 0; i < text.size();) {
    const char c = text[i];
    const size_t length = utf8_length(text.substr(i));
    if (length != 1) {
      out += length ? text.substr(i, length) : std::string_view("\xef\xbf\xbd");
      i += length ? length : 1;
      continue;
    }
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (c == '\r') {
      out += "\\r";
    } else if (static_cast<unsigned char>(c) < 0x20) {
      constexpr char kHex[] = "0123456789abcdef";
      out += "\\u00";
      out += kHex[c >> 4];
      out += kHex[c & 15];
    } else {
      out += c;
    }
    ++i;
  }
  out += '"';
}

template <typename T>
void append_number(std::string& out, T value) {
  char text[40];
  auto [end, error] = std::to_chars(text, text + sizeof text, value);
  out.append(text, end);
}

}  // namespace

struct Dumper {
  std::string out;
  int indent = 0;

  void line(int depth) {
    if (indent == 0) return;
    out += '\n';
    out.append(static_cast<size_t>(indent) * static_cast<size_t>(depth), ' ');
  }
  void dump(const Value& value, int depth) {
    std::visit([&](const auto& v) { write(v, depth); }, value.data_);
  }
  void write(std::monostate, int) { out += "null"; }
  void write(bool v, int) { out += v ? "true" : "false"; }
  void write(int64_t v, int) { append_number(out, v); }
  void write(uint64_t v, int) { append_number(out, v); }
  void write(double v, int) {
    if (!std::isfinite(v)) {
      out += "null";
      return;
    }
    const size_t start = out.size();
    append_number(out, v);
    // 2.0 stays a real number when it is read again.
    if (out.find_first_of(".e", start) == std::string::npos) out += ".0";
  }
  void write(const std::string& v, int) { append_quoted(out, v); }
  void write(const Array& v, int depth) {
    out += '[';
    for (size_t i = 0; i < v.size(); ++i) {
      if (i) out += ',';
      line(depth + 1);
      dump(v[i], depth + 1);
    }
    if (!v.empty()) line(depth);
    out += ']';
  }
  void write(const Object& v, int depth) {
    out += '{';
    for (size_t i = 0; i < v.size(); ++i) {
      if (i) out += ',';
      line(depth + 1);
      append_quoted(out, v[i].first);
      out += indent ? ": " : ":";
      dump(v[i].second, depth + 1);
    }
    if (!v.empty()) line(depth);
    out += '}';
  }
};

bool Value::is_number() const {
  return std::holds_alternative<int64_t>(data_) || std::holds_alternative<uint64_t>(data_) ||
         std::holds_alternative<double>(data_);
}

Result<int64_t> Value::integer() const {
  if (const auto* v = std::get_if<int64_t>(&data_)) return *v;
  return fail(Code::parse_error, "{} is not a 64-bit integer; write a whole number", dump());
}

Result<double> Value::real() const {
  if (const auto* v = std::get_if<double>(&data_)) return *v;
  if (const auto* v = std::get_if<int64_t>(&data_)) return static_cast<double>(*v);
  if (const auto* v = std::get_if<uint64_t>(&data_)) return static_cast<double>(*v);
  return fail(Code::parse_error, "{} is not a number; write it without quotes", dump());
}

const Value* Value::find(std::string_view key) const {
  if (const Object* members = object()) {
    for (const Member& member : *members) {
      if (member.first == key) return &member.second;
    }
  }
  return nullptr;
}

void Value::set(std::string_view key, Value value) {
  if (is_null()) data_ = Object{};
  Object* members = object();
  if (!members) return;
  for (Member& member : *members) {
    if (member.first == key) {
      member.second = std::move(value);
      return;
    }
  }
  members->emplace_back(std::string(key), std::move(value));
}

std::string_view Value::kind() const {
  constexpr std::string_view kNames[] = {"null",   "boolean", "integer", "integer",
                                         "number", "string",  "array",   "object"};
  return kNames[data_.index()];
}

std::string Value::dump(int indent) const {
  Dumper dumper{.out = {}, .indent = indent};
  dumper.dump(*this, 0);
  return std::move(dumper.out);
}

Result<Value> parse(std::string_view text, std::string_view what, const Limits& limits) {
  if (text.size() > limits.max_bytes) {
    return fail(Code::parse_error, "{}: {} bytes of JSON; expected at most {}: shorten it", what,
                text.size(), limits.max_bytes);
  }
  Builder builder(text, what, limits);
  const bool parsed = nlohmann::json::sax_parse(text.begin(), text.end(), &builder);
  return builder.finish(parsed);
}

std::string quote(std::string_view text) {
  std::string out;
  append_quoted(out, text);
  return out;
}

}  // namespace anynpu::json
