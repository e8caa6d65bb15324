// SPDX-License-Identifier: Apache-2.0
#include "compile/pass_switch.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "base/json.h"
#include "base/log.h"
#include "base/text.h"

namespace anynpu::compile {

namespace {

// The card's passes beside ours.
constexpr std::array<std::pair<std::string_view, std::string_view>, 18> kNames = {{
    {"ALL", kAllPasses},
    {"BatchNormBnInferFusionPass", kFoldBatchNorm},
    {"ConvBatchnormFusionPass", kFoldBatchNorm},
    {"ConvScaleFusionPass", kFoldBatchNorm},
    {"HostBNFusionPass", kFoldBatchNorm},
    {"fold_batch_norm", kFoldBatchNorm},
    {"ConvBiasaddFusionPass", kFuseConv},
    {"MatMulBiasAddFusionPass", kFuseMatMul},
    {"TbeConvBnreduceFusionPass", kFuseConv},
    {"TbeConvReluFusionPass", kFuseConv},
    {"TbeConv2DAddClipMulDivFusionPass", kFuseConv},
    {"fuse_conv", kFuseConv},
    {"fuse_bottleneck", kFuseBottleneck},
    {"fuse_layer_norm", kFuseLayerNorm},
    {"fuse_gelu", kFuseGelu},
    {"fuse_swish", kFuseSwish},
    {"fuse_attention", kFuseAttention},
    {"fuse_matmul", kFuseMatMul},
}};

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
    for (const auto& name : kNames) {
      if (name.second != kAllPasses) on[std::string(name.second)] = false;
    }
  }
  for (const auto& [pass, state] : switches) {
    if (pass == kAllPasses) continue;
    const auto* known = std::find_if(kNames.begin(), kNames.end(),
                                     [&](const auto& name) { return name.first == pass; });
    if (known == kNames.end()) {
      ANYNPU_LOG(info, "--fusion_switch_file: pass '{}' is the card's own; no effect here", pass);
    } else {
      on[std::string(known->second)] = state;
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
