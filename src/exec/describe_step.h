// SPDX-License-Identifier: Apache-2.0
// The description of an operator in profiles, besides its name and times: eight tab-separated
// fields, made and interned when a model is loaded, so that recording costs nothing extra.
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
