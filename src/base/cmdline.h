// SPDX-License-Identifier: Apache-2.0
// The one command-line parser of the C++ tools: options come from a table of names, grammars,
// defaults and help. Accepts --name=value, --name value, the same with one dash, and quoted values.
// An unknown or incomplete option fails with a message.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace anynpu {

struct OptionSpec {
  std::string_view name;       // without dashes
  std::string_view grammar;    // shown in the help; empty = a switch without value
  std::string_view otherwise;  // the default; empty = none
  std::string_view help;
};

class CommandLine {
 public:
  // `args` without the program's name. Of a repeated option the last value counts.
  static Result<CommandLine> parse(std::span<const OptionSpec> table,
                                   std::span<const std::string> args);

  bool has(std::string_view name) const;
  // The value given, else the table's default.
  std::string get(std::string_view name) const;
  // Names and values in the order of the command line, for records.
  const std::vector<std::pair<std::string, std::string>>& given() const { return given_; }

 private:
  std::span<const OptionSpec> table_;
  std::vector<std::pair<std::string, std::string>> given_;
};

// One paragraph per option: "  --name=grammar  help (default: ...)".
std::string option_help(std::span<const OptionSpec> table);

// The known option that looks most like `name`, or ""; for "did you mean".
std::string_view nearest_option(std::span<const OptionSpec> table, std::string_view name);

}  // namespace anynpu
