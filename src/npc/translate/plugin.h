// SPDX-License-Identifier: Apache-2.0
// Opens libanynpu_npc.so, which holds LLVM, on first use.
#pragma once

#include <string>

namespace anynpu::npc {

class Jit;

// Null when kernels are interpreted in this process; then `why` says the reason. Thread-safe; the
// answer stays the same.
Jit* translator(std::string& why);

}  // namespace anynpu::npc
