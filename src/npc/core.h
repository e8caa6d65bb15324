// SPDX-License-Identifier: Apache-2.0
// The state of one core while it runs a kernel: registers, counters and the record of calls. It is
// complete between two turns on a host thread, so a core that waits in sync() needs no thread,
// and any thread may continue it. Owned by one thread at a time.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "npc/counters.h"
#include "npc/memory.h"

namespace anynpu::npc {

class KernelWatch;
struct HostCore;
struct Image;
struct LaunchSetup;
enum class Op : uint8_t;

// Why a core stopped for good, other than its kernel's return.
enum class TrapKind : uint8_t {
  none,
  bad_address,
  illegal_instruction,
  bad_jump,
  breakpoint,
  misaligned_atomic,
  stack_overflow,
  abort,
  assertion,
  exit_code,
  budget,
  service,
};

const char* name_of(TrapKind kind);

struct Trap {
  TrapKind kind = TrapKind::none;
  std::string text;  // a message with the values
};

// A kernel returns to this address; nothing else is there.
inline constexpr uint32_t kReturnAddress = 4;

struct Core {
  int id = 0;        // selects local memory, stack and counters
  int core_num = 1;  // cores of the launch
  int block = 0;     // CoreID as the kernel reads it
  int blocks = 1;    // CoreNum
  const Image* image = nullptr;
  Memory* memory = nullptr;
  std::byte* local = nullptr;

  std::array<uint32_t, 33> x{};  // 32: writes to x0 go here
  std::array<uint32_t, 32> f{};
  uint32_t pc = 0;
  uint32_t float_flags = 0;
  uint32_t rounding = 0;
  uint32_t reserved_address = 1;  // of lr.w; odd: none
  uint32_t reserved_value = 0;

  uint64_t budget = 0;  // instructions left until the budget trap
  uint64_t clock = 0;   // modelled time: cycles of everything this core did, waits included
  CoreCounters counters;
  std::array<uint64_t, kDmaEvents> dma{};
  uint32_t stack_low = 0;  // lowest address of the stack

  std::vector<uint32_t> calls;  // return addresses, outermost first
  Trap trap;
  HostCore* host = nullptr;      // runs translated code; null: interpreted
  KernelWatch* watch = nullptr;  // under `anynpu check`
  const LaunchSetup* setup = nullptr;

  // More blocks than cores: they never all run at the same time.
  bool takes_turns() const { return blocks > core_num; }

  // Host address of [address, address + bytes), or null when a page of it lacks the permission.
  std::byte* at(uint32_t address, uint32_t bytes, Permission permission) const {
    std::byte* found = unwatched_at(address, bytes, permission);
    if (watch && found) note_access(address, bytes, permission);
    return found;
  }
  // The same without telling the watch.
  std::byte* unwatched_at(uint32_t address, uint32_t bytes, Permission permission) const {
    if (!memory->allows(address, bytes, permission)) return nullptr;
    return address >= kLocalBase ? local + (address - kLocalBase) : memory->host(address);
  }
  // Tells the watch of an access of a service: pc is after its ecall.
  void note_access(uint32_t address, uint32_t bytes, Permission permission) const;
  void set_trap(TrapKind kind, std::string text) {
    if (trap.kind == TrapKind::none) trap = {kind, std::move(text)};
  }
  // Sets the trap of an access that `at` refused: bad address, or stack overflow.
  void trap_access(uint32_t address, uint32_t bytes, bool store);
  void trap_breakpoint();
  void trap_illegal();  // at pc
  void trap_past_end();
  void trap_jump(uint32_t target);
  void trap_misaligned(uint32_t address);
  void trap_csr(uint32_t number);
  void trap_rounding(Op op);
  void trap_budget();
};

}  // namespace anynpu::npc
