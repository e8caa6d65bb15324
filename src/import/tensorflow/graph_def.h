// SPDX-License-Identifier: Apache-2.0
// GraphDef, NodeDef and FunctionDef of TensorFlow, read from the protobuf wire format. Names
// and links are parsed; attributes stay in the file's bytes until one is used
// (attr_value.h).
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/protowire.h"

namespace anynpu::tensorflow {

// "name:2" of a node's input list; index 0 is not written. "^name" orders nodes and carries no
// data.
struct Link {
  std::string node;
  size_t index = 0;
  // Inside functions "name:values:1": the named output that the index counts in.
  std::string argument;
  bool operator==(const Link&) const = default;
};

struct FlowForm;

struct NodeDef {
  std::string name, op;
  std::vector<Link> inputs;           // data inputs only
  std::vector<std::string> controls;  // nodes that run before it: "^name"
  std::map<std::string, WireField, std::less<>> attrs;
  std::shared_ptr<const FlowForm> flow;  // of loops and branches that flow_forms.h rebuilt
};

// The body of a function, a branch or a loop: a graph of its own.
struct FunctionDef {
  std::string name;
  struct Argument {
    std::string name;
    int64_t type = 0;
  };
  std::vector<Argument> arguments;
  std::vector<NodeDef> nodes;
  std::vector<Link> results;
};

struct GraphDef {
  std::vector<NodeDef> nodes;
  std::map<std::string, std::shared_ptr<const FunctionDef>, std::less<>> functions;
  int64_t producer = 0;  // version of GraphDef it was written with
};

// Fails for bytes that are not a GraphDef: not protobuf, or no node with a name and an operator.
Result<GraphDef> read_graph_def(std::span<const std::byte> bytes);

// "scope/node:1" -> {"scope/node", 1}.
Link parse_link(std::string_view text);
std::string to_text(const Link& link);

}  // namespace anynpu::tensorflow
