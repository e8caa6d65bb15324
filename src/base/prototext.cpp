// SPDX-License-Identifier: Apache-2.0
#include "base/prototext.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>

namespace anynpu {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_word(char c) { return is_letter(c) || is_digit(c) || c == '.' || c == '+' || c == '-'; }

class Parser {
 public:
  Parser(std::string_view text, std::shared_ptr<const std::string> file)
      : text_(text), file_(std::move(file)) {}

  // Fields up to `close`; '\0' means the end of the text.
  Status fields(TextField& into, char close, int depth) {
    if (depth > kMaxTextDepth) return error("messages nest deeper than " + number(kMaxTextDepth));
    for (;;) {
      skip_space();
      if (at_end()) {
        if (close == '\0') return {};
        return error(format("the text ends inside '{}' of line {}", into.name, into.line));
      }
      if (close != '\0' && peek() == close) {
        advance();
        return {};
      }
      ANYNPU_TRY(field(into, depth));
      skip_space();
      if (!at_end() && (peek() == ',' || peek() == ';')) advance();
    }
  }

 private:
  Status field(TextField& into, int depth) {
    TextField made;
    mark(made);
    ANYNPU_TRY(field_name(made.name));
    skip_space();
    bool colon = false;
    if (!at_end() && peek() == ':') {
      colon = true;
      advance();
      skip_space();
    }
    if (at_end()) return error(format("no value after '{}'", made.name));
    if (colon && peek() == '[') return list(into, made, depth);
    if (!colon && peek() != '{' && peek() != '<') {
      return error(format("expected ':' or '{{' after '{}', found {}", made.name, shown()));
    }
    return value(into, std::move(made), depth);
  }

  Status list(TextField& into, const TextField& model, int depth) {
    advance();
    skip_space();
    if (!at_end() && peek() == ']') {
      advance();
      return {};
    }
    for (;;) {
      skip_space();
      TextField made;
      mark(made);
      made.name = model.name;
      if (at_end()) return error(format("the list of '{}' has no ']'", model.name));
      ANYNPU_TRY(value(into, std::move(made), depth));
      skip_space();
      if (at_end()) return error(format("the list of '{}' has no ']'", model.name));
      const char c = peek();
      if (c != ',' && c != ']') return error(format("expected ',' or ']', found {}", shown()));
      advance();
      if (c == ']') return {};
    }
  }

  Status value(TextField& into, TextField made, int depth) {
    if (++count_ > kMaxTextFields) return error("more than " + number(kMaxTextFields) + " fields");
    const char c = peek();
    if (c == '{' || c == '<') {
      advance();
      made.kind = TextField::Kind::message;
      ANYNPU_TRY(fields(made, c == '{' ? '}' : '>', depth + 1));
    } else if (c == '"' || c == '\'') {
      made.kind = TextField::Kind::string;
      // Strings side by side are one string.
      while (!at_end() && (peek() == '"' || peek() == '\'')) {
        ANYNPU_TRY(quoted(made.text));
        skip_space();
      }
    } else {
      made.kind = TextField::Kind::word;
      ANYNPU_TRY(word(made));
    }
    into.fields.push_back(std::move(made));
    return {};
  }

  Status word(TextField& made) {
    if (peek() == '-') {
      made.text += '-';
      advance();
      skip_space();
    }
    while (!at_end() && is_word(peek())) {
      // A sign belongs to a number only after its exponent: 1e-5.
      if (peek() == '-' || peek() == '+') {
        const bool exponent = made.text.size() > 1 && is_number(made.text) &&
                              (made.text.back() == 'e' || made.text.back() == 'E');
        if (!exponent) break;
      }
      made.text += peek();
      advance();
    }
    if (made.text.empty() || made.text == "-") {
      return error(format("expected a value for '{}', found {}", made.name, shown()));
    }
    return {};
  }

  static bool is_number(const std::string& text) {
    const size_t first = text[0] == '-' ? 1 : 0;
    return first < text.size() && (is_digit(text[first]) || text[first] == '.') &&
           text.find_first_of("xX") == std::string::npos;
  }

  Status field_name(std::string& name) {
    if (peek() == '[') {
      while (!at_end() && peek() != ']' && peek() != '\n') {
        name += peek();
        advance();
      }
      if (at_end() || peek() != ']') return error("an extension name has no ']'");
      name += ']';
      advance();
      return {};
    }
    if (!is_letter(peek())) return error(format("expected the name of a field, found {}", shown()));
    while (!at_end() && (is_letter(peek()) || is_digit(peek()))) {
      name += peek();
      advance();
    }
    return {};
  }

  Status quoted(std::string& out) {
    const char quote = peek();
    advance();
    while (!at_end() && peek() != quote) {
      if (peek() == '\n') return error("a string runs over the end of its line");
      if (peek() == '\\') {
        advance();
        ANYNPU_TRY(escape(out));
      } else {
        out += peek();
        advance();
      }
    }
    if (at_end()) return error("a string has no closing quote");
    advance();
    return {};
  }

  Status escape(std::string& out) {
    if (at_end()) return error("a string has no closing quote");
    const char c = peek();
    constexpr std::string_view from = "abfnrtv\\'\"?";
    constexpr std::string_view to = "\a\b\f\n\r\t\v\\'\"?";
    if (const size_t simple = from.find(c); simple != std::string_view::npos) {
      out += to[simple];
      advance();
      return {};
    }
    int base = 8;
    size_t most = 3;
    if (c == 'x' || c == 'X') {
      base = 16;
      most = 2;
      advance();
    } else if (c == 'u' || c == 'U') {
      base = 16;
      most = c == 'u' ? 4 : 8;
      advance();
    }
    const size_t length = std::min(most, text_.size() - position_);
    const char* first = text_.data() + position_;
    uint32_t code = 0;
    const auto parsed = std::from_chars(first, first + length, code, base);
    const auto used = static_cast<size_t>(parsed.ptr - first);
    const bool unicode = most == 4 || most == 8;
    if (used == 0 || parsed.ec != std::errc() || (unicode && (used != most || code > 0x10ffff)) ||
        (!unicode && code > 0xff)) {
      return error(format("'\\{}' starts no escape that is known", c));
    }
    for (size_t i = 0; i < used; ++i) advance();
    if (unicode) {
      append_utf8(out, code);
    } else {
      out += static_cast<char>(code);
    }
    return {};
  }

  static void append_utf8(std::string& out, uint32_t code) {
    const auto tail = [&](int shift) { out += static_cast<char>(0x80 | ((code >> shift) & 0x3f)); };
    if (code < 0x80) {
      out += static_cast<char>(code);
    } else if (code < 0x800) {
      out += static_cast<char>(0xc0 | (code >> 6));
      tail(0);
    } else if (code < 0x10000) {
      out += static_cast<char>(0xe0 | (code >> 12));
      tail(6);
      tail(0);
    } else {
      out += static_cast<char>(0xf0 | (code >> 18));
      tail(12);
      tail(6);
      tail(0);
    }
  }

  void skip_space() {
    while (!at_end()) {
      const char c = peek();
      if (c == '#') {
        while (!at_end() && peek() != '\n') advance();
      } else if (c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\f' || c == '\v') {
        advance();
      } else {
        return;
      }
    }
  }

  bool at_end() const { return position_ >= text_.size(); }
  char peek() const { return text_[position_]; }
  void advance() {
    if (text_[position_++] == '\n') {
      ++line_;
      column_ = 1;
    } else {
      ++column_;
    }
  }
  void mark(TextField& field) const {
    field.line = line_;
    field.column = column_;
    field.file = file_;
  }
  static std::string number(size_t value) { return std::to_string(value); }
  std::string shown() const {
    if (at_end()) return "the end of the text";
    const auto c = static_cast<unsigned char>(peek());
    if (c >= 0x20 && c < 0x7f) return std::string("'") + peek() + "'";
    return "the byte " + number(c);
  }
  Status error(const std::string& what) const {
    TextField here;
    mark(here);
    return fail(Code::parse_error, "{}: {}", here.where(), what);
  }

  std::string_view text_;
  std::shared_ptr<const std::string> file_;
  size_t position_ = 0;
  size_t count_ = 0;
  int line_ = 1;
  int column_ = 1;
};

Status wrong(const TextField& field, std::string_view expected) {
  return fail(Code::parse_error, "{}: '{}' is {}; expected {}", field.where(), field.name,
              field.kind == TextField::Kind::message ? "a message" : "'" + field.text + "'",
              expected);
}

}  // namespace

Result<TextField> parse_prototext(std::string_view text, std::string_view file) {
  if (text.size() > kMaxTextBytes) {
    return fail(Code::parse_error, "{} has {} bytes; expected at most {}",
                file.empty() ? "the text" : file, text.size(), kMaxTextBytes);
  }
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  TextField root;
  if (!file.empty()) root.file = std::make_shared<const std::string>(file);
  ANYNPU_TRY(Parser(text, root.file).fields(root, '\0', 0));
  return root;
}

std::string TextField::where() const {
  if (file) return format("{}:{}:{}", *file, line, column);
  return format("line {}, column {}", line, column);
}

Status TextField::to(int64_t& out) const {
  std::string_view digits = text;
  const bool minus = digits.starts_with('-');
  if (minus) digits.remove_prefix(1);
  int base = 10;
  if (digits.starts_with("0x") || digits.starts_with("0X")) {
    base = 16;
    digits.remove_prefix(2);
  } else if (digits.size() > 1 && digits[0] == '0') {
    base = 8;
  }
  uint64_t magnitude = 0;
  const char* end = digits.data() + digits.size();
  const auto parsed = std::from_chars(digits.data(), end, magnitude, base);
  if (kind != Kind::word || parsed.ec != std::errc() || parsed.ptr != end || digits.empty() ||
      magnitude > static_cast<uint64_t>(INT64_MAX)) {
    return wrong(*this, "a whole number");
  }
  out = minus ? -static_cast<int64_t>(magnitude) : static_cast<int64_t>(magnitude);
  return {};
}

Status TextField::to(double& out) const {
  std::string digits = text;
  const size_t first = digits.starts_with('-') ? 1 : 0;
  const bool hexadecimal = digits.size() > first + 1 && digits[first] == '0' &&
                           (digits[first + 1] == 'x' || digits[first + 1] == 'X');
  if (digits.size() > first + 1 && !hexadecimal && (digits.back() == 'f' || digits.back() == 'F') &&
      (is_digit(digits[digits.size() - 2]) || digits[digits.size() - 2] == '.')) {
    digits.pop_back();
  }
  double made = 0;
  const char* end = digits.data() + digits.size();
  const auto parsed = std::from_chars(digits.data(), end, made);
  if (kind != Kind::word || parsed.ptr != end || digits.size() == first ||
      parsed.ec == std::errc::invalid_argument) {
    int64_t whole = 0;  // a hexadecimal or octal number
    if (kind != Kind::word || !to(whole).ok()) return wrong(*this, "a number");
    made = static_cast<double>(whole);
  } else if (parsed.ec == std::errc::result_out_of_range) {
    made = std::strtod(digits.c_str(), nullptr);  // rounds to zero or infinity, as protobuf does
  }
  out = made;
  return {};
}

Status TextField::to(float& out) const {
  double made = 0;
  ANYNPU_TRY(to(made));
  out = static_cast<float>(made);
  return {};
}

Status TextField::to(bool& out) const {
  const bool yes = text == "true" || text == "True" || text == "t" || text == "1";
  const bool no = text == "false" || text == "False" || text == "f" || text == "0";
  if (kind != Kind::word || (!yes && !no)) return wrong(*this, "true or false");
  out = yes;
  return {};
}

Status TextField::to(std::string& out) const {
  if (kind == Kind::message) return wrong(*this, "a string");
  out = text;
  return {};
}

const TextField* TextField::find(std::string_view field_name) const {
  const auto found = std::find_if(fields.rbegin(), fields.rend(),
                                  [&](const TextField& field) { return field.name == field_name; });
  return found == fields.rend() ? nullptr : &*found;
}

std::vector<const TextField*> TextField::all(std::string_view field_name) const {
  std::vector<const TextField*> found;
  for (const TextField& field : fields) {
    if (field.name == field_name) found.push_back(&field);
  }
  return found;
}

}  // namespace anynpu
