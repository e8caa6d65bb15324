// SPDX-License-Identifier: Apache-2.0
#include "base/cmdline.h"

#include <algorithm>
#include <ranges>

#include "base/nearest_name.h"

namespace anynpu {

namespace {

const OptionSpec* find(std::span<const OptionSpec> table, std::string_view name) {
  for (const OptionSpec& spec : table) {
    if (spec.name == name) return &spec;
  }
  return nullptr;
}

// Scripts quote values once for the shell and once more: --input_shape='"x:1,3"'.
std::string_view unquote(std::string_view value) {
  if (value.size() >= 2 && value.front() == value.back() &&
      (value.front() == '"' || value.front() == '\'')) {
    value = value.substr(1, value.size() - 2);
  }
  return value;
}

Status unknown_option(std::span<const OptionSpec> table, std::string_view name) {
  const std::string_view near = nearest_option(table, name);
  const std::string hint = near.empty() ? "" : format(", did you mean --{}?", near);
  return fail(Code::invalid_argument, "unknown option --{}{}; --help lists the options", name,
              hint);
}

}  // namespace

std::string_view nearest_option(std::span<const OptionSpec> table, std::string_view name) {
  return nearest_name(table | std::views::transform(&OptionSpec::name), name);
}

Result<CommandLine> CommandLine::parse(std::span<const OptionSpec> table,
                                       std::span<const std::string> args) {
  CommandLine line;
  line.table_ = table;
  for (size_t i = 0; i < args.size(); ++i) {
    const std::string_view arg = args[i];
    const size_t dashes = arg.starts_with("--") ? 2 : arg.starts_with("-") ? 1 : 0;
    if (dashes == 0 || arg.size() == dashes) {
      return fail(Code::invalid_argument,
                  "'{}' is not an option; expected --name=value, see --help", arg);
    }
    const size_t equals = arg.find('=');
    const bool has_value = equals != std::string_view::npos;
    std::string_view name = arg.substr(dashes, has_value ? equals - dashes : arg.npos);
    if (name == "h" && !has_value && find(table, "help")) name = "help";
    const OptionSpec* spec = find(table, name);
    if (!spec) return unknown_option(table, name);
    std::string_view value = has_value ? arg.substr(equals + 1) : std::string_view();
    if (!has_value && !spec->grammar.empty()) {
      if (i + 1 >= args.size()) {
        return fail(Code::invalid_argument, "--{} has no value; expected --{}={}", name, name,
                    spec->grammar);
      }
      value = args[++i];
    }
    line.given_.emplace_back(name, unquote(value));
  }
  return line;
}

bool CommandLine::has(std::string_view name) const {
  return std::any_of(given_.begin(), given_.end(), [&](const auto& p) { return p.first == name; });
}

std::string CommandLine::get(std::string_view name) const {
  for (auto entry = given_.rbegin(); entry != given_.rend(); ++entry) {
    if (entry->first == name) return entry->second;
  }
  const OptionSpec* spec = find(table_, name);
  return spec ? std::string(spec->otherwise) : std::string();
}

std::string option_help(std::span<const OptionSpec> table) {
  std::string text;
  for (const OptionSpec& spec : table) {
    text += format("  --{}{}{}\n      {}", spec.name, spec.grammar.empty() ? "" : "=", spec.grammar,
                   spec.help);
    if (!spec.otherwise.empty()) text += format(" (default: {})", spec.otherwise);
    text += '\n';
  }
  return text;
}

}  // namespace anynpu
