// SPDX-License-Identifier: Apache-2.0
// Element-wise nodes of a part of an aclnn plan, joined: into programs of steps where one result comes
// of them (compile/join_elementwise.cpp), and tile by tile where there are several results or types
// (aclnn/fuse.h). Decision 22.
#pragma once

#include <vector>

#include "aclnn/recipe.h"

namespace anynpu::service {

// Graphs that compute the part, the best one first; the last is the part's own.
std::vector<graph::Graph> joined_graphs(const aclnn::Part& part);

}  // namespace anynpu::service
