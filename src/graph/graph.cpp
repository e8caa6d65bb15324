// SPDX-License-Identifier: Apache-2.0
#include "graph/graph.h"

#include <functional>
#include <queue>

#include "graph/flow.h"

namespace anynpu::graph {

namespace {

template <typename T>
T attr_or(const Node& node, const std::string& key, T otherwise) {
  const auto found = node.attrs.find(key);
  if (found == node.attrs.end()) return otherwise;
  const T* value = std::get_if<T>(&found->second);
  return value ? *value : otherwise;
}

// Who makes a value: a node's index, or one of these.
constexpr int32_t kNobody = -1;
constexpr int32_t kCaller = -2;
constexpr int32_t kWeights = -3;

std::string who(const Graph& graph, int32_t producer) {
  if (producer == kCaller) return "the graph's inputs";
  if (producer == kWeights) return "a constant";
  const Node& node = graph.nodes[static_cast<size_t>(producer)];
  return format("node '{}' ({})", node.name, node.op);
}

class Verifier {
 public:
  explicit Verifier(Graph& graph) : graph_(graph), producer_(graph.values.size(), kNobody) {}

  Status run() {
    ANYNPU_TRY(check_shapes());
    ANYNPU_TRY(find_producers());
    ANYNPU_TRY(check_uses());
    return sort();
  }

 private:
  bool in_range(ValueId id) const {
    return id >= 0 && static_cast<size_t>(id) < graph_.values.size();
  }
  const std::string& name(ValueId id) const { return graph_.values[static_cast<size_t>(id)].name; }

  Status check_shapes() const {
    for (const Value& value : graph_.values) {
      if (!value.has_shape) continue;
      ANYNPU_TRY(check_shape(value.shape), "in value '{}' of graph '{}'", value.name, graph_.name);
    }
    return {};
  }

  Status set_producer(ValueId id, int32_t producer) {
    int32_t& slot = producer_[static_cast<size_t>(id)];
    if (slot != kNobody) {
      return fail(
          Code::corrupt_model,
          "value '{}' comes from {} and from {}; expected one producer per value, export the "
          "model again",
          name(id), who(graph_, slot), who(graph_, producer));
    }
    slot = producer;
    return {};
  }

  Status find_producers() {
    for (size_t i = 0; i < graph_.values.size(); ++i) {
      if (graph_.values[i].constant) producer_[i] = kWeights;
    }
    for (ValueId id : graph_.inputs) {
      if (!in_range(id)) return bad_id("an input of the graph", id);
      ANYNPU_TRY(set_producer(id, kCaller));
    }
    for (size_t n = 0; n < graph_.nodes.size(); ++n) {
      for (ValueId id : graph_.nodes[n].outputs) {
        if (id == kNoValue) continue;
        if (!in_range(id))
          return bad_id("an output of " + who(graph_, static_cast<int32_t>(n)), id);
        ANYNPU_TRY(set_producer(id, static_cast<int32_t>(n)));
      }
    }
    return {};
  }

  Status check_uses() const {
    for (size_t n = 0; n < graph_.nodes.size(); ++n) {
      for (ValueId id : graph_.nodes[n].inputs) {
        if (id == kNoValue) continue;
        const std::string user = who(graph_, static_cast<int32_t>(n));
        if (!in_range(id)) return bad_id("an input of " + user, id);
        ANYNPU_TRY(check_produced(id, user));
      }
      ANYNPU_TRY(check_flow(graph_.nodes[n]));
    }
    for (ValueId id : graph_.outputs) {
      if (!in_range(id)) return bad_id("an output of the graph", id);
      ANYNPU_TRY(check_produced(id, "the graph's outputs"));
    }
    return {};
  }

  Status check_produced(ValueId id, const std::string& user) const {
    if (producer_[static_cast<size_t>(id)] != kNobody) return {};
    return fail(Code::corrupt_model,
                "value '{}' is used by {} but nothing produces it; expected a node, an input or a "
                "constant of this name, export the model again",
                name(id), user);
  }

  Status bad_id(const std::string& place, ValueId id) const {
    return fail(Code::corrupt_model, "{} refers to value {}; the graph '{}' has {} values", place,
                id, graph_.name, graph_.values.size());
  }

  // Kahn's algorithm; the smallest index first keeps an order that is already right.
  Status sort() {
    const size_t count = graph_.nodes.size();
    std::vector<std::vector<size_t>> users(count);
    std::vector<size_t> waits(count, 0);
    for (size_t n = 0; n < count; ++n) {
      for (ValueId id : graph_.nodes[n].inputs) {
        if (id == kNoValue) continue;
        const int32_t from = producer_[static_cast<size_t>(id)];
        if (from < 0) continue;
        users[static_cast<size_t>(from)].push_back(n);
        ++waits[n];
      }
    }
    std::priority_queue<size_t, std::vector<size_t>, std::greater<>> ready;
    for (size_t n = 0; n < count; ++n) {
      if (waits[n] == 0) ready.push(n);
    }
    std::vector<size_t> order;
    while (!ready.empty()) {
      const size_t n = ready.top();
      ready.pop();
      order.push_back(n);
      for (size_t user : users[n]) {
        if (--waits[user] == 0) ready.push(user);
      }
    }
    if (order.size() != count) {
      size_t stuck = 0;
      while (waits[stuck] == 0) ++stuck;
      return fail(
          Code::corrupt_model,
          "{} waits for its own result: the graph '{}' has a cycle; expected none, export the "
          "model again",
          who(graph_, static_cast<int32_t>(stuck)), graph_.name);
    }
    std::vector<Node> sorted;
    sorted.reserve(count);
    for (size_t n : order) sorted.push_back(std::move(graph_.nodes[n]));
    graph_.nodes = std::move(sorted);
    return {};
  }

  Graph& graph_;
  std::vector<int32_t> producer_;
};

}  // namespace

int64_t Node::int_attr(const std::string& key, int64_t otherwise) const {
  return attr_or<int64_t>(*this, key, otherwise);
}

float Node::float_attr(const std::string& key, float otherwise) const {
  return attr_or<float>(*this, key, otherwise);
}

std::string Node::string_attr(const std::string& key, const std::string& otherwise) const {
  return attr_or<std::string>(*this, key, otherwise);
}

std::vector<int64_t> Node::ints_attr(const std::string& key, std::vector<int64_t> otherwise) const {
  return attr_or<std::vector<int64_t>>(*this, key, std::move(otherwise));
}

ValueId Graph::add_value(Value value) {
  values.push_back(std::move(value));
  return static_cast<ValueId>(values.size() - 1);
}

ValueId Graph::find_value(const std::string& value_name) const {
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i].name == value_name) return static_cast<ValueId>(i);
  }
  return kNoValue;
}

Status Graph::verify() { return Verifier(*this).run(); }

}  // namespace anynpu::graph
