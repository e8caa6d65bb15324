// SPDX-License-Identifier: Apache-2.0
// The address space of one cluster, as its eight cores see it. Addresses are 32 bits wide.
//
//   0x00000000  64 KiB      nothing: null pointers trap
//   0x00010000  to 3 GiB    global memory: loads, stores, copies (modules, stacks, allocations)
//   0xC0000000  8 MiB       shared memory, one per cluster
//   0xC0800000  888 MiB     high memory: copies only, a load or store traps
//   0xF8000000  1.25 MiB    local memory, each core sees its own
#pragma once

#include <cstdint>

namespace anynpu::npc {

inline constexpr int kClusters = 4;        // one card
inline constexpr int kCores = 8;           // per cluster
inline constexpr int kMostBlocks = 65535;  // of a launch whose blocks take turns on the cores

inline constexpr uint32_t kPageBytes = 4096;

inline constexpr uint32_t kGlobalBase = 0x0001'0000;
inline constexpr uint32_t kGlobalEnd = 0xC000'0000;
inline constexpr uint32_t kSharedBase = 0xC000'0000;
inline constexpr uint32_t kSharedBytes = 8u << 20;
inline constexpr uint32_t kHighBase = kSharedBase + kSharedBytes;
inline constexpr uint32_t kHighEnd = 0xF800'0000;  // 3 GiB + 896 MiB
inline constexpr uint32_t kLocalBase = 0xF800'0000;
inline constexpr uint32_t kLocalBytes = 0x14'0000;
inline constexpr uint32_t kStackBytes = 64u << 10;  // per core, in global memory
inline constexpr uint32_t kStackGuard = 1u
                                        << 20;  // below each stack: frames larger than it are rare

enum class Space : uint8_t { none, global, shared, high, local };

// The space that an address belongs to; `none` for the holes.
constexpr Space space_of(uint32_t address) {
  if (address < kGlobalBase) return Space::none;
  if (address < kGlobalEnd) return Space::global;
  if (address < kHighBase) return Space::shared;
  if (address < kHighEnd) return Space::high;
  return address - kLocalBase < kLocalBytes ? Space::local : Space::none;
}

}  // namespace anynpu::npc
