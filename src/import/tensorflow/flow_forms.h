// SPDX-License-Identifier: Apache-2.0
// Rebuilds control flow of TensorFlow 1 (Switch, Merge, Enter, Exit, NextIteration, LoopCond) into
// that of TensorFlow 2: one While node per loop, one If node per pair of branches, one Case node
// for the branches of a _SwitchN, with the nodes inside as functions. TensorFlow 2 also writes the
// old form when it freezes a model.
#pragma once

#include "import/tensorflow/graph_def.h"

namespace anynpu::tensorflow {

// The functions of a While node (cond, body), of an If node (then_branch, else_branch) or of a Case
// node (branches, by number).
struct FlowForm {
  FunctionDef cond, body;
  FunctionDef then_branch, else_branch;
  std::vector<FunctionDef> branches;
};

// Replaces Exit and Merge nodes; the nodes they replace stay in the list, unused. Fails for control
// flow that cannot be written as While, If or Case.
Status rebuild_flow(std::vector<NodeDef>& nodes);

}  // namespace anynpu::tensorflow
