// SPDX-License-Identifier: Apache-2.0
// Joins element-wise nodes of a part that have results of one shape, so that they run tile by tile
// in the cache (ops/elementwise/tiled.cpp) and not each over the whole memory.
#pragma once

#include "aclnn/recipe.h"

namespace anynpu::aclnn {

// Smaller tensors stay in the cache anyway.
constexpr int64_t kLeastTiledElements = 4096;

// The graph of `part` with TiledElementwise nodes; the same graph where there is nothing to join.
// Nodes that read an input whose memory an output overwrites stay before the one that writes it.
// Results with fewer than `least` elements are left alone.
graph::Graph fused(const Part& part, int64_t least = kLeastTiledElements);
// Whether each input that is overwritten is read only by the node that writes its new value, before
// it writes: then the two may share their memory.
bool reads_before_writing(const Part& part);

}  // namespace anynpu::aclnn
