// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "compile/affine.h"
#include "compile/def_use.h"
#include "compile/graph_edit.h"
#include "compile/passes.h"

namespace anynpu::compile {

namespace {

using graph::kNoValue;
using graph::Node;
using graph::ValueId;

// Scales the filters of `conv` and makes its bias; computed in double, rounded once.
bool fold(graph::Graph& graph, NewNames& names, Node& conv, const Node& next, bool only_reader) {
  if (conv.inputs.size() < 2) return false;
  const graph::Value& weight = graph.values[static_cast<size_t>(conv.inputs[1])];
  if (!weight.constant || weight.dtype != DType::f32 || weight.shape.size() < 3 ||
      element_count(weight.shape) < 1)
    return false;
  const auto channels = static_cast<size_t>(weight.shape[0]);
  const auto affine = read_affine(graph, next, conv.outputs[0], {channels, weight.shape.size(), 1});
  if (!affine) return false;
  std::vector<float> bias(channels, 0.0f);
  if (conv.inputs.size() > 2 && conv.inputs[2] != kNoValue) {
    bias = constant_elements<float>(graph, conv.inputs[2]);
    if (bias.size() != channels) return false;
  }
  // A sum leaves the filters as they are.
  const bool scales = std::any_of(affine->factor.begin(), affine->factor.end(),
                                  [](double factor) { return factor != 1; });
  std::vector<float> w;
  if (scales) w = constant_elements<float>(graph, conv.inputs[1]);
  const size_t per_channel = w.size() / channels;
  bool fits = true;
  for (size_t c = 0; c < channels; ++c) {
    for (size_t i = 0; i < per_channel; ++i) {
      float& element = w[c * per_channel + i];
      fits = to_finite_float(element * affine->factor[c], element) && fits;
    }
    fits = to_finite_float(bias[c] * affine->factor[c] + affine->shift[c], bias[c]) && fits;
  }
  if (!fits) return false;
  const Shape shape = weight.shape;
  const std::string name = weight.name;
  conv.inputs.resize(3, kNoValue);
  if (scales) {
    // The original filters are large: they are freed now, unless they are read elsewhere.
    if (only_reader) graph.values[static_cast<size_t>(conv.inputs[1])].constant = nullptr;
    conv.inputs[1] = add_constant(graph, name + "_folded", shape, std::move(w), &names);
  }
  conv.inputs[2] = add_constant(graph, name + "_bias_folded", {static_cast<int64_t>(channels)},
                                std::move(bias), &names);
  return true;
}

}  // namespace

Status fold_batch_norm(graph::Graph& graph, const NodeFilter& keep) {
  std::vector<bool> gone(graph.nodes.size(), false);
  const DefUse def_use(graph);
  NewNames names(graph);
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    Node& conv = graph.nodes[n];
    if (conv.op != "Conv" || !conv.domain.empty() || conv.outputs.size() != 1) continue;
    // Several in a row: the BatchNorm and Scale layers of Caffe, a product and a sum of ONNX.
    for (;;) {
      const int user = def_use.only_user(conv.outputs[0]);
      if (user < 0) break;
      const Node& next = graph.nodes[static_cast<size_t>(user)];
      // The values grow in fold(): `next` and `conv` are nodes, which stay where they are.
      const auto filter = conv.inputs.size() > 1 ? static_cast<size_t>(conv.inputs[1]) : 0;
      const bool only_reader = filter >= def_use.users.size() ||
                               (def_use.users[filter].size() == 1 && !def_use.is_output[filter]);
      if ((keep && keep(next)) || !fold(graph, names, conv, next, only_reader)) break;
      conv.outputs[0] = next.outputs[0];
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
