// SPDX-License-Identifier: Apache-2.0
// GraphProto -> Graph: names become value ids, initializers and Constant nodes become constants,
// node names become unique, operators that are not there are collected.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "import/onnx/node_proto.h"
#include "import/onnx/onnx.h"

namespace anynpu::onnx {

class GraphBuilder {
 public:
  GraphBuilder(Source& source, const std::vector<OpsetImport>& opsets)
      : source_(source), opsets_(opsets) {}

  // One call per builder.
  Result<graph::Graph> build(const WireField& graph_field);

 private:
  Status read_fields(const WireField& graph_field);
  Status add_initializers();
  Status add_inputs();
  Status add_nodes();
  Status add_node(NodeProto proto);
  Status add_constant_node(const NodeProto& proto);
  Status add_declared(const std::vector<WireField>& infos);
  Status add_outputs();
  Status check_supported(const NodeProto& proto, const std::string& name);
  Status collect_inside(const NodeProto& proto);
  Status report_unsupported() const;

  graph::ValueId value(std::string_view name);
  std::string unique_name(const NodeProto& proto);
  int64_t opset_of(const std::string& domain) const;

  Source& source_;
  const std::vector<OpsetImport>& opsets_;
  graph::Graph graph_;
  std::vector<WireField> nodes_, initializers_, inputs_, outputs_, infos_;
  bool sparse_ = false;
  std::unordered_map<std::string, graph::ValueId> ids_;
  std::unordered_set<std::string> node_names_;
  std::vector<std::string> unsupported_;
};

}  // namespace anynpu::onnx
