// SPDX-License-Identifier: Apache-2.0
// OpGraph: builds a model from vendor operators, one operator at a time. Each is lowered by the
// rules of single operators (import/singleop/table.h), with types and shapes inferred on the way;
// unsupported operators are collected, so that finish() can list
// all of them.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"
#include "graph/unique_names.h"
#include "import/singleop/op.h"

namespace anynpu::ge {

using graph::kNoValue;
using graph::ValueId;

// Shapes that replace those of the file, by the name of the input. -1 = known at run time only.
using InputShapes = std::map<std::string, Shape>;

class OpGraph {
 public:
  explicit OpGraph(std::string name);

  ValueId add_input(const std::string& name, DType dtype, Shape shape, Format format = Format::nd);
  // Fails when the bytes are not as many as type and shape say.
  Result<ValueId> add_constant(const std::string& name, DType dtype, Shape shape,
                               graph::Constant data);
  // `op.inputs` say how the operator sees its inputs (format); their types, shapes and values are
  // filled in from `inputs`, where kNoValue is an input that is left out. `op.outputs` say type and
  // format where the file states them. Returns the outputs, kNoValue for those that cannot be read.
  Result<std::vector<ValueId>> add(const std::string& name, singleop::SingleOp op,
                                   const std::vector<ValueId>& inputs);
  // A loop that runs while its condition holds: `body` takes the iteration, the condition and the
  // carried values, and returns the next ones. Returns the final carried values.
  Result<std::vector<ValueId>> add_loop(const std::string& name, graph::Graph body,
                                        ValueId condition, const std::vector<ValueId>& carried);
  // What was refused in another graph, such as the body of a loop, is refused here.
  void take_refused(OpGraph& other);
  bool has_refused() const { return !unsupported_.empty(); }
  // Records an unsupported operator for finish(), with a note; the most similar known
  // name if `note` is empty. Its outputs are unknown, so operators that read them are
  // skipped.
  void refuse(const std::string& name, const std::string& type, std::string_view note = {});
  // Whether an input of an operator is unknown because of one that was refused.
  bool any_unknown(const std::vector<ValueId>& inputs) const;
  // An output of an operator that was refused.
  static constexpr ValueId kUnknown = -2;

  const graph::Value& value(ValueId id) const { return graph_.values[static_cast<size_t>(id)]; }
  // The elements of an integer constant; fails when it is not one.
  Result<std::vector<int64_t>> whole_numbers(ValueId id) const;

  // `names` are what the outputs are called, where the file says; else empty.
  Result<graph::Graph> finish(const std::vector<ValueId>& outputs,
                              const std::vector<std::string>& names);

 private:
  Result<std::vector<ValueId>> splice(const std::string& name, const graph::Graph& part,
                                      const std::vector<ValueId>& fed);
  ValueId add_value(graph::Value value);

  graph::Graph graph_;
  graph::UniqueNames value_names_{2}, node_names_{2};
  std::vector<std::string> unsupported_;
};

}  // namespace anynpu::ge
