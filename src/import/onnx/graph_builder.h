// SPDX-License-Identifier: Apache-2.0
// GraphProto -> Graph: names become value ids, initializers and Constant nodes become constants,
// node names become unique, calls of the model's functions are inlined, unsupported operators are
// collected. A subgraph has its own builder, whose parent provides the values that it
// captures (graph/flow.h).
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "graph/unique_names.h"
#include "import/onnx/function_proto.h"
#include "import/onnx/node_proto.h"
#include "import/onnx/onnx.h"

namespace anynpu::onnx {

// State shared by the builders of one model.
struct ModelScope {
  Source& source;
  std::vector<OpsetImport> opsets;
  Functions functions;
  std::vector<std::string> unsupported;
  size_t nodes;  // made so far; calls of functions can multiply what the file holds
};

class GraphBuilder {
 public:
  explicit GraphBuilder(ModelScope& model, GraphBuilder* parent = nullptr);

  // One call per builder.
  Result<graph::Graph> build(const WireField& graph_field);

 private:
  // Names of the graph itself, or of one call of a function.
  struct Names {
    std::unordered_map<std::string, graph::ValueId> ids;
    const std::vector<OpsetImport>* opsets = nullptr;
    std::map<std::string, WireField> attributes;  // of the call
    std::string prefix;                           // of values and nodes
    bool is_call = false;
    int depth = 0;  // of calls
  };
  struct Subgraph {
    std::string attr;
    graph::Graph graph;
    std::vector<graph::ValueId> outer;  // what its last inputs are in this graph
  };

  Status read_fields(const WireField& graph_field);
  Status note_names();
  Status add_initializers();
  Status add_initializer(Tensor tensor);
  Status add_inputs();
  Status add_nodes(const std::vector<WireField>& nodes);
  Status add_node(const NodeProto& proto);
  Status look_inside(const NodeProto& proto);
  Status add_attributes(const NodeProto& proto, graph::Node& node);
  Status add_captures(std::vector<Subgraph> subgraphs, graph::Node& node);
  Status add_constant_node(const NodeProto& proto);
  Status add_call(const Function& function, const NodeProto& proto);
  Status add_identity(graph::ValueId from, graph::ValueId to);
  Status add_declared(const std::vector<WireField>& infos);
  Status add_outputs();
  Status count_node();
  bool check_supported(const NodeProto& proto, const std::string& name);
  Status report_unsupported() const;
  bool is_unsigned_four(graph::ValueId id) const;
  Status add_zero_point(graph::Node& node);
  Status settle_unsigned_fours();
  Status check_attribute(const graph::Attr& attribute, const graph::Node& node) const;

  graph::ValueId value(std::string_view name);
  graph::ValueId find_for_subgraph(const std::string& name);
  graph::ValueId capture(const std::string& name);
  // The attribute, or that of the call it refers to; null when the call has none.
  Result<const WireField*> resolve(const WireField& attribute, std::string& name) const;
  std::string unique_name(const NodeProto& proto);
  int64_t opset_of(const std::string& domain) const;

  ModelScope& model_;
  GraphBuilder* parent_;
  int depth_ = 0;  // of graphs around this one
  int loops_ = 0;  // of which bodies of a Loop, a Scan or a SequenceMap
  graph::Graph graph_;
  std::vector<WireField> nodes_, initializers_, sparse_initializers_, inputs_, outputs_, infos_;
  Names own_;
  Names* names_ = &own_;
  std::unordered_set<std::string> produced_;   // names that this graph defines itself
  std::vector<graph::ValueId> captured_;       // values of this graph
  std::vector<graph::ValueId> captured_from_;  // the same in the parent
  graph::UniqueNames node_names_{1};
};

}  // namespace anynpu::onnx
