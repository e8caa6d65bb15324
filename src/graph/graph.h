// SPDX-License-Identifier: Apache-2.0
// The intermediate representation: values connected by nodes, in topological order after verify().
// Device-neutral; weights are views into memory the graph keeps alive. Not thread-safe while it is
// being changed; free to share once built.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

namespace anynpu::graph {

class Graph;
using ValueId = int32_t;  // index into Graph::values; kNoValue = an optional input left out
constexpr ValueId kNoValue = -1;

// Constant data. `bytes` points into `owner` (a mapped file or a buffer).
struct Constant {
  std::shared_ptr<const void> owner;
  std::span<const std::byte> bytes;
};

// A sequence holds tensors of one element type; an optional holds a tensor, a sequence or nothing.
enum class ValueKind : uint8_t { tensor, sequence, optional };

struct Value {
  std::string name;
  ValueKind kind = ValueKind::tensor;
  DType dtype = DType::undefined;  // of the elements
  Shape shape;                     // -1 = dynamic; valid only if has_shape
  bool has_shape = false;
  Format format = Format::nd;
  std::shared_ptr<const Constant> constant;  // set for weights
  // "layer:1": the name in the source model, if the node that computes the value here is called
  // differently; else empty.
  std::string source;
};

struct TensorAttr {
  DType dtype;
  Shape shape;
  std::shared_ptr<const Constant> data;
};

using Attr = std::variant<int64_t, float, std::string, std::vector<int64_t>, std::vector<float>,
                          std::vector<std::string>, TensorAttr, std::shared_ptr<const Graph>>;

struct Node {
  std::string op;      // the ONNX name for operators of the default domain: "Conv", "Softmax"
  std::string domain;  // "" = ONNX default
  int64_t opset = 0;   // version of the domain the node was written for
  std::string name;    // never empty after import; unique in the graph
  std::vector<ValueId> inputs;
  std::vector<ValueId> outputs;
  std::map<std::string, Attr> attrs;

  int64_t int_attr(const std::string& key, int64_t otherwise) const;
  float float_attr(const std::string& key, float otherwise) const;
  std::string string_attr(const std::string& key, const std::string& otherwise) const;
  std::vector<int64_t> ints_attr(const std::string& key, std::vector<int64_t> otherwise = {}) const;
};

class Graph {
 public:
  std::string name;
  std::vector<Value> values;
  std::vector<Node> nodes;
  std::vector<ValueId> inputs;   // what a caller feeds, in order
  std::vector<ValueId> outputs;  // what a caller reads, in order

  ValueId add_value(Value value);
  ValueId find_value(const std::string& value_name) const;  // kNoValue when absent

  // Every id in range, one producer per value, no cycle, graph outputs produced, subgraphs that fit
  // their node (flow.h). Sorts nodes into topological order. The message names the node and the
  // value. Subgraphs themselves are verified where they are made.
  Status verify();
};

// Readable text: one line per node, with shapes and types; subgraphs are indented under their node.
// Stable, used in golden tests.
std::string print(const Graph& graph);

}  // namespace anynpu::graph
