// SPDX-License-Identifier: Apache-2.0
#include "ops/conv/bottleneck.h"

#include "ops/conv/bottleneck_amx.h"
#include "ops/conv/bottleneck_composed.h"
#include "ops/families.h"
#include "ops/registry.h"

namespace anynpu::ops::conv {

namespace {

Operand operand_at(const OpContext& context, int input) {
  return input == kNoInput ? Operand::absent() : context.inputs[static_cast<size_t>(input)];
}

std::unique_ptr<graph::Node> node_of(const OpContext& context, const BottleneckStage& stage) {
  auto node = std::make_unique<graph::Node>();
  node->op = "FusedConv";
  node->domain = "anynpu";
  node->opset = 1;
  node->name = context.node->name + "/" + std::string(stage.name);
  node->inputs.resize(4);
  node->outputs.resize(1);
  for (std::string_view attr : kStageAttrs) {
    const auto found = context.node->attrs.find(stage.attr(attr));
    if (found != context.node->attrs.end()) node->attrs[std::string(attr)] = found->second;
  }
  const Operand weight = operand_at(context, stage.weight);
  if (stage.depthwise && weight.rank() > 0) node->attrs["group"] = weight.shape[0];
  return node;
}

Status check_stage(const OpContext& context, const BottleneckStage& stage) {
  const Operand weight = operand_at(context, stage.weight);
  if (weight.rank() == 4 && (!stage.depthwise || weight.shape[1] == 1)) return {};
  return fail(Code::unsupported_shape, "{}: the weight of '{}' is {}, expected {}", context.label(),
              stage.name, to_string(weight.shape),
              stage.depthwise ? "channels x 1 x height x width" : "four dimensions");
}

Status bottleneck_rule(OpContext& context) {
  Operand& y = context.outputs[0];
  y.dtype = context.inputs[kBlockInput].dtype;
  for (const Operand& input : context.inputs) {
    if (input.present && !input.has_shape) return {};
  }
  ANYNPU_ASSIGN(const std::vector<StageConv> stages, stages_of(context));
  y.shape = stages.back().context.outputs[0].shape;
  y.has_shape = true;
  return {};
}

// Those of FusedConv, once for each stage.
std::vector<AttrSchema> attributes(const OpSchema& conv) {
  static std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const BottleneckStage& stage : kBottleneckStages) {
      for (std::string_view attr : kStageAttrs) all.push_back(stage.attr(attr));
    }
    return all;
  }();
  std::vector<AttrSchema> attrs;
  for (size_t i = 0; i < names.size(); ++i) {
    const std::string_view plain = kStageAttrs[i % kStageAttrs.size()];
    for (AttrSchema attr : conv.attrs) {
      if (attr.name != plain) continue;
      attr.name = names[i];
      attrs.push_back(attr);
    }
  }
  return attrs;
}

}  // namespace

Result<std::vector<StageConv>> stages_of(const OpContext& context) {
  std::vector<StageConv> stages;
  Operand x = context.inputs[kBlockInput];
  for (const BottleneckStage& stage : kBottleneckStages) {
    if (!operand_at(context, stage.weight).present) continue;
    ANYNPU_TRY(check_stage(context, stage));
    StageConv conv;
    conv.stage = &stage;
    conv.node = node_of(context, stage);
    ANYNPU_ASSIGN(conv.context,
                  infer(*conv.node,
                        {x, operand_at(context, stage.weight), operand_at(context, stage.bias),
                         operand_at(context, stage.residual)},
                        context.target));
    x = conv.context.outputs[0];
    stages.push_back(std::move(conv));
  }
  return stages;
}

void add_bottleneck_schema(Registry& registry) {
  registry.add(OpSchema{.name = "FusedBottleneck",
                        .domain = "anynpu",
                        .since = 1,
                        .inputs = {{"X", "T"},
                                   {"expand_W", "T", Presence::optional},
                                   {"expand_B", "T", Presence::optional},
                                   {"depthwise_W", "T"},
                                   {"depthwise_B", "T", Presence::optional},
                                   {"project_W", "T"},
                                   {"project_B", "T", Presence::optional},
                                   {"Z", "T", Presence::optional}},
                        .outputs = {{"Y", "T"}},
                        .types = {{"T", kFloats}},
                        .attrs = attributes(**registry.find("FusedConv", "anynpu", 1)),
                        .traits = OpTraits::matrix(),
                        .shape = bottleneck_rule});
}

}  // namespace anynpu::ops::conv
