// SPDX-License-Identifier: Apache-2.0
#include "compile/pattern.h"
#include "ops/conv/bottleneck.h"

namespace anynpu::compile {

namespace {

using graph::kNoValue;
using graph::Node;
using graph::ValueId;
using ops::conv::BottleneckStage;

constexpr const char* kBottleneckDomain = "anynpu";
constexpr int64_t kFewChannels = 4, kFewElements = 32;

bool all_are(const Node& node, const char* attr, int64_t wanted) {
  for (int64_t value : node.ints_attr(attr)) {
    if (value != wanted) return false;
  }
  return true;
}

class BottleneckFuser {
 public:
  explicit BottleneckFuser(graph::Graph& graph) : pattern_(graph) {}

  Status run() {
    return pattern_.sweep([&](const Node& node) { return fuse(node); });
  }

 private:
  // A convolution of bf16 with constant weights of four dimensions.
  const Node* conv(const Node* node) const {
    if (!node || node->inputs.size() < 2 || node->outputs.size() != 1) return nullptr;
    const bool plain = node->domain.empty() && node->op == "Conv";
    const bool own = node->domain == kBottleneckDomain && node->op == "FusedConv";
    if (!plain && !own) return nullptr;
    for (size_t i = 1; i < std::min<size_t>(3, node->inputs.size()); ++i) {
      if (node->inputs[i] != kNoValue && !pattern_.value(node->inputs[i]).constant) return nullptr;
    }
    const bool fits = pattern_.value(node->outputs[0]).dtype == DType::bf16 &&
                      pattern_.value(node->inputs[1]).shape.size() == 4;
    return fits ? node : nullptr;
  }
  const Shape& weight(const Node& node) const { return pattern_.value(node.inputs[1]).shape; }

  // Of 1 x 1, which sees every pixel.
  const Node* point(const Node* node) const {
    if (!conv(node) || node->int_attr("group", 1) != 1) return nullptr;
    const Shape& shape = weight(*node);
    const bool whole = all_are(*node, "strides", 1) && all_are(*node, "pads", 0);
    return shape[2] == 1 && shape[3] == 1 && whole ? node : nullptr;
  }
  // Makes channels of single pixels, or is a first layer: of so few channels that a window of them
  // is no more than a pixel is elsewhere.
  const Node* expansion(const Node* node) const {
    if (!conv(node) || node->int_attr("group", 1) != 1 || added(*node)) return nullptr;
    const Shape& shape = weight(*node);
    const bool first = shape[1] <= kFewChannels && shape[1] * shape[2] * shape[3] <= kFewElements;
    return first || point(node) ? node : nullptr;
  }
  const Node* depthwise(const Node* node) const {
    if (!conv(node)) return nullptr;
    const Shape& shape = weight(*node);
    return shape[1] == 1 && node->int_attr("group", 1) == shape[0] && !added(*node) ? node
                                                                                    : nullptr;
  }
  static bool added(const Node& node) {
    return node.inputs.size() > 3 && node.inputs[3] != kNoValue;
  }

  static void take(const BottleneckStage& stage, const Node& from, Node& to) {
    const auto operand = [&](size_t input, int as) {
      if (as != ops::conv::kNoInput && input < from.inputs.size())
        to.inputs[static_cast<size_t>(as)] = from.inputs[input];
    };
    operand(1, stage.weight);
    operand(2, stage.bias);
    operand(3, stage.residual);
    const auto attr = [&](std::string_view name, const std::string& as) {
      const auto found = from.attrs.find(std::string(name));
      if (found != from.attrs.end()) to.attrs[as] = found->second;
    };
    for (std::string_view name : ops::conv::kStageAttrs) attr(name, stage.attr(name));
  }

  // `node` projects what a depthwise convolution made, which perhaps another one expanded.
  bool fuse(const Node& node) {
    const Node* project = point(&node);
    const Node* filter = project ? depthwise(pattern_.absorbed(node.inputs[0])) : nullptr;
    if (!filter) return false;
    const Node* expand = expansion(pattern_.absorbed(filter->inputs[0]));
    Node fused;
    fused.op = "FusedBottleneck";
    fused.domain = kBottleneckDomain;
    fused.opset = 1;
    fused.name = node.name;
    fused.inputs.resize(ops::conv::kBlockResidual + 1, kNoValue);
    fused.inputs[ops::conv::kBlockInput] = expand ? expand->inputs[0] : filter->inputs[0];
    const std::array nodes = {expand, filter, project};
    for (size_t i = 0; i < nodes.size(); ++i) {
      if (nodes[i]) take(ops::conv::kBottleneckStages[i], *nodes[i], fused);
    }
    pattern_.absorb(node.outputs[0], std::move(fused));
    return true;
  }

  Pattern pattern_;
};

}  // namespace

Status fuse_bottleneck(graph::Graph& graph) { return BottleneckFuser(graph).run(); }

}  // namespace anynpu::compile
