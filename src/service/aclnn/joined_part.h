// SPDX-License-Identifier: Apache-2.0
// Joins the element-wise nodes of a part of an aclnn plan. Nodes with one result become a program
// of steps (compile/join_elementwise.cpp); nodes with several results or types run tile by tile
// (aclnn/fuse.h). docs/decisions has a page about it, 22.
#pragma once

#include <vector>

#include "aclnn/recipe.h"

namespace anynpu::service {

// Graphs that compute the part, the best one first; the last is the part's own.
std::vector<graph::Graph> joined_graphs(const aclnn::Part& part);

}  // namespace anynpu::service
