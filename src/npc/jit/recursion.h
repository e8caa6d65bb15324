// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llvm/IR/Module.h>

namespace anynpu::npc {

// Inlines a small recursive function into itself once, a very small one twice: half or a
// third of the calls, and of the registers saved for them. The copies are marked for the
// inliner.
void unfold_recursion(llvm::Module& module);

}  // namespace anynpu::npc
