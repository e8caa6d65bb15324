// SPDX-License-Identifier: Apache-2.0
// The cycle model of everything but plain instructions (those: ops.def). docs/npc_cycles.md
// explains it; change both together.
#pragma once

#include <cstdint>

namespace anynpu::npc::cycles {

constexpr uint64_t up(uint64_t amount, uint64_t per_cycle) {
  return (amount + per_cycle - 1) / per_cycle;
}

// MTE: a move inside a cluster, 64 bytes a cycle; to and from global memory 32.
constexpr uint64_t move(uint64_t bytes) { return 16 + up(bytes, 64); }
constexpr uint64_t global_move(uint64_t bytes) { return 64 + up(bytes, 32); }
// System DMA: 32 bytes a cycle and channel.
constexpr uint64_t dma(uint64_t bytes) { return 128 + up(bytes, 32); }
// VME: 128 bytes of result a cycle; exp takes four passes.
constexpr uint64_t vector(uint64_t bytes, bool exp) { return 8 + up(bytes, 128) * (exp ? 4 : 1); }
// MME: 4096 multiply-adds a cycle.
constexpr uint64_t matrix(uint64_t multiply_adds) { return 32 + up(multiply_adds, 4096); }
// SYNC once all cores are there.
inline constexpr uint64_t kSync = 32;
// A float function or an operation on doubles.
inline constexpr uint64_t kFloatFunction = 40;
inline constexpr uint64_t kDouble = 30;

}  // namespace anynpu::npc::cycles
