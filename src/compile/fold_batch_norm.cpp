// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <optional>

#include "compile/passes.h"

namespace anynpu::compile {

namespace {

using graph::kNoValue;
using graph::Node;
using graph::ValueId;

struct BatchNorm {
  std::vector<float> scale, bias, mean, variance;
  double epsilon = 1e-5;
};

// The parameters when `node` is a plain inference BatchNormalization over `channels`.
std::optional<BatchNorm> read_batch_norm(const graph::Graph& graph, const Node& node,
                                         size_t channels) {
  if (node.op != "BatchNormalization" || !node.domain.empty() || node.inputs.size() != 5) return {};
  if (node.int_attr("training_mode", 0) != 0) return {};
  if (std::any_of(node.outputs.begin() + 1, node.outputs.end(),
                  [](ValueId id) { return id != kNoValue; })) {
    return {};
  }
  BatchNorm bn;
  bn.scale = constant_elements<float>(graph, node.inputs[1]);
  bn.bias = constant_elements<float>(graph, node.inputs[2]);
  bn.mean = constant_elements<float>(graph, node.inputs[3]);
  bn.variance = constant_elements<float>(graph, node.inputs[4]);
  bn.epsilon = node.float_attr("epsilon", 1e-5f);
  for (const auto* list : {&bn.scale, &bn.bias, &bn.mean, &bn.variance}) {
    if (list->size() != channels) return {};
  }
  return bn;
}

// Scales the filters of `conv` and makes its bias; computed in double, rounded once.
bool fold(graph::Graph& graph, NewNames& names, Node& conv, const Node& bn_node) {
  if (conv.inputs.size() < 2) return false;
  const graph::Value& weight = graph.values[static_cast<size_t>(conv.inputs[1])];
  std::vector<float> w = constant_elements<float>(graph, conv.inputs[1]);
  if (w.empty() || weight.shape.empty()) return false;
  const auto channels = static_cast<size_t>(weight.shape[0]);
  const auto bn = read_batch_norm(graph, bn_node, channels);
  if (!bn) return false;
  std::vector<float> bias(channels, 0.0f);
  if (conv.inputs.size() > 2 && conv.inputs[2] != kNoValue) {
    bias = constant_elements<float>(graph, conv.inputs[2]);
    if (bias.size() != channels) return false;
  }
  const size_t per_channel = w.size() / channels;
  for (size_t c = 0; c < channels; ++c) {
    const double factor = bn->scale[c] / std::sqrt(double{bn->variance[c]} + bn->epsilon);
    for (size_t i = 0; i < per_channel; ++i) {
      float& element = w[c * per_channel + i];
      element = static_cast<float>(element * factor);
    }
    bias[c] = static_cast<float>((double{bias[c]} - bn->mean[c]) * factor + bn->bias[c]);
  }
  const Shape shape = weight.shape;
  const std::string name = weight.name;
  conv.inputs.resize(3, kNoValue);
  conv.inputs[1] = add_constant(graph, name + "_folded", shape, std::move(w), &names);
  conv.inputs[2] = add_constant(graph, name + "_bias_folded", {static_cast<int64_t>(channels)},
                                std::move(bias), &names);
  return true;
}

}  // namespace

Status fold_batch_norms(graph::Graph& graph) {
  std::vector<bool> gone(graph.nodes.size(), false);
  const Links links(graph);
  NewNames names(graph);
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    Node& conv = graph.nodes[n];
    if (conv.op != "Conv" || !conv.domain.empty() || conv.outputs.size() != 1) continue;
    // Several in a row: the BatchNorm and Scale layers of Caffe.
    for (;;) {
      const int user = links.only_user(conv.outputs[0]);
      if (user < 0) break;
      const Node& bn = graph.nodes[static_cast<size_t>(user)];
      // The values grow in fold(): `bn` and `conv` are nodes, which stay where they are.
      if (bn.inputs.empty() || bn.inputs[0] != conv.outputs[0] || !fold(graph, names, conv, bn))
        break;
      conv.outputs[0] = bn.outputs[0];
      gone[static_cast<size_t>(user)] = true;
    }
  }
  size_t kept = 0;
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    if (gone[n]) continue;
    if (kept != n) graph.nodes[kept] = std::move(graph.nodes[n]);
    ++kept;
  }
  graph.nodes.resize(kept);
  return graph.verify();
}

}  // namespace anynpu::compile
