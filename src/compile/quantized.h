// SPDX-License-Identifier: Apache-2.0
// Parts of join_quantized() (plan_fusion.h).
#pragma once

#include <optional>

#include "graph/graph.h"

namespace anynpu::compile {

// One scale and zero point of a tensor of unsigned bytes.
struct ByteScale {
  float scale = 1;
  int32_t zero = 0;
  bool operator==(const ByteScale&) const = default;
};
// Of a QuantizeLinear or DequantizeLinear; none where they are not constants of one element.
std::optional<ByteScale> byte_scale(const graph::Graph& graph, const graph::Node& node);

// Signed bytes between QuantizeLinear and DequantizeLinear become unsigned ones, 128 higher: the
// kernels multiply unsigned bytes by signed weights.
void make_bytes_unsigned(graph::Graph& graph);

// Element-wise operators between bytes that depend on one tensor alone become ByteTable: its 256
// results are computed when the model is loaded.
Status join_tables(graph::Graph& graph);

}  // namespace anynpu::compile
