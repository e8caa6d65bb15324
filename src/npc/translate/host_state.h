// SPDX-License-Identifier: Apache-2.0
// The state of a core for translated code: the view of its 4 GiB and, below the view, this struct.
// Code gets one pointer, the base of the view; a load adds the zero-extended register and then the
// immediate in 64 bits, so every address stays between the guards.
//
//   base - 128 KiB   the state        base          4 GiB as the core sees them
//   base -  64 KiB   guard            base + 4 GiB  guard of 64 KiB
//
// Instructions and cycles are counted in one word: instructions left in the slice above, cycles
// used so far below. It is negative when the slice is used up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "npc/float_services.h"

namespace anynpu::npc {

struct Core;
struct PrintSink;

struct HostState {
  void* const* functions;  // entry for calls through pointers, by half-word of the code; or null
  uint32_t image_base;
  uint32_t x[32];  // at the start of a kernel; a0-a7 at a service and at indirect calls
  uint32_t f[32];
  Core* core;
  PrintSink* sink;
};

inline constexpr size_t kViewGuard = 64 << 10;
inline constexpr size_t kStateDistance = 2 * kViewGuard;  // from the base down
inline constexpr int kInstructionShift = 35;
inline constexpr uint64_t kMostSlice = uint64_t{1} << 27;  // instructions in one grant

// What an instruction run adds to the count.
constexpr int64_t count_of(uint64_t instructions, uint64_t cycles) {
  return static_cast<int64_t>(cycles) - (static_cast<int64_t>(instructions) << kInstructionShift);
}

// Traps that translated code asks for; the text is made on the host.
enum class HostTrap : uint32_t { breakpoint, illegal, past_end, bad_jump, misaligned, lost };

// Functions of the host that translated code calls (host_calls.cpp). `at` is a code offset.
struct HostHelpers {
  int64_t (*check)(std::byte* base, int64_t count, uint32_t at);
  int64_t (*grant)(std::byte* base, int64_t count, uint64_t instructions, uint32_t at);
  int64_t (*service)(std::byte* base, int64_t count, uint32_t at);
  uint32_t (*csr)(std::byte* base, int64_t count, uint32_t at, uint32_t value);
  uint32_t (*atomic)(std::byte* base, int64_t count, uint32_t at, uint32_t address, uint32_t value);
  uint32_t (*exact_float)(std::byte* base, int64_t count, uint32_t at, uint32_t a, uint32_t b,
                          uint32_t c);
  void (*trap)(std::byte* base, int64_t count, HostTrap kind, uint32_t value, uint32_t at);
  std::span<const FloatFunctionEntry> float_functions;
};

}  // namespace anynpu::npc
