// SPDX-License-Identifier: Apache-2.0
// Canonical NaNs only where their bits are visible. RISC-V arithmetic returns one NaN, so the
// lifter canonicalises each result. Float operations treat all NaNs alike, so this pass gives them
// the host's result. Only values that are stored, moved or passed on are canonicalised, outside the
// dependency chains of loops.
#pragma once

#include <llvm/IR/Function.h>

namespace anynpu::npc {

void defer_canonical_nans(llvm::Function& function);

}  // namespace anynpu::npc
