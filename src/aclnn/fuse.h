// SPDX-License-Identifier: Apache-2.0
// Joins element-wise nodes of a part that have results of one shape, so that they run tile by tile
// in the cache (ops/elementwise/fused.cpp) and not each over the whole memory.
#pragma once

#include "aclnn/recipe.h"

namespace anynpu::aclnn {

// The graph of `part` with FusedElementwise nodes; the same graph where there is nothing to join.
// Nodes that read an input whose memory an output overwrites stay before the one that writes it.
graph::Graph fused(const Part& part);

}  // namespace anynpu::aclnn
