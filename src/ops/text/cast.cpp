// SPDX-License-Identifier: Apache-2.0
// Cast and CastLike between numbers and strings. Numbers are written with the fewest digits that
// give them back, as numpy writes them.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <span>

#include "ops/elements/cast_attributes.h"
#include "ops/text/text.h"
#include "ops/text/unicode.h"

namespace anynpu::ops::text {

namespace {

std::string_view trimmed(std::string_view text) {
  const auto space = [](char c) { return is_white_space(static_cast<unsigned char>(c)); };
  while (!text.empty() && space(text.front())) text.remove_prefix(1);
  while (!text.empty() && space(text.back())) text.remove_suffix(1);
  return text;
}

template <typename T>
FoldedList parse(const OpContext& context, DType dtype) {
  const Operand& x = context.inputs[0];
  ANYNPU_ASSIGN(const auto texts, texts_of(x));
  std::vector<T> values;
  for (std::string_view given : texts) {
    std::string_view text = trimmed(given);
    if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
    T value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (text.empty() || error != std::errc() || end != text.data() + text.size()) {
      return fail(Code::invalid_argument, "{}: the string '{}' is no {}", context.label(), given,
                  name_of(context.outputs[0].dtype));
    }
    values.push_back(value);
  }
  const auto bytes = std::as_bytes(std::span(values));
  return std::vector<Folded>{{dtype, x.shape, {bytes.begin(), bytes.end()}}};
}

}  // namespace

FoldedList cast_numbers(const Folded& from, DType to, const graph::Node* model) {
  graph::Node node;
  node.op = "CastLike";
  if (model) node.attrs = model->attrs;
  node.attrs.erase("to");
  node.opset = 24;
  node.inputs = {0, 1};
  node.outputs = {2};
  const std::vector<std::byte> like(bytes_of(to, 1));
  std::vector<Operand> inputs = {Operand::of(from.dtype, from.shape), Operand::of(to, {1})};
  inputs[0].is_constant = inputs[1].is_constant = true;
  inputs[0].constant = from.bytes;
  inputs[1].constant = like;
  ANYNPU_ASSIGN(const OpContext context, infer(node, std::move(inputs)));
  ANYNPU_ASSIGN(auto results, evaluate(context));
  return std::vector<Folded>{{to, from.shape, std::move(results[0])}};
}

namespace {

// "d.ddde±dd" with `digits` after the point, the fewest that give the number back for -1.
template <typename T>
std::string scientific(T value, int digits) {
  char text[64];
  const auto result =
      digits < 0
          ? std::to_chars(text, text + sizeof text, value, std::chars_format::scientific)
          : std::to_chars(text, text + sizeof text, value, std::chars_format::scientific, digits);
  return {text, result.ptr};
}

// 1234.5 as "1234.5" and 1e+16 as it is: the form numpy and Python choose.
std::string laid_out(const std::string& text, double value) {
  const double size = std::fabs(value);
  if (!std::isfinite(value) || (size != 0 && (size < 1e-4 || size >= 1e16))) return text;
  const size_t e = text.find('e');
  int exponent = 0;
  const char* from = text.data() + e + (text[e + 1] == '+' ? 2 : 1);
  std::from_chars(from, text.data() + text.size(), exponent);
  std::string sign, digits;
  for (char c : text.substr(0, e)) {
    if (c == '-') sign = "-";
    if (c >= '0' && c <= '9') digits += c;
  }
  if (exponent < 0) digits.insert(0, static_cast<size_t>(-exponent), '0');
  const size_t point = static_cast<size_t>(std::max(exponent, 0)) + 1;
  if (digits.size() <= point) digits.append(point + 1 - digits.size(), '0');
  return sign + digits.substr(0, point) + "." + digits.substr(point);
}

// Types of 16 bits and less have no shortest form in the standard library: the first that comes
// back.
FoldedList write_short_floats(const OpContext& context, const std::vector<double>& values) {
  const Operand& x = context.inputs[0];
  std::vector<std::string> texts(values.size());
  constexpr int kMostDigits = 9;
  for (int digits = 0; digits <= kMostDigits; ++digits) {
    std::vector<double> tried(values.size());
    std::vector<std::string> written(values.size());
    for (size_t i = 0; i < values.size(); ++i) {
      written[i] = scientific(values[i], digits);
      std::from_chars(written[i].data(), written[i].data() + written[i].size(), tried[i]);
    }
    const auto bytes = std::as_bytes(std::span(tried));
    ANYNPU_ASSIGN(const auto rounded,
                  cast_numbers({DType::f64, x.shape, {bytes.begin(), bytes.end()}}, x.dtype));
    ANYNPU_ASSIGN(const auto back, cast_numbers(rounded[0], DType::f64));
    for (size_t i = 0; i < values.size(); ++i) {
      const bool same =
          std::memcmp(back[0].bytes.data() + sizeof(double) * i, &values[i], sizeof(double)) == 0;
      if (texts[i].empty() && (same || digits == kMostDigits))
        texts[i] = laid_out(written[i], values[i]);
    }
  }
  return std::vector<Folded>{folded(x.shape, texts)};
}

template <typename T>
std::vector<T> elements_of(std::span<const std::byte> bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

template <typename T, typename Write>
FoldedList write_all(const Shape& shape, std::span<const std::byte> bytes, const Write& write) {
  std::vector<std::string> texts;
  for (T value : elements_of<T>(bytes)) texts.push_back(write(value));
  return std::vector<Folded>{folded(shape, texts)};
}

FoldedList write_numbers(const OpContext& context) {
  const Operand& x = context.inputs[0];
  const auto whole = [](auto value) { return std::to_string(value); };
  const auto real = [](auto value) {
    return laid_out(scientific(value, -1), static_cast<double>(value));
  };
  switch (x.dtype) {
    case DType::boolean:
      return write_all<uint8_t>(x.shape, x.constant,
                                [](uint8_t value) { return value ? "True" : "False"; });
    case DType::f32:
      return write_all<float>(x.shape, x.constant, real);
    case DType::f64:
      return write_all<double>(x.shape, x.constant, real);
    case DType::u64:
      return write_all<uint64_t>(x.shape, x.constant, whole);
    default:
      break;
  }
  const bool floating = is_floating(x.dtype);
  const Folded given{x.dtype, x.shape, {x.constant.begin(), x.constant.end()}};
  ANYNPU_ASSIGN(const auto wide, cast_numbers(given, floating ? DType::f64 : DType::i64));
  if (floating) return write_short_floats(context, elements_of<double>(wide[0].bytes));
  return write_all<int64_t>(x.shape, wide[0].bytes, whole);
}

}  // namespace

FoldedList cast_texts(const OpContext& given) {
  OpContext context = given;
  const Operand& x = context.inputs[0];
  const bool like = context.node->op == "CastLike";
  DType to = DType::undefined;
  if (like) {
    to = context.inputs[1].dtype;
  } else {
    ANYNPU_ASSIGN(to, dtype_of_onnx(context, context.node->int_attr("to", 0)));
  }
  context.outputs = {Operand::of(to, x.shape)};
  if (x.dtype != DType::string) return write_numbers(context);
  if (to == DType::string) {
    return std::vector<Folded>{{to, x.shape, {x.constant.begin(), x.constant.end()}}};
  }
  constexpr DTypeSet kParsed = kNumbers | kSmallFloats | DTypeSet{DType::i4};
  if (!kParsed.has(to)) {
    return fail(Code::unsupported_dtype, "{}: strings cannot become {}; expected one of {}",
                context.label(), name_of(to), kParsed.to_string());
  }
  if (to == DType::f32) return parse<float>(context, DType::f32);
  FoldedList wide = is_floating(to)    ? parse<double>(context, DType::f64)
                    : to == DType::u64 ? parse<uint64_t>(context, DType::u64)
                                       : parse<int64_t>(context, DType::i64);
  ANYNPU_TRY(wide.status());
  if ((*wide)[0].dtype == to) return wide;
  return cast_numbers((*wide)[0], to, context.node);
}

}  // namespace anynpu::ops::text
