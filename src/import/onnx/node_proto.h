// SPDX-License-Identifier: Apache-2.0
// NodeProto, AttributeProto and ValueInfoProto as in the file, names unresolved.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "import/onnx/tensor_proto.h"

namespace anynpu::onnx {

struct NodeProto {
  std::string op;
  std::string domain;  // "ai.onnx" is already ""
  std::string name;
  std::string overload;  // of a function of the model
  std::vector<std::string_view> inputs;
  std::vector<std::string_view> outputs;
  std::vector<WireField> attributes;
};
Result<NodeProto> read_node(const WireField& field);

// What decides how an attribute is read.
struct AttrHead {
  std::string name;
  std::string refers_to;  // an attribute of the function that the node stands in
  std::optional<WireField> graph;
};
Result<AttrHead> read_attribute_head(const WireField& field);

struct NamedAttr {
  std::string name;
  graph::Attr value;
  bool empty = false;  // nothing but a name, or a type: leave it out
};
// Fails with unsupported_feature for lists of tensors or graphs; graphs are for the caller to read.
// Sparse tensors become dense.
Result<NamedAttr> read_attribute(const WireField& field, Source& source);

// Name, kind, type and shape; the rest of graph::Value is left as it is. Fails for maps and sparse
// tensors.
Result<graph::Value> read_value_info(const WireField& field);

// "ai.onnx" names the default domain.
std::string plain_domain(std::string domain);

}  // namespace anynpu::onnx
