// SPDX-License-Identifier: Apache-2.0
// Nodes that multiply and shift each channel by constants: BatchNormalization in inference mode,
// and Mul, Div, Add and Sub with one number for each channel. Passes fold them into the linear
// operator in front.
#pragma once

#include <optional>
#include <vector>

#include "graph/graph.h"

namespace anynpu::compile {

// What a node does to each channel: x * factor + shift.
struct Affine {
  std::vector<double> factor, shift;
};

// Where the channels of a tensor are.
struct ChannelAxis {
  size_t channels = 0, rank = 0, axis = 1;
};

// What `node` does to `x`, if it is such a node.
std::optional<Affine> read_affine(const graph::Graph& graph, const graph::Node& node,
                                  graph::ValueId x, const ChannelAxis& at);

// False if no finite float is near: scaled after the sum, the result might have been finite.
bool to_finite_float(double exact, float& rounded);

}  // namespace anynpu::compile
