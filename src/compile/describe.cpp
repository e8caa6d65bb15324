// SPDX-License-Identifier: Apache-2.0
#include "compile/describe.h"

#include <algorithm>

#include "compile/def_use.h"
#include "compile/passes.h"

namespace anynpu::compile {

namespace {

constexpr size_t kMaxElements = size_t{1} << 50;

}  // namespace

// Images are NCHW (or as --input_format says) by their rank; everything else is ND.
Format format_for(const Shape& shape, Format wanted) {
  const bool volume = wanted == Format::ncdhw || wanted == Format::ndhwc;
  const size_t rank = volume ? 5 : 4;
  return shape.size() == rank ? wanted : Format::nd;
}

// Outputs are named "node:index:tensor", as atc names them; the node is the one of the source
// model.
std::vector<std::string> output_names(const graph::Graph& graph) {
  const DefUse def_use(graph);
  std::vector<std::string> names;
  for (graph::ValueId id : graph.outputs) {
    const graph::Value& value = graph.values[static_cast<size_t>(id)];
    const std::string& tensor = value.name;
    if (!value.source.empty()) {
      names.push_back(format("{}:{}", value.source, tensor));
      continue;
    }
    const int producer = def_use.producer[static_cast<size_t>(id)];
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
  if (value.kind != graph::ValueKind::tensor || value.dtype == DType::undefined) {
    return fail(
        Code::unsupported_dtype,
        "'{}' is no tensor, or its type is not known before the model runs; state it in the "
        "model",
        value.name);
  }
  if (!value.has_shape) info.shape = om::kUnknownRank;
  const auto count = static_cast<size_t>(std::max<int64_t>(0, element_count(info.shape)));
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

}  // namespace anynpu::compile
