/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ge::Graph: a model between the parser and the compiler (ge/ge_ir_build.h), or operators that a
 * program has linked. Copies are the same graph.
 */
#ifndef GRAPH_GRAPH_H_
#define GRAPH_GRAPH_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "graph/ascend_string.h"
#include "graph/ge_error_codes.h"

namespace ge {

class GNode;
class GraphImpl;
class Operator;

// The bytes of a graph.
class __attribute__((visibility("default"))) GraphBuffer {
 public:
  GraphBuffer();
  GraphBuffer(const GraphBuffer&) = delete;
  GraphBuffer& operator=(const GraphBuffer&) = delete;
  ~GraphBuffer();
  const uint8_t* GetData() const;
  size_t GetSize() const;

 private:
  friend class GraphImpl;
  std::unique_ptr<std::vector<uint8_t>> bytes_;
};

class __attribute__((visibility("default"))) Graph {
 public:
  Graph() = default;
  ~Graph() = default;
  explicit Graph(const char* name);
  explicit Graph(const std::string& name);

  // Whether a parser or SetOutputs has filled it.
  bool IsValid() const;
  graphStatus GetName(AscendString& name) const;
  std::string GetName() const;

  // The operators of a graph are those from which its outputs are computed.
  Graph& SetInputs(const std::vector<Operator>& inputs);
  Graph& SetOutputs(const std::vector<Operator>& outputs);
  Graph& SetOutputs(const std::vector<std::pair<Operator, std::string>>& outputs);
  Graph& SetOutputs(const std::vector<std::pair<Operator, AscendString>>& outputs);
  // Accepted: a graph runs once a call.
  void SetNeedIteration(bool need_iteration);

  // Nodes and edges: outputs and inputs are counted from 0.
  std::vector<GNode> GetDirectNode() const;
  graphStatus AddDataEdge(GNode& source, int32_t output, GNode& target, int32_t input);
  graphStatus AddControlEdge(GNode& source, GNode& target);
  graphStatus RemoveEdge(GNode& source, int32_t output, GNode& target, int32_t input);
  graphStatus RemoveNode(GNode& node);

  // A list of nodes and links, for reading.
  graphStatus SaveToFile(const char* path) const;
  graphStatus SaveToFile(const std::string& path) const;
  graphStatus SaveToMem(GraphBuffer& buffer) const;

 private:
  friend class GraphImpl;
  std::shared_ptr<GraphImpl> impl_;
};

}  // namespace ge

#endif
