// SPDX-License-Identifier: Apache-2.0
#include "compile/specialise.h"

#include "compile/aipp_config.h"
#include "compile/infer_flow.h"
#include "compile/pass_table.h"
#include "compile/passes.h"

namespace anynpu::compile {

Status optimise_shaped(graph::Graph& graph, const std::vector<std::string>& passes_off,
                       FoldBudget* budget) {
  ANYNPU_TRY(budget ? infer_and_fold(graph, passes_off, *budget)
                    : infer_and_fold(graph, passes_off));
  // Fusing needs every shape: a graph with dynamic ones is fused part by part when it is loaded.
  if (!all_shapes_known(graph)) return remove_dead(graph);
  ANYNPU_TRY(run_passes(graph, PassShapes::known, passes_off));
  return remove_dead(graph);
}

Result<graph::Graph> specialise(const graph::Graph& graph, std::span<const Shape> shapes,
                                const om::Meta& meta) {
  if (shapes.size() != graph.inputs.size()) {
    return fail(Code::invalid_argument, "{} shapes were given for {} inputs", shapes.size(),
                graph.inputs.size());
  }
  graph::Graph fixed = graph;
  for (size_t i = 0; i < shapes.size(); ++i) {
    graph::Value& value = fixed.values[static_cast<size_t>(fixed.inputs[i])];
    ANYNPU_TRY(check_shape(shapes[i]), "in the shape of '{}'", value.name);
    value.shape = shapes[i];
    value.has_shape = true;
  }
  ANYNPU_TRY(optimise_shaped(fixed, meta.passes_off));
  ANYNPU_TRY(insert_aipp(meta.aipp, fixed));
  return fixed;
}

}  // namespace anynpu::compile
