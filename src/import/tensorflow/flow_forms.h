// SPDX-License-Identifier: Apache-2.0
// Control flow of TensorFlow 1 (Switch, Merge, Enter, Exit, NextIteration, LoopCond) rebuilt into
// the forms of TensorFlow 2: one While node for a loop, one If node for a pair of branches, with
// the nodes inside as functions. TensorFlow 2 writes the old form too when it freezes a model.
#pragma once

#include "import/tensorflow/graph_def.h"

namespace anynpu::tensorflow {

// The functions of a While node (cond, body) or of an If node (then_branch, else_branch).
struct FlowForm {
  FunctionDef cond, body;
  FunctionDef then_branch, else_branch;
};

// Replaces Exit and Merge nodes; what they were made of stays in the list, and nothing reads it.
// Fails with a sentence for control flow that has no such form.
Status rebuild_flow(std::vector<NodeDef>& nodes);

}  // namespace anynpu::tensorflow
