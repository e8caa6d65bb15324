// SPDX-License-Identifier: Apache-2.0
#include "compile/origins.h"

#include <map>
#include <set>

namespace anynpu::compile {

SourceNodes::SourceNodes(const graph::Graph& graph) {
  std::map<graph::ValueId, std::vector<size_t>> users;
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    for (graph::ValueId id : graph.nodes[n].inputs) users[id].push_back(n);
  }
  for (const graph::Node& node : graph.nodes) {
    Node kept{node.name, {}, {}};
    for (graph::ValueId id : node.outputs) {
      if (id == graph::kNoValue) continue;
      kept.outputs.push_back(graph.values[static_cast<size_t>(id)].name);
      kept.users.insert(kept.users.end(), users[id].begin(), users[id].end());
    }
    nodes.push_back(std::move(kept));
  }
}

std::vector<std::pair<std::string, std::vector<std::string>>> origins(const SourceNodes& source,
                                                                      const graph::Graph& graph) {
  std::set<std::string> names;
  std::map<std::string, std::string> makers;  // tensor -> node
  for (const graph::Node& node : graph.nodes) {
    names.insert(node.name);
    for (graph::ValueId id : node.outputs) {
      if (id != graph::kNoValue) makers[graph.values[static_cast<size_t>(id)].name] = node.name;
    }
  }
  // Users come later: from the last node to the first each finds its owner in one step.
  std::vector<std::string> owner(source.nodes.size());
  std::map<std::string, std::vector<std::string>> members;
  for (size_t n = source.nodes.size(); n-- > 0;) {
    const SourceNodes::Node& node = source.nodes[n];
    if (names.contains(node.name)) owner[n] = node.name;
    for (const std::string& tensor : node.outputs) {
      if (owner[n].empty() && makers.contains(tensor)) owner[n] = makers[tensor];
    }
    for (size_t user : node.users) {
      if (owner[n].empty()) owner[n] = owner[user];
    }
    if (!owner[n].empty()) {
      auto& list = members[owner[n]];
      list.insert(list.begin(), node.name);
    }
  }
  std::vector<std::pair<std::string, std::vector<std::string>>> found;
  for (const graph::Node& node : graph.nodes) {
    auto& list = members[node.name];
    if (list.empty()) list.push_back(node.name);
    found.emplace_back(node.name, std::move(list));
  }
  return found;
}

}  // namespace anynpu::compile
