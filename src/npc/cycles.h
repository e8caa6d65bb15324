// SPDX-License-Identifier: Apache-2.0
// The cycle model of everything but plain instructions (those: ops.def). docs/npc_cycles.md
// explains it; change both together.
#pragma once

#include <cstdint>

#include "base/align.h"

namespace anynpu::npc::cycles {

// MTE: a move inside a cluster, 64 bytes a cycle; to and from global memory 32.
constexpr uint64_t move(uint64_t bytes) { return 16 + ceil_div(bytes, 64); }
constexpr uint64_t global_move(uint64_t bytes) { return 64 + ceil_div(bytes, 32); }
// System DMA: 32 bytes a cycle and channel.
constexpr uint64_t dma(uint64_t bytes) { return 128 + ceil_div(bytes, 32); }
// VME: 128 bytes of result a cycle; exp takes four passes.
constexpr uint64_t vector(uint64_t bytes, bool exp) {
  return 8 + ceil_div(bytes, 128) * (exp ? 4 : 1);
}
// MME: 4096 multiply-adds a cycle.
constexpr uint64_t matrix(uint64_t multiply_adds) { return 32 + ceil_div(multiply_adds, 4096); }
// SYNC once all cores have arrived.
inline constexpr uint64_t kSync = 32;
// A float function or an operation on doubles.
inline constexpr uint64_t kFloatFunction = 40;
inline constexpr uint64_t kDouble = 30;

}  // namespace anynpu::npc::cycles
