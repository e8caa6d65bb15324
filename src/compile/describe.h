// SPDX-License-Identifier: Apache-2.0
// The description of the tensors of an offline model.
#pragma once

#include <string>
#include <vector>

#include "compile/compile.h"
#include "graph/graph.h"
#include "om/model.h"

namespace anynpu::compile {

// Images are NCHW (or as --input_format says) by their rank; everything else is ND.
Format format_for(const Shape& shape, Format wanted);

// Outputs are named "node:index:tensor", as atc names them; the node is the one of the source
// model.
std::vector<std::string> output_names(const graph::Graph& graph);

// Name, type, format, shape and size; 0 bytes if the shape is known only at run time. Fails for
// impossible sizes, strings and sequences.
Result<om::TensorInfo> describe(const std::string& name, const graph::Value& value);

// The inputs and outputs of a graph as inferred.
Status describe_all(const graph::Graph& graph, const std::vector<std::string>& names,
                    om::Meta& meta);

// Sample input shapes for a model with unknown dimensions: a gear, or values within the ranges. The
// shapes stay unknown if none of the samples fits.
Result<std::vector<Shape>> trial_shapes(const graph::Graph& graph, const Options& options);

// Compiles a model with unknown dimensions: gears or ranges.
Result<om::Model> compile_dynamic(graph::Graph graph, const Options& options,
                                  const std::vector<std::string>& names, om::Meta meta);

}  // namespace anynpu::compile
