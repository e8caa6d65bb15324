// SPDX-License-Identifier: Apache-2.0
#include "npc/core.h"

#include <cstring>

#include "base/format.h"
#include "npc/decode.h"
#include "npc/image.h"
#include "npc/kernel_watch.h"

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
             format("{} of {} bytes at {:#x}, below the stack of {} KiB that ends at {:#x}",
                    store ? "store" : "load", bytes, address, kStackBytes >> 10, stack_low));
    return;
  }
  std::string why = describe(address, store);
  const std::string near =
      space_of(address) == Space::global ? allocation_text(*this, address, bytes) : std::string();
  if (!near.empty()) why += "; " + near;
  set_trap(TrapKind::bad_address,
           format("{} of {} bytes at {:#x}: {}", store ? "store" : "load", bytes, address, why));
}

void Core::note_access(uint32_t address, uint32_t bytes, Permission permission) const {
  watch->access(*this, pc - 2, address, bytes, (permission & kWrite) != 0);
}

void Core::trap_breakpoint() {
  set_trap(TrapKind::breakpoint, "ebreak: the compiler put a trap here");
}

void Core::trap_illegal() {
  uint32_t bits = 0;
  const uint32_t left = image->code_bytes - (pc - image->code_base);
  std::memcpy(&bits, memory->host(pc), left < 4 ? left : 4);
  if ((bits & 3) != 3) bits &= 0xffff;
  set_trap(TrapKind::illegal_instruction, format("bits {:#x} are no instruction", bits));
}

void Core::trap_past_end() {
  set_trap(TrapKind::bad_jump, "execution ran past the end of the code");
}

void Core::trap_jump(uint32_t target) {
  set_trap(TrapKind::bad_jump, format("jump to {:#x}, outside the code", target));
}

void Core::trap_misaligned(uint32_t address) {
  set_trap(TrapKind::misaligned_atomic,
           format("atomic access at {:#x}, expected a multiple of 4", address));
}

void Core::trap_csr(uint32_t number) {
  set_trap(TrapKind::illegal_instruction, format("no control register {:#x}", number));
}

void Core::trap_rounding(Op op) {
  set_trap(TrapKind::illegal_instruction,
           format("{} with rounding mode {}, expected 0-4", npc::name_of(op), rounding));
}

void Core::trap_budget() {
  set_trap(TrapKind::budget, "the kernel executed more instructions than its budget allows");
}

}  // namespace anynpu::npc
