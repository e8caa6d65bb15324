// SPDX-License-Identifier: Apache-2.0
#include "npc/translate/operands.h"

namespace anynpu::npc {

namespace {

uint64_t x(uint8_t reg) { return reg == 0 || reg > 31 ? 0 : bit(reg); }
uint64_t f(uint8_t reg) { return bit(32u + reg); }
uint8_t to_x(uint8_t reg) { return reg == 0 || reg > 31 ? kNoRegister : reg; }
uint8_t to_f(uint8_t reg) { return static_cast<uint8_t>(32 + reg); }

constexpr Op single_form(Op op) {
  return op < Op::fmadd_h ? op
                          : static_cast<Op>(static_cast<int>(op) - static_cast<int>(Op::fmadd_h) +
                                            static_cast<int>(Op::fmadd_s));
}

Operands float_operands(const Decoded& d) {
  if (d.op == Op::fcvt_s_h || d.op == Op::fcvt_h_s) return {f(d.rs1), to_f(d.rd)};
  switch (single_form(d.op)) {
    case Op::fmadd_s:
    case Op::fmsub_s:
    case Op::fnmsub_s:
    case Op::fnmadd_s:
      return {f(d.rs1) | f(d.rs2) | f(d.rs3), to_f(d.rd)};
    case Op::fsqrt_s:
      return {f(d.rs1), to_f(d.rd)};
    case Op::fcvt_w_s:
    case Op::fcvt_wu_s:
    case Op::fmv_x_w:
    case Op::fclass_s:
      return {f(d.rs1), to_x(d.rd)};
    case Op::feq_s:
    case Op::flt_s:
    case Op::fle_s:
      return {f(d.rs1) | f(d.rs2), to_x(d.rd)};
    case Op::fcvt_s_w:
    case Op::fcvt_s_wu:
    case Op::fmv_w_x:
      return {x(d.rs1), to_f(d.rd)};
    default:
      return {f(d.rs1) | f(d.rs2), to_f(d.rd)};
  }
}

}  // namespace

Operands operands_of(const Decoded& d) {
  if (d.op >= Op::beq && d.op <= Op::bgeu) return {x(d.rs1) | x(d.rs2), kNoRegister};
  if (d.op >= Op::sb && d.op <= Op::sw) return {x(d.rs1) | x(d.rs2), kNoRegister};
  if (d.op >= Op::lb && d.op <= Op::lhu) return {x(d.rs1), to_x(d.rd)};
  if (d.op >= Op::addi && d.op <= Op::srai) return {x(d.rs1), to_x(d.rd)};
  switch (d.op) {
    case Op::lui:
    case Op::auipc:
    case Op::jal:
      return {0, to_x(d.rd)};
    case Op::jalr:
    case Op::lr_w:
    case Op::csrrw:
    case Op::csrrs:
    case Op::csrrc:
      return {x(d.rs1), to_x(d.rd)};
    case Op::csrrwi:
    case Op::csrrsi:
    case Op::csrrci:
      return {0, to_x(d.rd)};
    case Op::fence:
    case Op::ecall:
    case Op::ebreak:
    case Op::illegal:
    case Op::past_end:
      return {};
    case Op::flw:
    case Op::flh:
      return {x(d.rs1), to_f(d.rd)};
    case Op::fsw:
    case Op::fsh:
      return {x(d.rs1) | f(d.rs2), kNoRegister};
    default:
      if (d.op >= Op::fmadd_s) return float_operands(d);
      return {x(d.rs1) | x(d.rs2), to_x(d.rd)};
  }
}

}  // namespace anynpu::npc
