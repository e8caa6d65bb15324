// SPDX-License-Identifier: Apache-2.0
// Cast nodes and converted constants, for the passes of types.h.
#pragma once

#include <string>

#include "graph/graph.h"

namespace anynpu::compile {

// A Cast node from `from` to `to`; both are values of the graph, and the type of `to` is set.
graph::Node cast_node(const graph::Graph& graph, graph::ValueId from, graph::ValueId to);

// A copy of the value `id` under a name of its own, of `dtype`, without producer and constant.
graph::ValueId add_typed(graph::Graph& graph, graph::ValueId id, DType dtype);

// The float32 constant `id` in float16 or bfloat16; with `clip` finite elements stay finite.
graph::ValueId convert_constant(graph::Graph& graph, graph::ValueId id, DType to, bool clip);

// The float32 constant `id` rounded to float16, in float32.
graph::ValueId round_constant(graph::Graph& graph, graph::ValueId id, bool clip);

}  // namespace anynpu::compile
