// SPDX-License-Identifier: Apache-2.0
#include "aclnn/fuse.h"

#include <algorithm>
#include <memory>
#include <set>

#include "ops/registry.h"

namespace anynpu::aclnn {

namespace {

using graph::Graph;
using graph::kNoValue;
using graph::Node;
using graph::ValueId;

constexpr size_t kMostNodes = 64;  // of a cluster: their intermediate values share the cache

// Nodes that run as one. Every node belongs to one; clusters of other nodes have a single node.
struct Cluster {
  std::vector<size_t> nodes;  // in order
  Shape shape;                // of all results; empty: takes no more
  std::set<size_t> after;     // clusters that run before
};

class Fuser {
 public:
  Fuser(const Part& part, int64_t least) : part_(part), graph_(part.graph), least_(least) {
    producer_.assign(graph_.values.size(), -1);
    cluster_of_.resize(graph_.nodes.size());
  }

  Graph run() {
    for (size_t n = 0; n < graph_.nodes.size(); ++n) place(n);
    const bool none =
        std::ranges::all_of(clusters_, [](const Cluster& c) { return c.nodes.size() < 2; });
    return none ? graph_ : rebuilt();
  }

 private:
  const graph::Value& value(ValueId id) const { return graph_.values[static_cast<size_t>(id)]; }

  // Whether node `n` goes element by element and its result is worth tiles.
  bool joins(const Node& node) const {
    if (node.outputs.size() != 1 || !is_worth(node)) return false;
    for (ValueId id : node.inputs) {
      if (id != kNoValue && !is_simple(value(id).dtype)) return false;
    }
    if (node.op == "Stage") return !overwrites_elsewhere(node.outputs[0]);
    const ops::OpTraits traits = ops::traits_of(node);
    const bool by_element = traits.transposes == ops::TransposeRule::elementwise ||
                            traits.transposes == ops::TransposeRule::broadcast;
    return by_element && traits.purity == ops::Purity::pure &&
           traits.sized_by == ops::SizedBy::shapes;
  }
  bool is_worth(const Node& node) const {
    const graph::Value& out = value(node.outputs[0]);
    return out.has_shape && is_static(out.shape) && is_simple(out.dtype) &&
           element_count(out.shape) >= least_;
  }
  static bool is_simple(DType type) {
    return type != DType::string && bits_of(type) % 8 == 0 && size_of(type) >= 1 &&
           size_of(type) <= 8;
  }
  // A copy at the end of what overlaps an input otherwise than place by place is whole.
  bool overwrites_elsewhere(ValueId out) const {
    return std::ranges::any_of(part_.overwrites,
                               [&](const Overwrite& o) { return o.output == out && !o.in_step; });
  }

  // Clusters that must run before `node`.
  std::set<size_t> needed_by(const Node& node) const {
    std::set<size_t> found;
    for (ValueId id : node.inputs) {
      if (id != kNoValue && producer_[static_cast<size_t>(id)] >= 0)
        found.insert(cluster_of_[static_cast<size_t>(producer_[static_cast<size_t>(id)])]);
    }
    for (const Overwrite& o : part_.overwrites) {
      if (std::ranges::find(node.outputs, o.output) == node.outputs.end()) continue;
      for (size_t n = 0; n < placed_; ++n) {
        if (std::ranges::find(graph_.nodes[n].inputs, o.input) != graph_.nodes[n].inputs.end())
          found.insert(cluster_of_[n]);
      }
    }
    return found;
  }

  // Whether `from` must run before `to`.
  bool reaches(size_t from, size_t to) const {
    std::vector<size_t> open{to};
    std::set<size_t> seen;
    while (!open.empty()) {
      const size_t at = open.back();
      open.pop_back();
      if (at == from) return true;
      if (!seen.insert(at).second) continue;
      open.insert(open.end(), clusters_[at].after.begin(), clusters_[at].after.end());
    }
    return false;
  }

  // Whether a node that runs after `needed` can run in the cluster.
  bool can_join(size_t cluster, const std::set<size_t>& needed) const {
    return std::ranges::none_of(
        needed, [&](size_t before) { return before != cluster && reaches(cluster, before); });
  }

  bool shares_values(const Cluster& cluster, const Node& node) const {
    for (size_t n : cluster.nodes) {
      const Node& other = graph_.nodes[n];
      for (ValueId id : node.inputs) {
        if (id == kNoValue || element_count(value(id).shape) < least_) continue;
        if (other.outputs[0] == id || std::ranges::find(other.inputs, id) != other.inputs.end())
          return true;
      }
    }
    return false;
  }

  void place(size_t n) {
    const Node& node = graph_.nodes[n];
    const std::set<size_t> needed = needed_by(node);
    const bool by_element = joins(node);
    size_t chosen = clusters_.size();
    for (size_t c = clusters_.size(); by_element && c-- > 0;) {
      const Cluster& cluster = clusters_[c];
      if (cluster.shape != value(node.outputs[0]).shape || cluster.nodes.size() >= kMostNodes)
        continue;
      if (!shares_values(cluster, node) || !can_join(c, needed)) continue;
      chosen = c;
      break;
    }
    if (chosen == clusters_.size()) {
      clusters_.emplace_back();
      if (by_element) clusters_.back().shape = value(node.outputs[0]).shape;
    }
    clusters_[chosen].nodes.push_back(n);
    for (size_t before : needed) {
      if (before != chosen) clusters_[chosen].after.insert(before);
    }
    cluster_of_[n] = chosen;
    for (ValueId id : node.outputs) {
      if (id != kNoValue) producer_[static_cast<size_t>(id)] = static_cast<int64_t>(n);
    }
    ++placed_;
  }

  // Clusters in an order in which they can run.
  std::vector<size_t> ordered() const {
    std::vector<size_t> order;
    std::vector<bool> done(clusters_.size(), false);
    while (order.size() < clusters_.size()) {
      for (size_t c = 0; c < clusters_.size(); ++c) {
        const auto& after = clusters_[c].after;
        const bool ready = std::ranges::all_of(after, [&](size_t before) { return done[before]; });
        if (done[c] || !ready) continue;
        done[c] = true;
        order.push_back(c);
      }
    }
    return order;
  }

  bool is_read_outside(ValueId id, size_t cluster) const {
    if (std::ranges::find(graph_.outputs, id) != graph_.outputs.end()) return true;
    for (size_t n = 0; n < graph_.nodes.size(); ++n) {
      const auto& inputs = graph_.nodes[n].inputs;
      if (cluster_of_[n] != cluster && std::ranges::find(inputs, id) != inputs.end()) return true;
    }
    return false;
  }

  Node node_of(size_t c) const {
    const Cluster& cluster = clusters_[c];
    Node made;
    made.op = "TiledElementwise";
    made.domain = "anynpu";
    made.name = graph_.nodes[cluster.nodes.front()].name;
    auto body = std::make_shared<Graph>();
    std::vector<ValueId> inner(graph_.values.size(), kNoValue);
    const auto add = [&](ValueId id) {
      graph::Value copy = value(id);
      copy.constant = nullptr;
      return inner[static_cast<size_t>(id)] = body->add_value(std::move(copy));
    };
    for (size_t n : cluster.nodes) {
      Node part = graph_.nodes[n];
      for (ValueId& id : part.inputs) {
        if (id == kNoValue) continue;
        if (inner[static_cast<size_t>(id)] == kNoValue) {
          made.inputs.push_back(id);
          body->inputs.push_back(add(id));
        }
        id = inner[static_cast<size_t>(id)];
      }
      part.outputs[0] = add(part.outputs[0]);
      body->nodes.push_back(std::move(part));
    }
    for (size_t n : cluster.nodes) {
      const ValueId id = graph_.nodes[n].outputs[0];
      if (!is_read_outside(id, c)) continue;
      made.outputs.push_back(id);
      body->outputs.push_back(inner[static_cast<size_t>(id)]);
    }
    made.attrs.emplace("body", std::shared_ptr<const Graph>(std::move(body)));
    return made;
  }

  Graph rebuilt() const {
    Graph made = graph_;
    made.nodes.clear();
    for (size_t c : ordered()) {
      if (clusters_[c].nodes.size() == 1) {
        made.nodes.push_back(graph_.nodes[clusters_[c].nodes.front()]);
      } else {
        made.nodes.push_back(node_of(c));
      }
    }
    return made;
  }

  const Part& part_;
  const Graph& graph_;
  const int64_t least_;
  std::vector<Cluster> clusters_;
  std::vector<size_t> cluster_of_;  // by node
  std::vector<int64_t> producer_;   // by value: its node, -1 where it comes from outside
  size_t placed_ = 0;
};

size_t place_of(const std::vector<ValueId>& list, ValueId id) {
  return static_cast<size_t>(std::ranges::find(list, id) - list.begin());
}

bool contains(const std::vector<ValueId>& list, ValueId id) {
  return std::ranges::find(list, id) != list.end();
}

// Of a node that reads `input` and writes `output`: whether no step of it reads after the write.
bool reads_first(const Node& node, ValueId input, ValueId output) {
  const auto found = node.attrs.find("body");
  if (found == node.attrs.end()) return true;  // one step: element by element
  const auto& body = *std::get<std::shared_ptr<const Graph>>(found->second);
  const ValueId read = body.inputs[place_of(node.inputs, input)],
                written = body.outputs[place_of(node.outputs, output)];
  bool late = false;
  for (const Node& step : body.nodes) {
    if (late && contains(step.inputs, read)) return false;
    late = late || contains(step.outputs, written);
  }
  return true;
}

}  // namespace

graph::Graph fused(const Part& part, int64_t least) { return Fuser(part, least).run(); }

bool reads_before_writing(const Part& part) {
  return std::ranges::all_of(part.overwrites, [&](const Overwrite& o) {
    return std::ranges::all_of(part.graph.nodes, [&](const Node& node) {
      if (!contains(node.inputs, o.input)) return true;
      return contains(node.outputs, o.output) && reads_first(node, o.input, o.output);
    });
  });
}

}  // namespace anynpu::aclnn
