// SPDX-License-Identifier: Apache-2.0
#include <numeric>
#include <utility>

#include "compile/def_use.h"
#include "compile/passes.h"

namespace anynpu::compile {

namespace {

using graph::kNoValue;
using graph::Node;
using graph::ValueId;

// A Dropout copies its input unless its training_mode input says otherwise or its mask is used.
bool is_copy(const graph::Graph& graph, const DefUse& def_use, const Node& node) {
  if (!node.domain.empty()) return false;
  if (node.op == "Identity") return node.inputs.size() == 1 && node.outputs.size() == 1;
  if (node.op != "Dropout" || node.inputs.empty() || node.outputs.empty()) return false;
  if (node.outputs.size() > 1 && node.outputs[1] != kNoValue) {
    const auto mask = static_cast<size_t>(node.outputs[1]);
    if (def_use.is_output[mask] || !def_use.users[mask].empty()) return false;
  }
  if (node.inputs.size() > 2 && node.inputs[2] != kNoValue) {
    const auto& training = graph.values[static_cast<size_t>(node.inputs[2])].constant;
    return training && training->bytes.size() == 1 && training->bytes[0] == std::byte{0};
  }
  return node.opset >= 7 || node.int_attr("is_test", 0) != 0;
}

// Values that became one: each points to another, or to itself.
class Aliases {
 public:
  explicit Aliases(size_t count) : other_(count) {
    std::iota(other_.begin(), other_.end(), ValueId{0});
  }
  ValueId find(ValueId id) {
    if (id == kNoValue) return id;
    ValueId end = id;
    while (at(end) != end) end = at(end);
    while (at(id) != end) id = std::exchange(at(id), end);  // the next look is short
    return end;
  }
  void set(ValueId id, ValueId other) { at(id) = other; }

 private:
  ValueId& at(ValueId id) { return other_[static_cast<size_t>(id)]; }
  std::vector<ValueId> other_;
};

}  // namespace

Status remove_identities(graph::Graph& graph) {
  ANYNPU_TRY(graph.verify());  // in order: what a copy copies is known when it comes
  const DefUse def_use(graph);
  Aliases aliases(graph.values.size());
  std::erase_if(graph.nodes, [&](const Node& node) {
    if (!is_copy(graph, def_use, node)) return false;
    const ValueId from = aliases.find(node.inputs[0]), to = node.outputs[0];
    if (from == kNoValue || to == kNoValue) return false;
    if (!def_use.is_output[static_cast<size_t>(to)]) {
      aliases.set(to, from);
      return true;
    }
    // The output keeps its name: the node in front writes it directly, unless both sides have names
    // that callers see.
    const auto source = static_cast<size_t>(from);
    if (def_use.producer[source] < 0 || def_use.is_output[source]) return false;
    aliases.set(from, to);
    return true;
  });
  for (Node& node : graph.nodes) {
    for (ValueId& id : node.inputs) id = aliases.find(id);
    for (ValueId& id : node.outputs) id = aliases.find(id);
  }
  return graph.verify();
}

}  // namespace anynpu::compile
