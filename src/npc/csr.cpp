// SPDX-License-Identifier: Apache-2.0
#include "npc/csr.h"

#include "npc/core.h"
#include "npc/decode.h"

namespace anynpu::npc {

namespace {

enum Csr : uint32_t {
  kFflags = 0x001,
  kFrm = 0x002,
  kFcsr = 0x003,
  kCycle = 0xc00,
  kTime = 0xc01,
  kInstret = 0xc02,
  kCycleHigh = 0xc80,
  kTimeHigh = 0xc81,
  kInstretHigh = 0xc82,
  kHartId = 0xf14,
  kCoreNum = 0xfc0,
};

bool read(const Core& core, uint32_t number, uint64_t cycles, uint64_t instructions,
          uint32_t& value) {
  switch (number) {
    case kFflags:
      value = core.float_flags;
      return true;
    case kFrm:
      value = core.rounding;
      return true;
    case kFcsr:
      value = core.float_flags | (core.rounding << 5);
      return true;
    case kCycle:
    case kTime:
      value = static_cast<uint32_t>(cycles);
      return true;
    case kCycleHigh:
    case kTimeHigh:
      value = static_cast<uint32_t>(cycles >> 32);
      return true;
    case kInstret:
      value = static_cast<uint32_t>(instructions);
      return true;
    case kInstretHigh:
      value = static_cast<uint32_t>(instructions >> 32);
      return true;
    case kHartId:
      value = static_cast<uint32_t>(core.block);
      return true;
    case kCoreNum:
      value = static_cast<uint32_t>(core.blocks);
      return true;
    default:
      return false;
  }
}

bool write(Core& core, uint32_t number, uint32_t value) {
  switch (number) {
    case kFflags:
      core.float_flags = value & 31;
      return true;
    case kFrm:
      core.rounding = value & 7;
      return true;
    case kFcsr:
      core.float_flags = value & 31;
      core.rounding = (value >> 5) & 7;
      return true;
    default:
      return false;
  }
}

}  // namespace

bool run_csr(Core& core, const Decoded& d, uint64_t turn_instructions, uint64_t turn_cycles) {
  const auto number = static_cast<uint32_t>(d.imm);
  uint32_t old = 0;
  if (!read(core, number, core.clock + turn_cycles, core.counters.instructions + turn_instructions,
            old)) {
    return false;
  }
  const bool immediate = d.op == Op::csrrwi || d.op == Op::csrrsi || d.op == Op::csrrci;
  const uint32_t operand = immediate ? d.rs1 : core.x[d.rs1];
  switch (d.op) {
    case Op::csrrw:
    case Op::csrrwi:
      if (!write(core, number, operand)) return false;
      break;
    case Op::csrrs:
    case Op::csrrsi:
      if (d.rs1 != 0 && !write(core, number, old | operand)) return false;
      break;
    default:
      if (d.rs1 != 0 && !write(core, number, old & ~operand)) return false;
  }
  core.x[d.rd] = old;
  return true;
}

}  // namespace anynpu::npc
