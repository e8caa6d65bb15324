// SPDX-License-Identifier: Apache-2.0
#include "options.h"

#include <algorithm>
#include <array>

namespace anynpu::atc {

namespace {

enum class State { works, no_effect, refused };

struct Option {
  OptionSpec spec;
  State state;
};

constexpr Option kOptions[] = {
#define X(name, state, grammar, otherwise, help) {{#name, grammar, otherwise, help}, State::state},
#include "options.def"
#undef X
};

State state_of(std::string_view name) {
  for (const Option& option : kOptions) {
    if (option.spec.name == name) return option.state;
  }
  return State::works;
}

// "0|1|2" is a closed list of words; "path", "names" or "a|b|..." is not.
bool is_closed(std::string_view grammar) {
  return grammar.find('|') != grammar.npos && grammar.find("...") == grammar.npos &&
         grammar.find(' ') == grammar.npos;
}

bool lists(std::string_view grammar, std::string_view value) {
  for (size_t at = 0; at <= grammar.size();) {
    const size_t end = std::min(grammar.find('|', at), grammar.size());
    if (grammar.substr(at, end - at) == value) return true;
    at = end + 1;
  }
  return false;
}

bool is_whole_number(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  return !text.empty() && text.find_first_not_of("0123456789") == text.npos;
}

// Beside those without effect.
constexpr std::string_view kWithSingleOp[] = {
    "singleop", "output",         "soc_version", "log",  "precision_mode",   "precision_mode_v2",
    "mode",     "modify_mixlist", "keep_dtype",  "help", "customize_dtypes", "is_weight_clip"};

}  // namespace

std::span<const OptionSpec> options() {
  static const std::vector<OptionSpec> all = [] {
    std::vector<OptionSpec> list;
    for (const Option& option : kOptions) list.push_back(option.spec);
    return list;
  }();
  return all;
}

std::vector<std::string> without_effect(const CommandLine& line) {
  std::vector<std::string> names;
  for (const auto& [name, value] : line.given()) {
    if (state_of(name) == State::no_effect) names.push_back(name);
  }
  return names;
}

Status check_refused(const CommandLine& line) {
  for (const auto& [name, value] : line.given()) {
    if (state_of(name) != State::refused) continue;
    for (const Option& option : kOptions) {
      if (option.spec.name != name) continue;
      return fail(Code::unsupported_feature, "--{}={} is not supported: {}", name, value,
                  option.spec.help);
    }
  }
  return {};
}

Status check_values(const CommandLine& line) {
  for (const auto& [name, value] : line.given()) {
    for (const Option& option : kOptions) {
      if (option.spec.name != name || option.state != State::no_effect) continue;
      const std::string_view grammar = option.spec.grammar;
      const bool good = is_closed(grammar)    ? lists(grammar, value)
                        : grammar == "number" ? is_whole_number(value)
                                              : !value.empty();
      if (good) continue;
      return fail(Code::invalid_argument, "--{} is '{}'; expected {}", name, value,
                  is_closed(grammar) ? format("one of {}", grammar) : format("a {}", grammar));
    }
  }
  return {};
}

Status check_with_single_op(const CommandLine& line) {
  for (const auto& [name, value] : line.given()) {
    if (state_of(name) != State::works ||
        std::find(std::begin(kWithSingleOp), std::end(kWithSingleOp), name) !=
            std::end(kWithSingleOp))
      continue;
    return fail(Code::invalid_argument,
                "--singleop and --{} exclude each other; types and shapes of an operator stand in "
                "its description",
                name);
  }
  return {};
}

std::string help() {
  std::array<std::vector<OptionSpec>, 3> lists;
  for (const Option& option : kOptions)
    lists[static_cast<size_t>(option.state)].push_back(option.spec);
  return "usage: atc --model=model.onnx --framework=5 --output=model --soc_version=Ascend310P3\n"
         "       atc --model=net.prototxt --weight=net.caffemodel --framework=0 ...\n"
         "       atc --singleop=ops.json --output=folder --soc_version=Ascend310P3\n"
         "       atc --mode=6 --om=model.om\n"
         "Converts a model into the offline form (.om) that AnyNPU loads. One dash works as well "
         "as two.\n\n" +
         option_help(lists[0]) + "\nAccepted without effect off the card:\n\n" +
         option_help(lists[1]) + "\nRefused, because ignoring them would change the result:\n\n" +
         option_help(lists[2]);
}

}  // namespace anynpu::atc
