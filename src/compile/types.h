// SPDX-License-Identifier: Apache-2.0
// Passes that change element types: inputs and outputs as the command line wants them, and the
// precision of the operators between. All insert Cast nodes; cast pairs that cancel out go at the
// end.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "compile/precision.h"
#include "graph/graph.h"

namespace anynpu::compile {

// A copy of `graph` with these shapes of its inputs, and every type and shape known that can be.
// Ids of values are the same; nodes with constant results are gone from it. The types are written
// into `graph` as well.
Result<graph::Graph> learn_types(graph::Graph& graph, std::span<const Shape> shapes);

// The inputs of these names (--input_fp16_nodes) become float16. Fails for names that are no input
// and inputs that are no float32.
Status feed_in_fp16(const std::vector<std::string>& names, graph::Graph& graph);

// Output i gets types[i]; undefined leaves it.
Status cast_outputs(const std::vector<DType>& types, graph::Graph& graph);

// Fails when a name in the lists is no node of the source model: it would go unnoticed otherwise.
Status check_names(const Precision& precision, const graph::Graph& graph);

// Chooses a type for each operator as `precision` says. `sample` comes from learn_types of this
// graph: an operator stays as it is when no kernel would run it in the new type.
Status assign_precision(const Precision& precision, const graph::Graph& sample,
                        graph::Graph& graph);

// Input i, which is N, C, H, W of float16, is fed as NC1HWC0 with 16 channels in a block. The same
// for what comes out. Shapes must be fixed.
Status feed_in_blocks(size_t input, graph::Graph& graph);
Status return_in_blocks(size_t output, graph::Graph& graph);

// Removes casts to the same type, and casts to a wider type and back.
Status remove_cast_pairs(graph::Graph& graph);

}  // namespace anynpu::compile
