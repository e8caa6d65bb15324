// SPDX-License-Identifier: Apache-2.0
// A text as the file of --insert_op_conf and, behind a line of dashes, pictures: compiled in front
// of a small model and run.
#include <cstdint>
#include <string_view>

#include "compile/aipp_config.h"
#include "compile/compile.h"
#include "graph/tensor_value.h"
#include "run_model.h"

namespace {

using namespace anynpu;

graph::Graph small_model() {
  graph::Graph graph;
  graph.inputs = {graph.add_value(graph::tensor_value("x", DType::f32, {1, 3, 16, 16}))};
  graph.outputs = {graph.add_value(graph::tensor_value("y", DType::f32, {1, 3, 16, 16}))};
  graph::Node node;
  node.op = "Relu";
  node.name = "relu";
  node.opset = 13;
  node.inputs = graph.inputs;
  node.outputs = graph.outputs;
  graph.nodes.push_back(std::move(node));
  return graph;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr std::string_view kCut = "\n----\n";
  const std::string_view all(reinterpret_cast<const char*>(data), size);
  const size_t cut = all.find(kCut);
  compile::Options options;
  auto settings = compile::parse_aipp(all.substr(0, cut));
  if (!settings.ok()) return 0;
  options.aipp = std::move(*settings);
  auto model = compile::compile(small_model(), options);
  if (!model.ok()) return 0;
  const size_t pictures = cut == std::string_view::npos ? size : cut + kCut.size();
  fuzz::run_model(std::move(*model), std::span(data, size).subspan(pictures));
  return 0;
}
