// SPDX-License-Identifier: Apache-2.0
// Results of arithmetic have one NaN, but only where somebody looks at the bits. The lifter makes
// each result canonical; an operation that takes it gives a NaN for any NaN, so it may as well take
// the result as the host made it. What is left are the values that are stored, moved or passed on,
// away from the chain of operations that a loop waits for.
#pragma once

#include <llvm/IR/Function.h>

namespace anynpu::npc {

void defer_canonical_nans(llvm::Function& function);

}  // namespace anynpu::npc
