// SPDX-License-Identifier: Apache-2.0
#include <limits>
#include <optional>

#include "compile/pattern.h"

namespace anynpu::compile {

namespace {

using graph::kNoValue;
using graph::Node;
using graph::ValueId;

constexpr const char* kOwnDomain = "anynpu";

struct Activation {
  std::string name;
  float min = std::numeric_limits<float>::lowest();
  float max = std::numeric_limits<float>::max();
};

// One bound of a Clip: an attribute up to opset 10, a scalar constant since; none = no bound.
bool read_bound(const graph::Graph& graph, const Node& node, size_t input, const char* attr,
                float& bound) {
  if (node.opset < 11) {
    bound = node.float_attr(attr, bound);
    return true;
  }
  if (node.inputs.size() <= input || node.inputs[input] == kNoValue) return true;
  const auto elements = constant_elements<float>(graph, node.inputs[input]);
  if (elements.size() == 1) bound = elements[0];
  return elements.size() == 1 || read_short(graph, node.inputs[input], bound);
}

std::optional<Activation> read_activation(const graph::Graph& graph, const Node& node) {
  if (!node.domain.empty()) return {};
  Activation activation{node.op};
  if (node.op == "Relu") return activation;
  if (node.op != "Clip" || !read_bound(graph, node, 1, "min", activation.min) ||
      !read_bound(graph, node, 2, "max", activation.max)) {
    return {};
  }
  return activation;
}

class Fuser {
 public:
  explicit Fuser(graph::Graph& graph) : graph_(graph) {}

  Status run() {
    // By name: fusing moves nodes about.
    std::vector<std::string> names;
    for (const Node& node : graph_.nodes) {
      const bool fusable = node.domain.empty() && (node.op == "Conv" || node.op == "Gemm");
      if (fusable && node.outputs.size() == 1 && fuses(node.outputs[0])) names.push_back(node.name);
    }
    for (const std::string& name : names) {
      if (const size_t n = index_of(name); graph_.nodes[n].op == "Conv") fuse_add(n);
      fuse_activation(index_of(name));
    }
    return graph_.verify();
  }

 private:
  size_t index_of(const std::string& name) const {
    size_t n = 0;
    while (graph_.nodes[n].name != name) ++n;
    return n;
  }
  const graph::Value& value(ValueId id) const { return graph_.values[static_cast<size_t>(id)]; }
  // The short types are rounded once instead of after each operator: closer to the model.
  bool fuses(ValueId id) const {
    const DType type = value(id).dtype;
    return type == DType::f32 || type == DType::f16 || type == DType::bf16;
  }

  void become_fused(Node& node) {
    if (node.domain == kOwnDomain) return;
    node.op = "Fused" + node.op;
    node.domain = kOwnDomain;
    node.opset = 1;
  }

  // The node takes its user's place, where all operands are there already.
  void absorb(size_t n, int user) {
    const auto place = static_cast<size_t>(user);
    graph_.nodes[n].outputs[0] = graph_.nodes[place].outputs[0];
    graph_.nodes[place] = std::move(graph_.nodes[n]);
    graph_.nodes.erase(graph_.nodes.begin() + static_cast<ptrdiff_t>(n));
  }

  void fuse_add(size_t n) {
    const Links links(graph_);
    Node& conv = graph_.nodes[n];
    const ValueId out = conv.outputs[0];
    const int user = links.only_user(out);
    if (user < 0) return;
    const Node& add = graph_.nodes[static_cast<size_t>(user)];
    if (add.op != "Add" || !add.domain.empty() || add.inputs.size() != 2) return;
    const ValueId other = add.inputs[0] == out ? add.inputs[1] : add.inputs[0];
    if (!value(out).has_shape || value(other).shape != value(out).shape ||
        !value(other).has_shape || value(other).dtype != value(out).dtype) {
      return;
    }
    conv.inputs.resize(4, kNoValue);
    conv.inputs[3] = other;
    become_fused(conv);
    absorb(n, user);
  }

  void fuse_activation(size_t n) {
    const Links links(graph_);
    Node& node = graph_.nodes[n];
    const int user = links.only_user(node.outputs[0]);
    if (user < 0) return;
    const Node& next = graph_.nodes[static_cast<size_t>(user)];
    const auto activation = read_activation(graph_, next);
    if (!activation || next.inputs[0] != node.outputs[0]) return;
    become_fused(node);
    node.attrs["activation"] = activation->name;
    if (activation->name == "Clip") {
      node.attrs["activation_min"] = activation->min;
      node.attrs["activation_max"] = activation->max;
    }
    absorb(n, user);
  }

  graph::Graph& graph_;
};

}  // namespace

Status fuse_convs(graph::Graph& graph) { return Fuser(graph).run(); }

}  // namespace anynpu::compile
