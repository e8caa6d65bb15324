// SPDX-License-Identifier: Apache-2.0
// Numbers as printf writes them (TensorFlow's AsString), and texts in one case.
#include <charconv>
#include <cmath>
#include <cstring>

#include "ops/text/text.h"
#include "ops/text/unicode.h"

namespace anynpu::ops::text {

namespace {

constexpr int64_t kMostDigits = 400;  // of a precision or a width

struct Form {
  std::chars_format notation = std::chars_format::fixed;
  int precision = -1;  // 6, as printf has it
  size_t width = 0;
  char fill = 0;  // a flag of printf: '-', '+', ' ' or '0'
};

Result<Form> form_of(const OpContext& context) {
  Form form;
  const std::string notation = context.string_attr("notation"), fill = context.string_attr("fill");
  const int64_t precision = context.int_attr("precision"), width = context.int_attr("width");
  if (precision < -1 || precision > kMostDigits || width < -1 || width > kMostDigits ||
      fill.size() > 1 || std::string("-+ 0").find(fill) == std::string::npos) {
    return fail(Code::invalid_argument,
                "{}: precision {}, width {} and fill '{}'; expected -1 to {}, -1 to {}, and "
                "nothing or one of '-', '+', ' ', '0'",
                context.label(), precision, width, fill, kMostDigits, kMostDigits);
  }
  if (notation == "e") form.notation = std::chars_format::scientific;
  if (notation == "g") form.notation = std::chars_format::general;
  form.precision = static_cast<int>(precision);
  form.width = width > 0 ? static_cast<size_t>(width) : 0;
  form.fill = fill.empty() ? '\0' : fill[0];
  return form;
}

// `digits` without their sign, in the width of `form`.
std::string in_width(const Form& form, bool negative, const std::string& digits, bool finite) {
  std::string text = negative ? "-" : form.fill == '+' ? "+" : form.fill == ' ' ? " " : "";
  const size_t sign = text.size();
  text += digits;
  if (text.size() >= form.width) return text;
  const size_t missing = form.width - text.size();
  if (form.fill == '-') return text.append(missing, ' ');
  if (form.fill == '0' && finite) return text.insert(sign, missing, '0');
  return text.insert(0, missing, ' ');
}

std::string of_real(const Form& form, double value) {
  char digits[1024];
  const auto end = std::to_chars(digits, digits + sizeof digits, std::fabs(value), form.notation,
                                 form.precision < 0 ? 6 : form.precision)
                       .ptr;
  return in_width(form, std::signbit(value), {digits, end}, std::isfinite(value));
}

template <typename T>
std::vector<T> numbers_in(std::span<const std::byte> bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

}  // namespace

FoldedList format_numbers(const OpContext& context) {
  const Operand& x = context.inputs[0];
  ANYNPU_ASSIGN(const Form form, form_of(context));
  ANYNPU_TRY(check_size(context, static_cast<uint64_t>(element_count(x.shape)), 0));
  const Folded given{x.dtype, x.shape, {x.constant.begin(), x.constant.end()}};
  std::vector<std::string> texts;
  if (x.dtype == DType::string) {
    ANYNPU_ASSIGN(const auto list, texts_of(x));
    Form of_texts = form;
    if (form.fill != '-') of_texts.fill = 0;
    for (std::string_view text : list)
      texts.push_back(in_width(of_texts, false, std::string(text), false));
  } else if (x.dtype == DType::boolean) {
    for (uint8_t value : numbers_in<uint8_t>(x.constant))
      texts.emplace_back(value ? "true" : "false");
  } else if (x.dtype == DType::c64 || x.dtype == DType::c128) {
    std::vector<double> parts;
    if (x.dtype == DType::c128) parts = numbers_in<double>(x.constant);
    for (float part : x.dtype == DType::c64 ? numbers_in<float>(x.constant) : std::vector<float>())
      parts.push_back(part);
    for (size_t i = 0; i + 1 < parts.size(); i += 2) {
      texts.push_back("(" + of_real(form, parts[i]) + "," + of_real(form, parts[i + 1]) + ")");
    }
  } else if (is_floating(x.dtype)) {
    ANYNPU_ASSIGN(const auto wide, cast_numbers(given, DType::f64));
    for (double value : numbers_in<double>(wide[0].bytes)) texts.push_back(of_real(form, value));
  } else if (x.dtype == DType::u64) {
    for (uint64_t value : numbers_in<uint64_t>(x.constant))
      texts.push_back(in_width(form, false, std::to_string(value), true));
  } else {
    ANYNPU_ASSIGN(const auto wide, cast_numbers(given, DType::i64));
    for (int64_t value : numbers_in<int64_t>(wide[0].bytes)) {
      const std::string digits = std::to_string(value);
      texts.push_back(in_width(form, value < 0, digits.substr(value < 0 ? 1 : 0), true));
    }
  }
  return std::vector<Folded>{folded(x.shape, texts)};
}

FoldedList change_case(const OpContext& context) {
  const Operand& x = context.inputs[0];
  const bool upper = context.string_attr("action") == "UPPER";
  const bool unicode = context.int_attr("unicode") != 0;
  ANYNPU_ASSIGN(const auto list, texts_of(x));
  ANYNPU_ASSIGN(const Cases cases, Cases::of(""), "{}", context.label());
  const char first = upper ? 'a' : 'A', last = upper ? 'z' : 'Z';
  std::vector<std::string> texts;
  for (std::string_view given : list) {
    std::string text(given);
    if (unicode) text = upper ? cases.upper(given) : cases.lower(given);
    for (char& c : text) {
      if (c >= first && c <= last) c = static_cast<char>(c ^ 0x20);
    }
    texts.push_back(std::move(text));
  }
  return std::vector<Folded>{folded(x.shape, texts)};
}

}  // namespace anynpu::ops::text
