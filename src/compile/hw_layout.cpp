// SPDX-License-Identifier: Apache-2.0
// NC1HWC0 at the borders of a model: channels in blocks of 16, the last one filled up with zeros.
#include "base/align.h"
#include "compile/graph_edit.h"
#include "compile/passes.h"
#include "compile/types.h"

namespace anynpu::compile {

namespace {

using graph::Graph;
using graph::Node;
using graph::ValueId;

constexpr int64_t kC0 = 16;

int64_t blocks_of(int64_t channels) { return ceil_div(channels, kC0); }

Status check(const graph::Value& value, std::string_view option) {
  if (value.has_shape && value.shape.size() == 4 && is_static(value.shape) &&
      value.dtype == DType::f16) {
    return {};
  }
  return fail(Code::unsupported_shape,
              "--{}: '{}' is {} of {}; expected fixed extents N, C, H, W of float16", option,
              value.name, to_string(value.shape), name_of(value.dtype));
}

ValueId add_value(Graph& graph, const std::string& name, Shape shape) {
  graph::Value value;
  value.name = name;
  value.dtype = DType::f16;
  value.shape = std::move(shape);
  value.has_shape = true;
  return graph.add_value(std::move(value));
}

ValueId indices(Graph& graph, const std::string& name, std::vector<int64_t> numbers) {
  const Shape shape = {static_cast<int64_t>(numbers.size())};
  return add_constant(graph, name, shape, std::move(numbers));
}

Node make(const std::string& op, std::vector<ValueId> inputs, ValueId out, const Graph& graph) {
  Node node;
  node.op = op;
  node.opset = 13;
  node.name = graph.values[static_cast<size_t>(out)].name + "/" + op;
  node.inputs = std::move(inputs);
  node.outputs = {out};
  return node;
}

}  // namespace

Status feed_in_blocks(size_t input, Graph& graph) {
  const ValueId plain = graph.inputs[input];
  ANYNPU_TRY(check(graph.values[static_cast<size_t>(plain)], "is_input_adjust_hw_layout"));
  const std::string name = graph.values[static_cast<size_t>(plain)].name;
  const Shape shape = graph.values[static_cast<size_t>(plain)].shape;
  const int64_t n = shape[0], c1 = blocks_of(shape[1]), h = shape[2], w = shape[3];
  graph.values[static_cast<size_t>(plain)].name = name + "/nchw";
  const ValueId fed = add_value(graph, name, {n, c1, h, w, kC0});
  graph.values[static_cast<size_t>(fed)].format = Format::nc1hwc0;
  const ValueId turned = add_value(graph, name + "/turned", {n, c1, kC0, h, w});
  const ValueId joined = add_value(graph, name + "/joined", {n, c1 * kC0, h, w});
  Node transpose = make("Transpose", {fed}, turned, graph);
  transpose.attrs["perm"] = std::vector<int64_t>{0, 1, 4, 2, 3};
  const ValueId whole = indices(graph, name + "/joined_shape", {n, c1 * kC0, h, w});
  Node reshape = make("Reshape", {turned, whole}, joined, graph);
  Node slice =
      make("Slice",
           {joined, indices(graph, name + "/first", {0}),
            indices(graph, name + "/last", {shape[1]}), indices(graph, name + "/axis", {1})},
           plain, graph);
  graph.nodes.insert(graph.nodes.begin(),
                     {std::move(transpose), std::move(reshape), std::move(slice)});
  graph.inputs[input] = fed;
  return {};
}

Status return_in_blocks(size_t output, Graph& graph) {
  const ValueId plain = graph.outputs[output];
  ANYNPU_TRY(check(graph.values[static_cast<size_t>(plain)], "is_output_adjust_hw_layout"));
  const std::string name = graph.values[static_cast<size_t>(plain)].name;
  const Shape shape = graph.values[static_cast<size_t>(plain)].shape;
  const int64_t n = shape[0], c1 = blocks_of(shape[1]), h = shape[2], w = shape[3];
  graph.values[static_cast<size_t>(plain)].name = name + "/nchw";
  const ValueId filled = add_value(graph, name + "/filled", {n, c1 * kC0, h, w});
  const ValueId cut = add_value(graph, name + "/cut", {n, c1, kC0, h, w});
  const ValueId out = add_value(graph, name, {n, c1, h, w, kC0});
  graph.values[static_cast<size_t>(out)].format = Format::nc1hwc0;
  const ValueId pads = indices(graph, name + "/pads", {0, 0, 0, 0, 0, c1 * kC0 - shape[1], 0, 0});
  graph.nodes.push_back(make("Pad", {plain, pads}, filled, graph));
  const ValueId parts = indices(graph, name + "/cut_shape", {n, c1, kC0, h, w});
  graph.nodes.push_back(make("Reshape", {filled, parts}, cut, graph));
  Node transpose = make("Transpose", {cut}, out, graph);
  transpose.attrs["perm"] = std::vector<int64_t>{0, 1, 3, 4, 2};
  graph.nodes.push_back(std::move(transpose));
  graph.outputs[output] = out;
  return {};
}

}  // namespace anynpu::compile
