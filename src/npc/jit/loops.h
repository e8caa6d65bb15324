// SPDX-License-Identifier: Apache-2.0
// Counts instructions without slowing loops down. The lifter inserts two markers:
// npc_count(count, constant) and, on every back edge, npc_check(base, count, at).
#pragma once

#include <llvm/IR/PassManager.h>

namespace anynpu::npc {

// Gives each counted innermost loop a second version without checks, entered when all its
// instructions fit into the slice and no address wraps; the trip count is exact and addresses run
// in 64 bits, so that LLVM can vectorise it. The first version stays for all other cases.
void quicken_loops(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);

// Marks become an addition, and a branch to the host when the count is negative.
void lower_marks(llvm::Module& module);

}  // namespace anynpu::npc
