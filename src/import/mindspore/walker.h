// SPDX-License-Identifier: Apache-2.0
// Walker: evaluates the graphs of a .mindir by name. Functions are inlined; a tail-recursive one is
// a loop (loops.cpp). Used only by mindir_graph.cpp and loops.cpp.
#pragma once

#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "import/mindspore/call.h"
#include "import/mindspore/mindir_graph.h"
#include "import/onnx/tensor_proto.h"

namespace anynpu::mindspore {

// Which nodes the outputs of a graph need, and which parts of their results.
struct Uses {
  std::unordered_map<std::string, std::set<int64_t>> parts;  // -1: all of it
  bool reads(const std::string& name) const { return parts.contains(name); }
  bool reads(const std::string& name, int64_t part) const {
    const auto found = parts.find(name);
    return found != parts.end() && (found->second.contains(-1) || found->second.contains(part));
  }
};

class Walker {
 public:
  Walker(const Model& model, std::shared_ptr<const void> owner, const std::string& folder)
      : model_(model),
        source_{std::move(owner), folder, {}},
        main_(model.graph.name),
        graph_(&main_) {
    find_constants(model.graph);
    for (const auto& [name, graph] : model.functions) find_constants(graph);
  }

  Result<graph::Graph> run(const InputShapes& shapes);

 private:
  using Scope = std::unordered_map<std::string, Item>;

  std::string_view primitive_of(const Node& node) const;
  // Constants are written into one graph and read in all.
  void find_constants(const GraphProto& graph);
  Uses uses_of(const GraphProto& graph) const;
  Result<Item> call_graph(const GraphProto& graph, std::vector<Item> arguments);
  Result<Item> evaluate(const Node& node, const Scope& scope, const Uses& uses);
  Result<Item> evaluate_constant(const Node& node);
  // Limits the expansion of malicious files: called before a graph is walked, and for composed
  // items.
  Status count_nodes(const GraphProto& graph);
  Status count_items(const Item& item);
  Result<Item> call_function(const Item& function, std::vector<Item> arguments,
                             const std::string& node);
  Result<Item> choose(const Item& condition, const Item& yes, const Item& no,
                      const std::string& node);
  Result<Item> call_primitive(const Node& node, const Primitive& primitive,
                              std::vector<Item> arguments, const Uses& uses);
  Result<Item> lookup(const std::string& name, const Scope& scope);
  Result<Item> tensor_item(const Tensor& tensor, const std::string& name);
  Status add_inputs(const InputShapes& shapes, std::vector<Item>& arguments);

  // loops.cpp
  // Whether `graph` ends in a choice between a function that calls it again and one that does not.
  bool is_loop(const GraphProto& graph) const;
  Result<Item> run_loop(const GraphProto& graph, std::vector<Item> arguments);
  // The choice at the end of a loop's graph for these arguments.
  Result<Item> choice_of(const GraphProto& graph, const std::vector<Item>& arguments);
  Result<graph::Graph> loop_body(const GraphProto& graph, const std::vector<Item>& arguments);
  // The function that the last node of `graph` calls by name; empty when it calls none.
  std::string last_call(const GraphProto& graph) const;
  // Of a loop: which of the two sides calls it again, 1 or 2; 0 when none or both do.
  size_t again(const GraphProto& graph, const Item& choice) const;

  const Model& model_;
  onnx::Source source_;
  OpGraph main_;
  OpGraph* graph_;    // the one that nodes are added to: main_, or the body of a loop
  Scope parameters_;  // of that graph
  std::unordered_map<std::string, const Node*> constants_;
  std::vector<const GraphProto*> calls_;
  const GraphProto* loop_ = nullptr;  // whose body is being walked: a call of it is the next round
  size_t nodes_ = 0, items_ = 0;      // walked and put together so far: both are limited
};

}  // namespace anynpu::mindspore
