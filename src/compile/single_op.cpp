// SPDX-License-Identifier: Apache-2.0
#include "compile/single_op.h"

#include "compile/describe.h"
#include "import/singleop/table.h"

namespace anynpu::compile {

namespace {

constexpr std::string_view kOption =
    "singleop_description";  // of Meta::options: the description as JSON

std::vector<InputShape> shapes_of(const graph::Graph& graph, const singleop::SingleOp& op) {
  std::vector<InputShape> shapes;
  size_t fed = 0;
  for (size_t i = 0; i < op.inputs.size(); ++i) {
    const TensorDesc& desc = op.inputs[i];
    if (!op.has_input(i) || desc.is_constant) continue;
    const graph::Value& value = graph.values[static_cast<size_t>(graph.inputs[fed++])];
    InputShape shape{value.name, {}};
    for (size_t d = 0; d < value.shape.size(); ++d) {
      // Only the extents of the description have ranges; a storage shape is fixed.
      const bool same = value.shape.size() == desc.shape.size();
      const Range range = same ? desc.range_of(d) : Range{value.shape[d], value.shape[d]};
      shape.extents.push_back(value.shape[d] < 0 ? Extent{range.first, range.second}
                                                 : Extent{value.shape[d], value.shape[d]});
    }
    shapes.push_back(std::move(shape));
  }
  return shapes;
}

// Nothing can be planned before the values are there: the graph is kept as it is.
om::Model keep_dynamic(graph::Graph graph, om::Meta meta) {
  const auto describe_ids = [&](const std::vector<graph::ValueId>& ids,
                                std::vector<om::TensorInfo>& infos) {
    for (graph::ValueId id : ids) {
      const graph::Value& value = graph.values[static_cast<size_t>(id)];
      om::TensorInfo info{value.name, value.dtype, value.format, value.shape};
      const int64_t count = element_count(value.shape);
      if (count > 0) info.size = bytes_of(value.dtype, static_cast<size_t>(count));
      infos.push_back(std::move(info));
    }
  };
  describe_ids(graph.inputs, meta.inputs);
  describe_ids(graph.outputs, meta.outputs);
  om::Model model;
  model.graph = std::move(graph);
  model.meta = std::move(meta);
  return model;
}

}  // namespace

Result<om::Model> compile_single_op(const singleop::SingleOp& op, Options options) {
  ANYNPU_ASSIGN(graph::Graph graph, singleop::build_graph(op));
  if (options.model_name.empty()) options.model_name = op.name.empty() ? op.type : op.name;
  options.given.emplace_back(kOption, singleop::to_json(op).dump());
  const bool by_values = singleop::sized_by_values(*singleop::find_vendor_op(op.type));
  if (by_values) {
    om::Meta meta;
    meta.name = options.model_name;
    meta.soc_version = options.soc_version;
    meta.producer = options.producer;
    meta.command_line = options.command_line;
    meta.options = options.given;
    return keep_dynamic(std::move(graph), std::move(meta));
  }
  options.input_format = Format::nd;
  if (op.is_dynamic()) options.input_shapes = shapes_of(graph, op);
  ANYNPU_ASSIGN(om::Model model, compile(std::move(graph), options), "in operator {}", op.type);
  return model;
}

Result<singleop::SingleOp> single_op_of(const om::Meta& meta) {
  for (const auto& [key, text] : meta.options) {
    if (key != kOption) continue;
    ANYNPU_ASSIGN(const json::Value value, json::parse(text, meta.name));
    return singleop::from_json(value, meta.name);
  }
  return fail(Code::file_invalid,
              "the model '{}' is no single operator; make one with atc --singleop", meta.name);
}

}  // namespace anynpu::compile
