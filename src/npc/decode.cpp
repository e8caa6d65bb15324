// SPDX-License-Identifier: Apache-2.0
#include "npc/decode.h"

#include <cstring>

#include "npc/instructions.h"

namespace anynpu::npc {

namespace {

constexpr uint8_t kCycles[] = {
#define X(name, cycles) cycles,
#include "npc/ops.def"
#undef X
};

int32_t sign_extend(uint32_t value, int bits) {
  return static_cast<int32_t>(value << (32 - bits)) >> (32 - bits);
}

int32_t imm_i(uint32_t b) { return static_cast<int32_t>(b) >> 20; }
int32_t imm_s(uint32_t b) { return sign_extend(((b >> 25) << 5) | ((b >> 7) & 31), 12); }
int32_t imm_b(uint32_t b) {
  return sign_extend(
      ((b >> 31) << 12) | (((b >> 7) & 1) << 11) | (((b >> 25) & 63) << 5) | (((b >> 8) & 15) << 1),
      13);
}
int32_t imm_j(uint32_t b) {
  return sign_extend(((b >> 31) << 20) | (((b >> 12) & 255) << 12) | (((b >> 20) & 1) << 11) |
                         (((b >> 21) & 1023) << 1),
                     21);
}

Op load_op(uint32_t funct3) {
  constexpr Op ops[] = {Op::lb,  Op::lh,  Op::lw,      Op::illegal,
                        Op::lbu, Op::lhu, Op::illegal, Op::illegal};
  return ops[funct3];
}

Op branch_op(uint32_t funct3) {
  constexpr Op ops[] = {Op::beq, Op::bne, Op::illegal, Op::illegal,
                        Op::blt, Op::bge, Op::bltu,    Op::bgeu};
  return ops[funct3];
}

Op immediate_op(uint32_t b) {
  constexpr Op ops[] = {Op::addi, Op::slli, Op::slti, Op::sltiu,
                        Op::xori, Op::srli, Op::ori,  Op::andi};
  const uint32_t funct3 = (b >> 12) & 7;
  const uint32_t funct7 = b >> 25;
  if (funct3 == 1 && funct7 != 0) return Op::illegal;
  if (funct3 == 5 && funct7 == 32) return Op::srai;
  if (funct3 == 5 && funct7 != 0) return Op::illegal;
  return ops[funct3];
}

Op register_op(uint32_t b) {
  constexpr Op base[] = {Op::add, Op::sll, Op::slt, Op::sltu, Op::xor_, Op::srl, Op::or_, Op::and_};
  constexpr Op multiply[] = {Op::mul, Op::mulh, Op::mulhsu, Op::mulhu,
                             Op::div, Op::divu, Op::rem,    Op::remu};
  const uint32_t funct3 = (b >> 12) & 7;
  switch (b >> 25) {
    case 0:
      return base[funct3];
    case 1:
      return multiply[funct3];
    case 32:
      return funct3 == 0 ? Op::sub : funct3 == 5 ? Op::sra : Op::illegal;
    default:
      return Op::illegal;
  }
}

Op atomic_op(uint32_t b) {
  if (((b >> 12) & 7) != 2) return Op::illegal;
  switch (b >> 27) {
    case 2:
      return ((b >> 20) & 31) == 0 ? Op::lr_w : Op::illegal;
    case 3:
      return Op::sc_w;
    case 1:
      return Op::amoswap_w;
    case 0:
      return Op::amoadd_w;
    case 4:
      return Op::amoxor_w;
    case 12:
      return Op::amoand_w;
    case 8:
      return Op::amoor_w;
    case 16:
      return Op::amomin_w;
    case 20:
      return Op::amomax_w;
    case 24:
      return Op::amominu_w;
    case 28:
      return Op::amomaxu_w;
    default:
      return Op::illegal;
  }
}

Op system_op(uint32_t b) {
  constexpr Op csr[] = {Op::illegal, Op::csrrw,  Op::csrrs,  Op::csrrc,
                        Op::illegal, Op::csrrwi, Op::csrrsi, Op::csrrci};
  const uint32_t funct3 = (b >> 12) & 7;
  if (funct3 != 0) return csr[funct3];
  if (b == 0x00000073) return Op::ecall;
  if (b == 0x00100073) return Op::ebreak;
  return Op::illegal;
}

// Float operations; `h` picks the half form.
Op float_op(uint32_t b) {
  const uint32_t format = (b >> 25) & 3;
  if (format != 0 && format != 2) return Op::illegal;
  const bool h = format == 2;
  const uint32_t rm = (b >> 12) & 7;
  const uint32_t rs2 = (b >> 20) & 31;
  const auto pick = [h](Op s, Op half) { return h ? half : s; };
  switch (b >> 27) {
    case 0:
      return pick(Op::fadd_s, Op::fadd_h);
    case 1:
      return pick(Op::fsub_s, Op::fsub_h);
    case 2:
      return pick(Op::fmul_s, Op::fmul_h);
    case 3:
      return pick(Op::fdiv_s, Op::fdiv_h);
    case 11:
      return rs2 == 0 ? pick(Op::fsqrt_s, Op::fsqrt_h) : Op::illegal;
    case 4:
      if (rm == 0) return pick(Op::fsgnj_s, Op::fsgnj_h);
      if (rm == 1) return pick(Op::fsgnjn_s, Op::fsgnjn_h);
      return rm == 2 ? pick(Op::fsgnjx_s, Op::fsgnjx_h) : Op::illegal;
    case 5:
      if (rm == 0) return pick(Op::fmin_s, Op::fmin_h);
      return rm == 1 ? pick(Op::fmax_s, Op::fmax_h) : Op::illegal;
    case 8:
      if (!h && rs2 == 2) return Op::fcvt_s_h;
      return h && rs2 == 0 ? Op::fcvt_h_s : Op::illegal;
    case 20:
      if (rm == 2) return pick(Op::feq_s, Op::feq_h);
      if (rm == 1) return pick(Op::flt_s, Op::flt_h);
      return rm == 0 ? pick(Op::fle_s, Op::fle_h) : Op::illegal;
    case 24:
      if (rs2 == 0) return pick(Op::fcvt_w_s, Op::fcvt_w_h);
      return rs2 == 1 ? pick(Op::fcvt_wu_s, Op::fcvt_wu_h) : Op::illegal;
    case 26:
      if (rs2 == 0) return pick(Op::fcvt_s_w, Op::fcvt_h_w);
      return rs2 == 1 ? pick(Op::fcvt_s_wu, Op::fcvt_h_wu) : Op::illegal;
    case 28:
      if (rs2 != 0) return Op::illegal;
      if (rm == 0) return pick(Op::fmv_x_w, Op::fmv_x_h);
      return rm == 1 ? pick(Op::fclass_s, Op::fclass_h) : Op::illegal;
    case 30:
      return rs2 == 0 && rm == 0 ? pick(Op::fmv_w_x, Op::fmv_h_x) : Op::illegal;
    default:
      return Op::illegal;
  }
}

bool has_rounding(Op op) {
  switch (op) {
    case Op::fmadd_s:
    case Op::fmsub_s:
    case Op::fnmsub_s:
    case Op::fnmadd_s:
    case Op::fmadd_h:
    case Op::fmsub_h:
    case Op::fnmsub_h:
    case Op::fnmadd_h:
    case Op::fadd_s:
    case Op::fsub_s:
    case Op::fmul_s:
    case Op::fdiv_s:
    case Op::fsqrt_s:
    case Op::fadd_h:
    case Op::fsub_h:
    case Op::fmul_h:
    case Op::fdiv_h:
    case Op::fsqrt_h:
    case Op::fcvt_w_s:
    case Op::fcvt_wu_s:
    case Op::fcvt_s_w:
    case Op::fcvt_s_wu:
    case Op::fcvt_w_h:
    case Op::fcvt_wu_h:
    case Op::fcvt_h_w:
    case Op::fcvt_h_wu:
    case Op::fcvt_s_h:
    case Op::fcvt_h_s:
      return true;
    default:
      return false;
  }
}

Op fused_op(uint32_t b) {
  const uint32_t format = (b >> 25) & 3;
  if (format != 0 && format != 2) return Op::illegal;
  constexpr Op single[] = {Op::fmadd_s, Op::fmsub_s, Op::fnmsub_s, Op::fnmadd_s};
  constexpr Op half[] = {Op::fmadd_h, Op::fmsub_h, Op::fnmsub_h, Op::fnmadd_h};
  const uint32_t which = (b >> 2) & 3;
  return format == 2 ? half[which] : single[which];
}

// Whether rd names an integer register, so that x0 has to be redirected.
bool has_integer_target(uint32_t opcode, Op op) {
  if (opcode == 0x07 || opcode == 0x43 || opcode == 0x47 || opcode == 0x4b || opcode == 0x4f) {
    return false;
  }
  return opcode != 0x53 || writes_integer(op);
}

void fill_op_and_immediate(uint32_t b, Decoded& d) {
  const uint32_t funct3 = (b >> 12) & 7;
  switch (b & 127) {
    case 0x37:
      d.op = Op::lui, d.imm = static_cast<int32_t>(b & 0xfffff000u);
      break;
    case 0x17:
      d.op = Op::auipc, d.imm = static_cast<int32_t>(b & 0xfffff000u);
      break;
    case 0x6f:
      d.op = Op::jal, d.imm = imm_j(b);
      break;
    case 0x67:
      d.op = funct3 == 0 ? Op::jalr : Op::illegal, d.imm = imm_i(b);
      break;
    case 0x63:
      d.op = branch_op(funct3), d.imm = imm_b(b);
      break;
    case 0x03:
      d.op = load_op(funct3), d.imm = imm_i(b);
      break;
    case 0x23:
      d.op = funct3 == 0 ? Op::sb : funct3 == 1 ? Op::sh : funct3 == 2 ? Op::sw : Op::illegal;
      d.imm = imm_s(b);
      break;
    case 0x13:
      d.op = immediate_op(b);
      d.imm = funct3 == 1 || funct3 == 5 ? static_cast<int32_t>((b >> 20) & 31) : imm_i(b);
      break;
    case 0x33:
      d.op = register_op(b);
      break;
    case 0x0f:
      d.op = funct3 <= 1 ? Op::fence : Op::illegal;
      break;
    case 0x73:
      d.op = system_op(b), d.imm = static_cast<int32_t>(b >> 20);
      break;
    case 0x2f:
      d.op = atomic_op(b);
      break;
    case 0x07:
      d.op = funct3 == 2 ? Op::flw : funct3 == 1 ? Op::flh : Op::illegal, d.imm = imm_i(b);
      break;
    case 0x27:
      d.op = funct3 == 2 ? Op::fsw : funct3 == 1 ? Op::fsh : Op::illegal, d.imm = imm_s(b);
      break;
    case 0x43:
    case 0x47:
    case 0x4b:
    case 0x4f:
      d.op = fused_op(b);
      break;
    case 0x53:
      d.op = float_op(b);
      break;
    default:
      break;
  }
}

}  // namespace

const char* name_of(Op op) {
  static constexpr const char* names[] = {
#define X(name, cycles) #name,
#include "npc/ops.def"
#undef X
  };
  return names[static_cast<size_t>(op)];
}

Decoded decode32(uint32_t bits) {
  Decoded d;
  d.half_words = 2;
  d.rd = (bits >> 7) & 31;
  d.rs1 = (bits >> 15) & 31;
  d.rs2 = (bits >> 20) & 31;
  d.rs3 = bits >> 27;
  d.rm = (bits >> 12) & 7;
  if ((bits & 3) == 3) fill_op_and_immediate(bits, d);
  if (has_rounding(d.op) && (d.rm == 5 || d.rm == 6)) d.op = Op::illegal;
  if (d.rd == 0 && has_integer_target(bits & 127, d.op)) d.rd = kDiscard;
  d.cycles = kCycles[static_cast<size_t>(d.op)];
  return d;
}

std::vector<Decoded> decode_all(std::span<const std::byte> code) {
  const size_t count = code.size() / 2;
  std::vector<Decoded> out(count + 2);
  for (size_t i = 0; i < count; ++i) {
    uint32_t bits = 0;
    const size_t left = code.size() - i * 2;
    std::memcpy(&bits, code.data() + i * 2, left < 4 ? 2 : 4);
    if ((bits & 3) != 3) {
      out[i] = decode32(expand16(static_cast<uint16_t>(bits)));
      out[i].half_words = 1;
    } else if (left >= 4) {
      out[i] = decode32(bits);
    }
  }
  out[count].op = out[count + 1].op = Op::past_end;
  return out;
}

std::vector<uint64_t> weigh(std::span<const Decoded> code) {
  std::vector<uint64_t> sums(code.size(), 0);
  for (size_t i = code.size(); i-- > 0;) {
    const size_t next = i + code[i].half_words;
    if (code[i].op == Op::past_end) continue;
    sums[i] = (next < code.size() ? sums[next] : 0) + (uint64_t{1} << 32) + code[i].cycles;
  }
  return sums;
}

}  // namespace anynpu::npc
