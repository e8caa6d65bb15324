// SPDX-License-Identifier: Apache-2.0
// What the description of an offline model says about a tensor of its graph.
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

// Name, type, format, shape and size; 0 bytes where only a run tells the shape. Fails for sizes no
// machine has, for strings and sequences.
Result<om::TensorInfo> describe(const std::string& name, const graph::Value& value);

// The inputs and outputs of a graph as inferred.
Status describe_all(const graph::Graph& graph, const std::vector<std::string>& names,
                    om::Meta& meta);

// Input shapes to try a model with open extents with: a gear, or numbers within the ranges. Open
// shapes where none of those tried fits.
Result<std::vector<Shape>> trial_shapes(const graph::Graph& graph, const Options& options);

// A model with open extents, as the shapes of its inputs left them: gears or ranges.
Result<om::Model> compile_dynamic(graph::Graph graph, const Options& options,
                                  const std::vector<std::string>& names, om::Meta meta);

}  // namespace anynpu::compile
