// SPDX-License-Identifier: Apache-2.0
#include "npc/core.h"

#include "base/format.h"

namespace anynpu::npc {

const char* name_of(TrapKind kind) {
  switch (kind) {
    case TrapKind::none:
      return "no trap";
    case TrapKind::bad_address:
      return "bad address";
    case TrapKind::illegal_instruction:
      return "illegal instruction";
    case TrapKind::bad_jump:
      return "jump outside the code";
    case TrapKind::breakpoint:
      return "breakpoint";
    case TrapKind::misaligned_atomic:
      return "misaligned atomic access";
    case TrapKind::stack_overflow:
      return "stack overflow";
    case TrapKind::abort:
      return "abort";
    case TrapKind::assertion:
      return "assertion failed";
    case TrapKind::exit_code:
      return "exit";
    case TrapKind::budget:
      return "instruction budget used up";
    case TrapKind::service:
      return "bad service call";
  }
  return "?";
}

namespace {

const char* describe(uint32_t address, bool store) {
  switch (space_of(address)) {
    case Space::high:
      return "high memory is reached by copies only";
    case Space::none:
      return address < kGlobalBase ? "a null pointer" : "no memory is there";
    case Space::local:
      return "past the end of local memory";
    case Space::shared:
      return "past the end of shared memory";
    case Space::global:
      break;
  }
  return store ? "not allocated, freed, or read-only" : "not allocated, or freed";
}

}  // namespace

void Core::trap_access(uint32_t address, uint32_t bytes, bool store) {
  if (address < stack_low && stack_low - address <= kStackGuard) {
    set_trap(TrapKind::stack_overflow,
             format("{} of {} bytes at {x}, below the stack of {} KiB that ends at {x}",
                    store ? "store" : "load", bytes, address, kStackBytes >> 10, stack_low));
    return;
  }
  set_trap(TrapKind::bad_address, format("{} of {} bytes at {x}: {}", store ? "store" : "load",
                                         bytes, address, describe(address, store)));
}

}  // namespace anynpu::npc
