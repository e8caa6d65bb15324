// SPDX-License-Identifier: Apache-2.0
// Checks of kernels under `anynpu check`: accesses outside allocations, races between cores, and
// local memory that is read before it is written. Kernels are interpreted then, on one thread.
//
// Cores are ordered by sync(); within one phase between two of them, a core that took an atomic
// word which another core has changed is taken as ordered after it, so that locks made of atomics
// are never reported. One watch per launch; not thread-safe.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "npc/memory_map.h"

namespace anynpu::npc {

class Block;
class Memory;
struct Core;
struct Image;
struct LaunchSetup;

// The allocation that an address is in or just behind, in words: "8 bytes past the end of the
// allocation of 400 bytes at 0x20000 (parameter 1, 'out')". "" when there is none near.
std::string allocation_text(const Core& core, uint32_t address, uint32_t bytes);

class KernelWatch {
 public:
  // Null when no checker is there.
  static std::unique_ptr<KernelWatch> create(const LaunchSetup& setup, const Memory& memory);
  // True when a checker is in the process: allocations get a page without access behind them.
  static bool is_on();

  // A load or store by the instruction at `pc`.
  void access(const Core& core, uint32_t pc, uint32_t address, uint32_t bytes, bool store);
  // An atomic access to a word.
  void atomic(const Core& core, uint32_t address, bool store);
  // A core starts a block: its local memory holds what the image says, and nothing else.
  void start_block(const Core& core);
  // A copy into the local memory of another core.
  void fill_local(int core, uint32_t address, uint32_t bytes);
  // The core was stopped by a trap.
  void note_trap(const Core& core);
  // All cores have met.
  void sync();

 private:
  KernelWatch(const LaunchSetup& setup, const Memory& memory);

  // Who accessed the bytes of a word since the last sync().
  struct Word {
    uint32_t phase = 0;
    std::array<uint8_t, 4> readers{};  // a bit for each core
    std::array<uint8_t, 4> writers{};
  };
  using Page = std::array<Word, kPageBytes / 4>;

  Word& word(uint32_t address);
  void check_local(const Core& core, uint32_t pc, uint32_t address, uint32_t bytes, bool store);
  void check_race(const Core& core, uint32_t pc, uint32_t address, uint32_t bytes, bool store);
  void check_bounds(const Core& core, uint32_t pc, uint32_t address, uint32_t bytes, bool store);
  void report(const Core& core, uint32_t pc, const char* kind, const std::string& text);

  const Image& image_;
  const Memory& memory_;
  std::string kernel_;
  uint32_t phase_ = 1;
  std::unordered_map<uint32_t, std::unique_ptr<Page>> pages_;
  uint32_t last_number_ = ~0u;
  Page* last_ = nullptr;
  std::vector<std::bitset<kLocalBytes>> written_;  // by core: of local memory
  std::array<uint8_t, kCores> ordered_after_{};    // by core: the cores it took an atomic word from
  std::map<uint32_t, uint8_t> atomic_writers_;     // by address, in this phase
  std::shared_ptr<Block> block_;                   // of the last access
  std::set<std::pair<std::string, uint32_t>> told_;  // kind and pc
};

}  // namespace anynpu::npc
