// SPDX-License-Identifier: Apache-2.0
// What a profile says about an operator beside its name and times: one line of eight fields between
// tabs, made when a model is loaded and interned, so that recording costs nothing more.
//   operator, kernel, input shapes, types, formats, output shapes, types, formats
// Lists are separated by ';', dimensions by ','.
#pragma once

#include <string>

#include "graph/graph.h"
#include "ops/schema.h"

namespace anynpu::exec {

std::string describe_step(const graph::Graph& graph, const graph::Node& node,
                          const ops::OpContext& context, const std::string& kernel);
// Steps of our own, from one tensor to one of the same shape.
std::string describe_move(const char* operation, DType dtype, const Shape& shape, Format format);

}  // namespace anynpu::exec
