// SPDX-License-Identifier: Apache-2.0
#include "compile/compile.h"

#include "compile/passes.h"

namespace anynpu::compile {

namespace {

constexpr size_t kMaxElements = size_t{1} << 50;

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

// Images are NCHW (or as --input_format says) by their rank; everything else is ND.
Format format_for(const Shape& shape, Format wanted) {
  const bool volume = wanted == Format::ncdhw || wanted == Format::ndhwc;
  const size_t rank = volume ? 5 : 4;
  return shape.size() == rank ? wanted : Format::nd;
}

// Outputs are named "node:index:tensor", as atc names them; the node is the one of the source
// model.
std::vector<std::string> output_names(const graph::Graph& graph) {
  const Links links(graph);
  std::vector<std::string> names;
  for (graph::ValueId id : graph.outputs) {
    const std::string& tensor = graph.values[static_cast<size_t>(id)].name;
    const int producer = links.producer[static_cast<size_t>(id)];
    if (producer < 0) {
      names.push_back(format("{}:0:{}", tensor, tensor));
      continue;
    }
    const graph::Node& node = graph.nodes[static_cast<size_t>(producer)];
    size_t index = 0;
    while (node.outputs[index] != id) ++index;
    names.push_back(format("{}:{}:{}", node.name, index, tensor));
  }
  return names;
}

Result<om::TensorInfo> describe(const std::string& name, const graph::Value& value) {
  om::TensorInfo info{name, value.dtype, value.format, value.shape, 0};
  const auto count = static_cast<size_t>(element_count(value.shape));
  if (count > kMaxElements) {
    return fail(Code::unsupported_shape, "'{}' has the shape {}, which is too large", value.name,
                to_string(value.shape));
  }
  if (value.dtype == DType::string) {
    return fail(Code::unsupported_dtype,
                "'{}' is a tensor of strings; inputs and outputs must have numbers", value.name);
  }
  info.size = bytes_of(value.dtype, count);
  return info;
}

Status describe_all(const graph::Graph& graph, const std::vector<std::string>& output_names,
                    om::Meta& meta) {
  for (graph::ValueId id : graph.inputs) {
    const graph::Value& value = graph.values[static_cast<size_t>(id)];
    ANYNPU_ASSIGN(om::TensorInfo info, describe(value.name, value));
    meta.inputs.push_back(std::move(info));
  }
  for (size_t i = 0; i < graph.outputs.size(); ++i) {
    const graph::Value& value = graph.values[static_cast<size_t>(graph.outputs[i])];
    ANYNPU_ASSIGN(om::TensorInfo info, describe(output_names[i], value));
    meta.outputs.push_back(std::move(info));
  }
  return {};
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
  ANYNPU_TRY(apply_input_shapes(options.input_shapes, graph));
  if (!options.input_shapes.empty()) forget_inner_shapes(graph);
  ANYNPU_TRY(remove_identities(graph));
  ANYNPU_TRY(fold_batch_norms(graph));
  ANYNPU_TRY(infer_and_fold(graph));
  ANYNPU_TRY(fuse_convs(graph));
  ANYNPU_TRY(remove_dead(graph));

  for (const auto* ids : {&graph.inputs, &graph.outputs}) {
    for (graph::ValueId id : *ids) {
      graph::Value& value = graph.values[static_cast<size_t>(id)];
      value.format = format_for(value.shape, options.input_format);
    }
  }
  om::Model model;
  model.meta.name = options.model_name;
  model.meta.soc_version = options.soc_version;
  model.meta.producer = options.producer;
  model.meta.command_line = options.command_line;
  model.meta.options = options.given;
  ANYNPU_TRY(describe_all(graph, names, model.meta));
  ANYNPU_TRY(check_output_type(model.meta, options.output_type));
  model.graph = std::move(graph);
  return model;
}

}  // namespace anynpu::compile
