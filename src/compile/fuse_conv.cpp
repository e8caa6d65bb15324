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
  explicit Fuser(graph::Graph& graph) : graph_(graph), pattern_(graph) {}

  Status run() {
    return pattern_.sweep([&](const Node& node) {
      if (node.outputs.size() != 1 || !pattern_.fuses(node.outputs[0])) return false;
      const bool plain = node.domain.empty() && (node.op == "Conv" || node.op == "Gemm");
      const bool own = node.domain == kOwnDomain && node.op == "FusedConv";
      if (!plain && !own) return false;
      if (node.op == "Conv" && add_tensor(node)) return true;
      return add_activation(node);
    });
  }

 private:
  const graph::Value& value(ValueId id) const { return pattern_.value(id); }

  static Node fused(const Node& node) {
    Node copy = node;
    if (node.domain == kOwnDomain) return copy;
    copy.op = "Fused" + node.op;
    copy.domain = kOwnDomain;
    copy.opset = 1;
    return copy;
  }

  bool add_tensor(const Node& conv) {
    const ValueId out = conv.outputs[0];
    const Node* add = pattern_.next(out, "Add");
    if (!add || add->inputs.size() != 2) return false;
    const ValueId other = add->inputs[0] == out ? add->inputs[1] : add->inputs[0];
    if (!value(out).has_shape || value(other).shape != value(out).shape ||
        !value(other).has_shape || value(other).dtype != value(out).dtype) {
      return false;
    }
    Node copy = fused(conv);
    copy.inputs.resize(4, kNoValue);
    copy.inputs[3] = other;
    pattern_.absorb(add->outputs[0], std::move(copy));
    return true;
  }

  bool add_activation(const Node& node) {
    const int user = pattern_.only_user(node.outputs[0]);
    if (user < 0 || !node.string_attr("activation", "").empty()) return false;
    const Node& next = graph_.nodes[static_cast<size_t>(user)];
    const auto activation = read_activation(graph_, next);
    if (!activation || next.outputs.size() != 1 || next.inputs[0] != node.outputs[0]) return false;
    Node copy = fused(node);
    copy.attrs["activation"] = activation->name;
    if (activation->name == "Clip") {
      copy.attrs["activation_min"] = activation->min;
      copy.attrs["activation_max"] = activation->max;
    }
    pattern_.absorb(next.outputs[0], std::move(copy));
    return true;
  }

  graph::Graph& graph_;
  Pattern pattern_;
};

}  // namespace

Status fuse_conv(graph::Graph& graph) { return Fuser(graph).run(); }

}  // namespace anynpu::compile
