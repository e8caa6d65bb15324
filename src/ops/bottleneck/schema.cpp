// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "ops/amx/amx.h"
#include "ops/bottleneck/bottleneck.h"
#include "ops/bottleneck/composed.h"
#include "ops/families.h"
#include "ops/registry.h"

namespace anynpu::ops {

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
  const auto copy = [&](const std::string& from, std::string_view to) {
    const auto found = context.node->attrs.find(from);
    if (found != context.node->attrs.end()) node->attrs[std::string(to)] = found->second;
  };
  for (std::string_view attr : kActivationAttrs) {
    copy(std::string(stage.name) + "_" + std::string(attr), attr);
  }
  if (!stage.windowed) return node;
  for (std::string_view attr : kWindowAttrs) copy(std::string(attr), attr);
  const Operand weight = operand_at(context, stage.weight);
  if (weight.rank() > 0) node->attrs["group"] = weight.shape[0];
  return node;
}

Status check_stage(const OpContext& context, const BottleneckStage& stage) {
  const Operand weight = operand_at(context, stage.weight);
  const bool depthwise = weight.rank() == 4 && weight.shape[1] == 1;
  const bool point = weight.rank() == 4 && weight.shape[2] == 1 && weight.shape[3] == 1;
  if (stage.windowed ? depthwise : point) return {};
  return fail(Code::unsupported_shape, "{}: the weight of '{}' is {}, expected {}", context.label(),
              stage.name, to_string(weight.shape),
              stage.windowed ? "channels x 1 x height x width" : "outputs x inputs x 1 x 1");
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

std::vector<AttrSchema> attributes() {
  std::vector<AttrSchema> attrs = {{"auto_pad", AttrKind::s, "NOTSET"},
                                   {"dilations", AttrKind::ints},
                                   {"kernel_shape", AttrKind::ints},
                                   {"pads", AttrKind::ints},
                                   {"strides", AttrKind::ints}};
  constexpr float kLowest = std::numeric_limits<float>::lowest();
  constexpr float kMost = std::numeric_limits<float>::max();
  for (std::string_view name : {"expand_activation", "depthwise_activation", "project_activation"})
    attrs.push_back({name, AttrKind::s, ""});
  for (std::string_view name :
       {"expand_activation_min", "depthwise_activation_min", "project_activation_min"})
    attrs.push_back({name, AttrKind::f, kLowest});
  for (std::string_view name :
       {"expand_activation_max", "depthwise_activation_max", "project_activation_max"})
    attrs.push_back({name, AttrKind::f, kMost});
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
    ANYNPU_ASSIGN(conv.context, infer(*conv.node, {x, operand_at(context, stage.weight),
                                                   operand_at(context, stage.bias),
                                                   operand_at(context, stage.residual)}));
    x = conv.context.outputs[0];
    stages.push_back(std::move(conv));
  }
  return stages;
}

void register_bottleneck(Registry& registry) {
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
                        .attrs = attributes(),
                        .shape = bottleneck_rule});
  registry.add(KernelDef{.op = "FusedBottleneck",
                         .name = "bottleneck_amx_bf16",
                         .domain = "anynpu",
                         .types = {DType::bf16},
                         .can_run = amx::can_run_bottleneck,
                         .create = amx::create_bottleneck<amx::amx_engine>});
  registry.add(KernelDef{.op = "FusedBottleneck",
                         .name = "composed",
                         .domain = "anynpu",
                         .types = kFloats,
                         .create = create_composed<choose_fastest>});
  registry.add(KernelDef{.op = "FusedBottleneck",
                         .name = "bottleneck_reference",
                         .domain = "anynpu",
                         .types = kFloats,
                         .create = create_composed<choose_reference>});
}

}  // namespace anynpu::ops
