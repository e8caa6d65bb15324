// SPDX-License-Identifier: Apache-2.0
// Passes that change element types: of inputs and outputs, as the command line says, and of the
// operators between them (precision). All insert Cast nodes; redundant pairs of casts are removed
// at the end.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "compile/precision.h"
#include "graph/graph.h"

namespace anynpu::compile {

// A copy of `graph` with these input shapes and with types and shapes inferred. Value ids stay the
// same; nodes with constant results are folded. The types are written into `graph` as
// well.
Result<graph::Graph> learn_types(graph::Graph& graph, std::span<const Shape> shapes);

// The inputs of these names (--input_fp16_nodes) become float16. Fails for names that are not
// inputs and inputs that are not float32.
Status feed_in_fp16(const std::vector<std::string>& names, graph::Graph& graph);

// Output i gets types[i]; undefined leaves it.
Status cast_outputs(const std::vector<DType>& types, graph::Graph& graph);

// Fails when a name in the lists is not a node of the source model, which would go unnoticed.
Status check_names(const Precision& precision, const graph::Graph& graph);

// Chooses a type for each operator according to `precision`. `sample` is the result of learn_types
// for this graph: an operator keeps its type if no kernel can run it in the new one.
Status assign_precision(const Precision& precision, const graph::Graph& sample,
                        graph::Graph& graph);

// Input i, a float16 N, C, H, W tensor, is fed as NC1HWC0 with blocks of 16 channels. The same for
// outputs. Shapes must be fixed.
Status feed_in_blocks(size_t input, graph::Graph& graph);
Status return_in_blocks(size_t output, graph::Graph& graph);

// Removes casts to the same type, and casts to a wider type and back.
Status remove_cast_pairs(graph::Graph& graph);

}  // namespace anynpu::compile
