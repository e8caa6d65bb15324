// SPDX-License-Identifier: Apache-2.0
#include "compile/pass_switch.h"

#include <algorithm>
#include <map>

#include "base/json.h"
#include "base/log.h"
#include "base/text.h"
#include "compile/pass_table.h"

namespace anynpu::compile {

namespace {

// The card's passes and the passes of ours that they map to.
struct CardPass {
  std::string_view card, ours;
};
constexpr CardPass kCardPasses[] = {
    {"BatchNormBnInferFusionPass", "fold_batch_norm"},
    {"ConvBatchnormFusionPass", "fold_batch_norm"},
    {"ConvScaleFusionPass", "fold_batch_norm"},
    {"HostBNFusionPass", "fold_batch_norm"},
    {"ConvBiasaddFusionPass", "fuse_conv"},
    {"TbeConvBnreduceFusionPass", "fuse_conv"},
    {"TbeConvReluFusionPass", "fuse_conv"},
    {"TbeConv2DAddClipMulDivFusionPass", "fuse_conv"},
    {"MatMulBiasAddFusionPass", "fuse_matmul"},
};

// Our name of a pass that a file may call by the card's; empty when it is none of ours.
std::string_view our_name(std::string_view pass) {
  for (const CardPass& known : kCardPasses) {
    if (known.card == pass) return known.ours;
  }
  for (const Pass& known : pass_table()) {
    if (known.name == pass && known.off == PassSwitch::by_name) return known.name;
  }
  return {};
}

using Switches = std::map<std::string, bool, std::less<>>;

Status add(std::string_view pass, std::string_view state, Switches& switches) {
  if (state != "on" && state != "off") {
    return fail(Code::invalid_argument,
                "--fusion_switch_file: pass '{}' is '{}'; expected on or off", pass, state);
  }
  // What is off in one of the groups is off: ours belong to either.
  const auto [place, is_new] = switches.try_emplace(std::string(pass), state == "on");
  if (!is_new) place->second = place->second && state == "on";
  return {};
}

Status read_json(std::string_view text, Switches& switches) {
  ANYNPU_ASSIGN(const json::Value root, json::parse(text, "--fusion_switch_file"));
  const json::Value* top = root.find("Switch");
  if (!top || !top->object()) {
    return fail(Code::invalid_argument,
                "--fusion_switch_file has no object \"Switch\"; expected "
                "{{\"Switch\":{{\"GraphFusion\":{{\"Pass\":\"off\"}}}}}}");
  }
  for (const auto& [group, passes] : *top->object()) {
    if ((group != "GraphFusion" && group != "UBFusion") || !passes.object()) {
      return fail(Code::invalid_argument,
                  "--fusion_switch_file: \"{}\"; expected \"GraphFusion\" or \"UBFusion\" with "
                  "passes",
                  group);
    }
    for (const auto& [pass, state] : *passes.object()) {
      ANYNPU_TRY(add(pass, state.string() ? std::string_view(*state.string()) : "", switches));
    }
  }
  return {};
}

Status read_lines(std::string_view text, Switches& switches) {
  for (const std::string& line : split_words(text, '\n')) {
    const size_t colon = line.find(':');
    if (colon == std::string::npos) {
      return fail(Code::invalid_argument,
                  "--fusion_switch_file: the line '{}'; expected Pass:on or Pass:off", line);
    }
    const std::string_view all = line;
    ANYNPU_TRY(add(trim(all.substr(0, colon)), trim(all.substr(colon + 1)), switches));
  }
  return {};
}

}  // namespace

Result<std::vector<std::string>> parse_fusion_switch(std::string_view text) {
  Switches switches;
  const size_t first = text.find_first_not_of(" \t\r\n");
  const bool is_json = first != std::string_view::npos && text[first] == '{';
  ANYNPU_TRY(is_json ? read_json(text, switches) : read_lines(text, switches));
  const auto all = switches.find(kAllPasses);
  std::map<std::string, bool> on;
  if (all != switches.end() && !all->second) {
    for (const Pass& pass : pass_table()) {
      if (pass.off == PassSwitch::by_name) on[std::string(pass.name)] = false;
    }
  }
  for (const auto& [pass, state] : switches) {
    if (pass == kAllPasses) continue;
    const std::string_view known = our_name(pass);
    if (known.empty()) {
      ANYNPU_LOG(info, "--fusion_switch_file: pass '{}' is the card's own; no effect here", pass);
    } else {
      on[std::string(known)] = state;
    }
  }
  std::vector<std::string> off;
  for (const auto& [pass, state] : on) {
    if (!state) off.push_back(pass);
  }
  return off;
}

bool is_on(const std::vector<std::string>& passes_off, std::string_view pass) {
  return !contains(passes_off, pass) && !contains(passes_off, kAllPasses);
}

}  // namespace anynpu::compile
