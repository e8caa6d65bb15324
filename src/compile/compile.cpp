// SPDX-License-Identifier: Apache-2.0
#include "compile/compile.h"

#include "compile/describe.h"
#include "compile/passes.h"
#include "compile/specialise.h"

namespace anynpu::compile {

namespace {

// Shapes that a file states for inner values were true for the shapes it was exported with.
void forget_inner_shapes(graph::Graph& graph) {
  std::vector<bool> is_input(graph.values.size(), false);
  for (graph::ValueId id : graph.inputs) is_input[static_cast<size_t>(id)] = true;
  for (size_t i = 0; i < graph.values.size(); ++i) {
    graph::Value& value = graph.values[i];
    if (is_input[i] || value.constant) continue;
    value.has_shape = false;
    value.shape.clear();
  }
}

Status check_output_type(const om::Meta& meta, DType wanted) {
  if (wanted == DType::undefined) return {};
  for (const om::TensorInfo& info : meta.outputs) {
    if (info.dtype == wanted) continue;
    return fail(Code::unsupported_feature,
                "--output_type asks for {}, output '{}' has {}; changing the type of outputs comes "
                "with a later release",
                name_of(wanted), info.name, name_of(info.dtype));
  }
  return {};
}

}  // namespace

Result<om::Model> compile(graph::Graph graph, const Options& options) {
  const std::vector<std::string> names = output_names(graph);
  ANYNPU_ASSIGN(const bool fixed, apply_input_shapes(options.input_shapes, graph));
  if (!options.input_shapes.empty()) forget_inner_shapes(graph);
  ANYNPU_TRY(remove_identities(graph));
  ANYNPU_TRY(fold_batch_norms(graph));

  om::Model model;
  model.meta.name = options.model_name;
  model.meta.soc_version = options.soc_version;
  model.meta.producer = options.producer;
  model.meta.command_line = options.command_line;
  model.meta.options = options.given;
  if (!fixed || options.gears.kind != om::GearKind::none) {
    ANYNPU_TRY(remove_dead(graph));
    ANYNPU_ASSIGN(model, compile_dynamic(std::move(graph), options, names, std::move(model.meta)));
    ANYNPU_TRY(check_output_type(model.meta, options.output_type));
    return model;
  }
  ANYNPU_ASSIGN(const auto aipp, fit_aipp(options.aipp, graph, om::GearKind::none, true));
  std::vector<Shape> shapes;
  for (graph::ValueId id : graph.inputs) {
    shapes.push_back(graph.values[static_cast<size_t>(id)].shape);
  }
  ANYNPU_TRY(optimise_shaped(graph));
  ANYNPU_TRY(insert_aipp(aipp, graph));
  for (const auto* ids : {&graph.inputs, &graph.outputs}) {
    for (graph::ValueId id : *ids) {
      graph::Value& value = graph.values[static_cast<size_t>(id)];
      value.format = format_for(value.shape, options.input_format);
    }
  }
  ANYNPU_TRY(describe_all(graph, names, model.meta));
  describe_aipp(aipp, shapes, model.meta);
  ANYNPU_TRY(check_output_type(model.meta, options.output_type));
  model.graph = std::move(graph);
  return model;
}

}  // namespace anynpu::compile
