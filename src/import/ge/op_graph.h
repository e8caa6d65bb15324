// SPDX-License-Identifier: Apache-2.0
// OpGraph: a model made of the vendor's operators, put together one operator at a time. Each is
// turned into nodes by the rules of the single operators (import/singleop/table.h), with types and
// shapes inferred on the way; operators that are not there are collected, so that finish() can name
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
  // format where the file states them. The outputs, kNoValue for those that nothing can read.
  Result<std::vector<ValueId>> add(const std::string& name, singleop::SingleOp op,
                                   const std::vector<ValueId>& inputs);
  // A loop that runs while its condition holds: `body` takes the round, the condition and what is
  // carried, and gives the next condition and what is carried. What is carried at the end.
  Result<std::vector<ValueId>> add_loop(const std::string& name, graph::Graph body,
                                        ValueId condition, const std::vector<ValueId>& carried);
  // What was refused in another graph, such as the body of a loop, is refused here.
  void take_refused(OpGraph& other);
  bool has_refused() const { return !unsupported_.empty(); }
  // Keeps an operator that is not there for finish(), with what to say about it: the nearest name
  // that is known, when `note` is empty. What it would compute is unknown, so operators that read
  // it are passed over.
  void refuse(const std::string& name, const std::string& type, std::string_view note = {});
  // Whether an input of an operator is unknown because of one that was refused.
  bool any_unknown(const std::vector<ValueId>& inputs) const;
  // An output of an operator that was refused.
  static constexpr ValueId kUnknown = -2;

  const graph::Value& value(ValueId id) const { return graph_.values[static_cast<size_t>(id)]; }
  // The elements of a constant of whole numbers; fails when it is none.
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
