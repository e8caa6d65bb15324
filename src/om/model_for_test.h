// SPDX-License-Identifier: Apache-2.0
// A small model that has an attribute of every kind and weights; for tests of files.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "graph/tensor_value.h"
#include "om/model.h"

namespace anynpu::om {

inline Model sample() {
  Model model;
  graph::Graph& g = model.graph;
  g.name = "sample";
  g.inputs = {g.add_value(graph::tensor_value("x", DType::f32, {1, 3}))};
  g.add_value(graph::tensor_value("w", DType::f32, {3}));
  g.add_value(graph::tensor_value("y", DType::f32, {1, 3}));
  g.values[0].format = Format::nchw;
  g.values[1].constant = graph::constant_of<float>({1, 2, 3});
  g.outputs = {2};
  graph::Node node;
  node.op = "Add";
  node.opset = 13;
  node.name = "add";
  node.inputs = {0, 1, graph::kNoValue};
  node.outputs = {2};
  node.attrs["i"] = int64_t{-4};
  node.attrs["f"] = 0.25f;
  node.attrs["s"] = std::string("text");
  node.attrs["ints"] = std::vector<int64_t>{1, -1};
  node.attrs["floats"] = std::vector<float>{0.5f};
  node.attrs["strings"] = std::vector<std::string>{"a", ""};
  node.attrs["t"] = graph::TensorAttr{DType::f32, {2}, graph::constant_of<float>({5, 6})};
  auto inner = std::make_shared<graph::Graph>();
  inner->name = "inner";
  node.attrs["g"] = std::shared_ptr<const graph::Graph>(inner);
  g.nodes.push_back(node);
  model.meta.name = "sample";
  model.meta.soc_version = "Ascend310P3";
  model.meta.producer = "AnyNPU test";
  model.meta.command_line = "atc --model=x.onnx";
  model.meta.options = {{"framework", "5"}};
  model.meta.inputs = {{"x", DType::f32, Format::nchw, {1, 3}, 12}};
  model.meta.outputs = {{"y", DType::f32, Format::nd, {1, 3}, 12}};
  return model;
}

}  // namespace anynpu::om
