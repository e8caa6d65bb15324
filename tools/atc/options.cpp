// SPDX-License-Identifier: Apache-2.0
#include "options.h"

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
