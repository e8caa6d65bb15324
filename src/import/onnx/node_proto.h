// SPDX-License-Identifier: Apache-2.0
// NodeProto, AttributeProto and ValueInfoProto as they stand in the file, names unresolved.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "import/onnx/tensor_proto.h"

namespace anynpu::onnx {

struct NodeProto {
  std::string op;
  std::string domain;  // "ai.onnx" is already ""
  std::string name;
  std::vector<std::string_view> inputs;
  std::vector<std::string_view> outputs;
  std::vector<WireField> attributes;
};
Result<NodeProto> read_node(const WireField& field);

struct NamedAttr {
  std::string name;
  graph::Attr value;
  bool empty = false;  // nothing but a name: leave it out
};
// Fails with unsupported_feature for the kinds a Graph does not hold (graphs, sparse tensors,
// types).
Result<NamedAttr> read_attribute(const WireField& field, Source& source);

// Name, type and shape; the rest of graph::Value is left as it is.
Result<graph::Value> read_value_info(const WireField& field);

// The GraphProto fields inside an attribute (If, Loop, Scan).
Result<std::vector<WireField>> subgraphs_of(const WireField& attribute);

// "ai.onnx" names the default domain.
std::string plain_domain(std::string domain);

}  // namespace anynpu::onnx
