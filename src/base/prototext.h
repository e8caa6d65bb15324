// SPDX-License-Identifier: Apache-2.0
// The protobuf text format, read without a schema into a tree of fields. A list `name: [a, b]`
// becomes one field per element, as if each had the name in front. Text that does not follow the
// grammar, nests deeper than kMaxTextDepth or holds more than kMaxTextFields fields gives a
// parse_error that names the place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace anynpu {

constexpr int kMaxTextDepth = 64;
constexpr size_t kMaxTextFields = size_t{1} << 20;
constexpr size_t kMaxTextBytes = size_t{64} << 20;

struct TextField {
  enum class Kind : uint8_t {
    word,    // a number, an enum name, true or false; `text` is as in the file
    string,  // quoted; `text` has escapes resolved
    message  // `fields`
  };

  std::string name;  // "[a.b]" for an extension
  Kind kind = Kind::message;
  std::string text;
  std::vector<TextField> fields;
  int line = 1;
  int column = 1;
  std::shared_ptr<const std::string> file;  // null: the text is not from a file

  // Each fails with parse_error when the value is of another kind or out of range.
  Status to(int64_t& out) const;
  Status to(float& out) const;
  Status to(double& out) const;
  Status to(bool& out) const;
  // A string, or an unquoted word: old files quote enum names, or leave the quotes out.
  Status to(std::string& out) const;

  // The last field of this name, which is the one that counts for a single field; null if absent.
  const TextField* find(std::string_view field_name) const;
  std::vector<const TextField*> all(std::string_view field_name) const;

  // "net.prototxt:3:7", or "line 3, column 7" without a file; for messages.
  std::string where() const;
};

// The whole text as one message without a name. `file` is its name in error messages.
Result<TextField> parse_prototext(std::string_view text, std::string_view file = {});

}  // namespace anynpu
