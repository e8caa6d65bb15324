// SPDX-License-Identifier: Apache-2.0
#include "compile/compile.h"

#include "compile/describe.h"
#include "compile/origins.h"
#include "compile/pass_table.h"
#include "compile/passes.h"
#include "compile/specialise.h"
#include "compile/stages.h"
#include "compile/types.h"

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

bool changes_types(const Options& options) {
  return options.precision.any() || options.output_types.any() || !options.fp16_inputs.empty() ||
         !options.blocked_outputs.empty();
}

Status feed_blocks(const Options& options, graph::Graph& graph) {
  for (size_t i = 0; i < options.blocked_inputs.size(); ++i) {
    if (!options.blocked_inputs[i]) continue;
    for (size_t input = 0; input < graph.inputs.size(); ++input) {
      const auto id = static_cast<size_t>(graph.inputs[input]);
      if (graph.values[id].name == options.fp16_inputs[i]) ANYNPU_TRY(feed_in_blocks(input, graph));
    }
  }
  return {};
}

Status return_blocks(const Options& options, const graph::Graph& sample, graph::Graph& graph) {
  for (size_t i = 0; i < options.blocked_outputs.size() && i < graph.outputs.size(); ++i) {
    if (!options.blocked_outputs[i]) continue;
    graph::Value& value = graph.values[static_cast<size_t>(graph.outputs[i])];
    const graph::Value& known = sample.values[static_cast<size_t>(sample.outputs[i])];
    value.shape = known.shape;
    value.has_shape = known.has_shape;
    ANYNPU_TRY(return_in_blocks(i, graph));
  }
  return {};
}

// Element types of inputs, operators and outputs, as the command line says.
Status set_types(const Options& options, const std::vector<std::string>& names, bool fixed,
                 graph::Graph& graph) {
  ANYNPU_ASSIGN(std::vector<DType> types, fit_output_types(options.output_types, names));
  for (size_t i = 0; i < options.blocked_outputs.size() && i < types.size(); ++i) {
    if (options.blocked_outputs[i]) types[i] = DType::f16;
  }
  std::vector<Shape> shapes;
  if (!fixed) {
    ANYNPU_ASSIGN(shapes, trial_shapes(graph, options));
  }
  ANYNPU_ASSIGN(const graph::Graph sample, learn_types(graph, shapes));
  if (fixed) graph = sample;  // what is constant needs no casts
  if (options.precision.any()) ANYNPU_TRY(assign_precision(options.precision, sample, graph));
  ANYNPU_TRY(feed_in_fp16(options.fp16_inputs, graph));
  ANYNPU_TRY(feed_blocks(options, graph));
  ANYNPU_TRY(cast_outputs(types, graph));
  ANYNPU_TRY(return_blocks(options, sample, graph));
  ANYNPU_TRY(graph.verify());
  return remove_cast_pairs(graph);
}

}  // namespace

Result<om::Model> compile(graph::Graph graph, const Options& options) {
  if (options.on_stage) options.on_stage(StageDump::kBegin, graph);
  ANYNPU_TRY(select_outputs(options.out_nodes, graph));
  ANYNPU_TRY(check_names(options.precision, graph));
  const std::vector<std::string> names = output_names(graph);
  const SourceNodes source(graph);
  ANYNPU_ASSIGN(const bool fixed, apply_input_shapes(options.input_shapes, graph));
  if (!options.input_shapes.empty()) forget_inner_shapes(graph);
  ANYNPU_TRY(fold_texts(graph, options.passes_off));
  const auto has_type = [&](const graph::Node& node) {
    return has_own_type(options.precision, node.name, node.op);
  };
  ANYNPU_TRY(run_passes(graph, PassShapes::unknown, options.passes_off, has_type));
  const bool shaped = fixed && options.gears.kind == om::GearKind::none;
  if (options.on_stage) options.on_stage(StageDump::kPrepared, graph);
  if (changes_types(options)) ANYNPU_TRY(set_types(options, names, shaped, graph));
  if (options.on_stage) options.on_stage(StageDump::kTyped, graph);

  om::Model model;
  model.meta.name = options.model_name;
  model.meta.soc_version = options.soc_version;
  model.meta.producer = options.producer;
  model.meta.command_line = options.command_line;
  model.meta.options = options.given;
  model.meta.passes_off = options.passes_off;
  if (!shaped) {
    ANYNPU_TRY(remove_dead(graph));
    ANYNPU_ASSIGN(model, compile_dynamic(std::move(graph), options, names, std::move(model.meta)));
    model.meta.origins = origins(source, model.graph);
    if (options.on_stage) options.on_stage(StageDump::kBuild, model.graph);
    return model;
  }
  ANYNPU_ASSIGN(const auto aipp, fit_aipp(options, graph, true));
  std::vector<Shape> shapes;
  for (graph::ValueId id : graph.inputs) {
    shapes.push_back(graph.values[static_cast<size_t>(id)].shape);
  }
  ANYNPU_TRY(optimise_shaped(graph, options.passes_off));
  ANYNPU_TRY(insert_aipp(aipp, graph));
  for (const auto* ids : {&graph.inputs, &graph.outputs}) {
    for (graph::ValueId id : *ids) {
      graph::Value& value = graph.values[static_cast<size_t>(id)];
      if (value.format != Format::nc1hwc0)
        value.format = format_for(value.shape, options.input_format);
    }
  }
  ANYNPU_TRY(describe_all(graph, names, model.meta));
  describe_aipp(aipp, shapes, model.meta);
  model.meta.origins = origins(source, graph);
  model.graph = std::move(graph);
  if (options.on_stage) options.on_stage(StageDump::kBuild, model.graph);
  return model;
}

}  // namespace anynpu::compile
