// SPDX-License-Identifier: Apache-2.0
// The semantics of each instruction, first integers, then floats. They are those of the
// interpreter; the tests compare them.
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/MDBuilder.h>

#include "npc/jit/lifter.h"
#include "npc/translate/operands.h"

namespace anynpu::npc {

using namespace llvm;

void Lifter::trap(HostTrap kind, Value* value, uint32_t at) {
  const uint64_t instructions = instructions_, cycles = cycles_;  // other ways go on with them
  flush_count();
  instructions_ = instructions, cycles_ = cycles;
  auto* call = helper("npc_trap", b_.getVoidTy(),
                      {base_, count(), word(static_cast<uint32_t>(kind)), value, word(at)});
  call->setDoesNotReturn();
  b_.CreateUnreachable();
}

Lifter::Value* Lifter::guest_pointer(Value* reg, int64_t imm) {
  Value* offset = b_.CreateZExt(reg, b_.getInt64Ty());
  if (imm != 0) offset = b_.CreateAdd(offset, b_.getInt64(static_cast<uint64_t>(imm)));
  return b_.CreateGEP(b_.getInt8Ty(), base_, offset);
}

// Volatile, so that a load nobody needs still traps and a flag of another core is read again; the
// quick version of a loop (loops.h) drops that.
Lifter::Value* Lifter::guest_load(Type* type, const Decoded& d) {
  return b_.CreateAlignedLoad(type, guest_pointer(x(d.rs1), d.imm), Align(1), true);
}

void Lifter::load(const Decoded& d, Type* type, bool is_signed) {
  Value* value = guest_load(type, d);
  if (type != b_.getInt32Ty()) {
    value =
        is_signed ? b_.CreateSExt(value, b_.getInt32Ty()) : b_.CreateZExt(value, b_.getInt32Ty());
  }
  set_x(d.rd, value);
}

void Lifter::store(const Decoded& d, Type* type, Value* value) {
  if (value->getType() != type) value = b_.CreateTrunc(value, type);
  b_.CreateAlignedStore(value, guest_pointer(x(d.rs1), d.imm), Align(1));
}

Lifter::Value* Lifter::divide(const Decoded& d) {
  Value* a = x(d.rs1);
  Value* c = x(d.rs2);
  Value* zero = b_.CreateICmpEQ(c, word(0));
  Value* unsafe = zero;
  const bool is_signed = d.op == Op::div || d.op == Op::rem;
  if (is_signed) {
    Value* overflow =
        b_.CreateAnd(b_.CreateICmpEQ(a, word(0x80000000u)), b_.CreateICmpEQ(c, word(~0u)));
    unsafe = b_.CreateOr(zero, overflow);
  }
  Value* safe = b_.CreateSelect(unsafe, word(1), c);
  if (d.op == Op::div || d.op == Op::divu) {
    Value* q = is_signed ? b_.CreateSDiv(a, safe) : b_.CreateUDiv(a, safe);
    return b_.CreateSelect(zero, word(~0u), q);
  }
  Value* r = is_signed ? b_.CreateSRem(a, safe) : b_.CreateURem(a, safe);
  return b_.CreateSelect(zero, a, r);
}

Lifter::Value* Lifter::high_product(const Decoded& d, bool a_signed, bool b_signed) {
  const auto widen = [&](Value* v, bool is_signed) {
    return is_signed ? b_.CreateSExt(v, b_.getInt64Ty()) : b_.CreateZExt(v, b_.getInt64Ty());
  };
  Value* product = b_.CreateMul(widen(x(d.rs1), a_signed), widen(x(d.rs2), b_signed));
  return b_.CreateTrunc(b_.CreateLShr(product, 32), b_.getInt32Ty());
}

// The value of an instruction that only computes; null for all others.
Lifter::Value* Lifter::compute(const Decoded& d, uint32_t at) {
  Value* imm = word(static_cast<uint32_t>(d.imm));
  const auto flag = [&](Value* v) { return b_.CreateZExt(v, b_.getInt32Ty()); };
  const auto amount = [&] { return b_.CreateAnd(x(d.rs2), word(31)); };
  switch (d.op) {
    case Op::lui:
      if (image_.moving.contains(at)) return moving(static_cast<uint32_t>(d.imm) - image_.base);
      return imm;
    case Op::auipc:
      return moving(at + static_cast<uint32_t>(d.imm));
    case Op::addi:
      return b_.CreateAdd(x(d.rs1), imm);
    case Op::slti:
      return flag(b_.CreateICmpSLT(x(d.rs1), imm));
    case Op::sltiu:
      return flag(b_.CreateICmpULT(x(d.rs1), imm));
    case Op::xori:
      return b_.CreateXor(x(d.rs1), imm);
    case Op::ori:
      return b_.CreateOr(x(d.rs1), imm);
    case Op::andi:
      return b_.CreateAnd(x(d.rs1), imm);
    case Op::slli:
      return b_.CreateShl(x(d.rs1), imm);
    case Op::srli:
      return b_.CreateLShr(x(d.rs1), imm);
    case Op::srai:
      return b_.CreateAShr(x(d.rs1), imm);
    case Op::add:
      return b_.CreateAdd(x(d.rs1), x(d.rs2));
    case Op::sub:
      return b_.CreateSub(x(d.rs1), x(d.rs2));
    case Op::sll:
      return b_.CreateShl(x(d.rs1), amount());
    case Op::srl:
      return b_.CreateLShr(x(d.rs1), amount());
    case Op::sra:
      return b_.CreateAShr(x(d.rs1), amount());
    case Op::slt:
      return flag(b_.CreateICmpSLT(x(d.rs1), x(d.rs2)));
    case Op::sltu:
      return flag(b_.CreateICmpULT(x(d.rs1), x(d.rs2)));
    case Op::xor_:
      return b_.CreateXor(x(d.rs1), x(d.rs2));
    case Op::or_:
      return b_.CreateOr(x(d.rs1), x(d.rs2));
    case Op::and_:
      return b_.CreateAnd(x(d.rs1), x(d.rs2));
    case Op::mul:
      return b_.CreateMul(x(d.rs1), x(d.rs2));
    case Op::mulh:
      return high_product(d, true, true);
    case Op::mulhsu:
      return high_product(d, true, false);
    case Op::mulhu:
      return high_product(d, false, false);
    case Op::div:
    case Op::divu:
    case Op::rem:
    case Op::remu:
      return divide(d);
    default:
      return nullptr;
  }
}

void Lifter::instruction(uint32_t at) {
  const Decoded& d = image_.code[at / 2];
  if (Value* value = compute(d, at)) return set_x(d.rd, value);
  switch (d.op) {
    case Op::lb:
      return load(d, b_.getInt8Ty(), true);
    case Op::lh:
      return load(d, b_.getInt16Ty(), true);
    case Op::lbu:
      return load(d, b_.getInt8Ty(), false);
    case Op::lhu:
      return load(d, b_.getInt16Ty(), false);
    case Op::lw:
      for (const auto& [jump, table] : f_->tables) {  // the switch wants to know where it read
        if (table.load != at) continue;
        Value* from = b_.CreateAdd(x(d.rs1), word(static_cast<uint32_t>(d.imm)));
        AllocaInst*& index = table_index_[jump];
        b_.CreateStore(b_.CreateSub(from, moving(table.base)),
                       variable(index, b_.getInt32Ty(), "index"));
      }
      return load(d, b_.getInt32Ty(), false);
    case Op::sb:
      return store(d, b_.getInt8Ty(), x(d.rs2));
    case Op::sh:
      return store(d, b_.getInt16Ty(), x(d.rs2));
    case Op::sw:
      return store(d, b_.getInt32Ty(), x(d.rs2));
    case Op::fence:
      b_.CreateFence(AtomicOrdering::SequentiallyConsistent);
      return;
    case Op::ecall:
      return service(at);
    case Op::flw:
      return set_f(d.rd, guest_load(b_.getInt32Ty(), d));
    case Op::flh: {
      Value* half = guest_load(b_.getInt16Ty(), d);
      return set_f(d.rd, b_.CreateOr(b_.CreateZExt(half, b_.getInt32Ty()), word(0xffff0000u)));
    }
    case Op::fsw:
      return store(d, b_.getInt32Ty(), f(d.rs2));
    case Op::fsh:
      return store(d, b_.getInt16Ty(), f(d.rs2));
    default:
      break;
  }
  if (d.op >= Op::csrrw && d.op <= Op::csrrci) {
    --instructions_, cycles_ -= d.cycles;  // the counters it reads are those before it
    flush_count();
    Value* operand = d.op >= Op::csrrwi ? word(d.rs1) : x(d.rs1);
    Value* old = helper("npc_csr", b_.getInt32Ty(), {base_, count(), word(at), operand});
    ++instructions_, cycles_ += d.cycles;
    return set_x(d.rd, old);
  }
  if (d.op >= Op::lr_w && d.op <= Op::amomaxu_w) return atomic(d, at);
  float_instruction(d, at);
}

void Lifter::atomic(const Decoded& d, uint32_t at) {
  --instructions_, cycles_ -= d.cycles;  // not counted when it traps
  if (d.op == Op::lr_w || d.op == Op::sc_w) {
    flush_count();
    Value* old =
        helper("npc_atomic", b_.getInt32Ty(), {base_, count(), word(at), x(d.rs1), x(d.rs2)});
    ++instructions_, cycles_ += d.cycles;
    return set_x(d.rd, old);
  }
  auto* odd = BasicBlock::Create(context_, "misaligned", function_);
  auto* fine = BasicBlock::Create(context_, "aligned", function_);
  Value* low = b_.CreateAnd(x(d.rs1), word(3));
  b_.CreateCondBr(b_.CreateICmpEQ(low, word(0)), fine, odd);
  b_.SetInsertPoint(odd);
  trap(HostTrap::misaligned, x(d.rs1), at);
  b_.SetInsertPoint(fine);
  ++instructions_, cycles_ += d.cycles;
  static constexpr AtomicRMWInst::BinOp how[] = {
      AtomicRMWInst::Xchg, AtomicRMWInst::Add,  AtomicRMWInst::Xor,
      AtomicRMWInst::And,  AtomicRMWInst::Or,   AtomicRMWInst::Min,
      AtomicRMWInst::Max,  AtomicRMWInst::UMin, AtomicRMWInst::UMax};
  set_x(d.rd, b_.CreateAtomicRMW(how[static_cast<int>(d.op) - static_cast<int>(Op::amoswap_w)],
                                 guest_pointer(x(d.rs1), 0), x(d.rs2), Align(4),
                                 AtomicOrdering::SequentiallyConsistent));
}

// Floats. Results of arithmetic have one NaN; bits that are only moved keep theirs.

namespace {

Op single_form(Op op) {
  return op < Op::fmadd_h ? op
                          : static_cast<Op>(static_cast<int>(op) - static_cast<int>(Op::fmadd_h) +
                                            static_cast<int>(Op::fmadd_s));
}

}  // namespace

bool Lifter::nearest(const Decoded& d) const { return d.rm == 0 || d.rm == 7; }

Lifter::Value* Lifter::get_float(uint8_t reg, Type* type) {
  Value* bits = f(reg);
  if (type->isHalfTy()) {
    Value* boxed = b_.CreateICmpUGE(bits, word(0xffff0000u));
    Value* low = b_.CreateTrunc(bits, b_.getInt16Ty());
    bits = b_.CreateSelect(boxed, low, b_.getInt16(0x7e00));
  }
  return b_.CreateBitCast(bits, type);
}

Lifter::Value* Lifter::bits_of(Value* value) {
  if (!value->getType()->isHalfTy()) return b_.CreateBitCast(value, b_.getInt32Ty());
  Value* bits = b_.CreateZExt(b_.CreateBitCast(value, b_.getInt16Ty()), b_.getInt32Ty());
  return b_.CreateOr(bits, word(0xffff0000u));
}

Lifter::Value* Lifter::canonical(Value* value) {
  Value* one =
      b_.CreateSelect(b_.CreateFCmpUNO(value, value), ConstantFP::getQNaN(value->getType()), value);
  // Outside vectors a branch that is never taken is quicker than a choice.
  if (auto* choice = dyn_cast<SelectInst>(one)) {
    choice->setMetadata(LLVMContext::MD_prof,
                        MDBuilder(context_).createBranchWeights(1, 1'000'000));
  }
  return one;
}

// By the interpreter's own arithmetic: all rounding modes, all flags.
void Lifter::exact_float(const Decoded& d, uint32_t at) {
  const Operands o = operands_of(d);
  const auto operand = [&](uint8_t reg) -> Value* {
    if (o.reads & bit(32u + reg)) return f(reg);
    return reg > 0 && (o.reads & bit(reg)) ? x(reg) : word(0);
  };
  Value* count_here = count();
  Value* result =
      helper("npc_float", b_.getInt32Ty(),
             {base_, count_here, word(at), operand(d.rs1), operand(d.rs2), operand(d.rs3)});
  o.writes >= 32 && o.writes != kNoRegister ? set_f(d.rd, result) : set_x(d.rd, result);
}

// a * b + c of halves in single, to be rounded to half: the product is exact; the sum's last bit is
// rounded to odd, which keeps all that the second rounding needs.
Lifter::Value* Lifter::fused_half(Value* a, Value* c, Value* addend) {
  Value* product = b_.CreateFMul(a, c);
  Value* sum = b_.CreateFAdd(product, addend);
  Value* part = b_.CreateFSub(sum, product);
  Value* error =
      b_.CreateFAdd(b_.CreateFSub(product, b_.CreateFSub(sum, part)), b_.CreateFSub(addend, part));
  Value* bits = b_.CreateBitCast(sum, b_.getInt32Ty());
  Value* zero = ConstantFP::get(b_.getFloatTy(), 0);
  Value* inexact = b_.CreateFCmpONE(error, zero);
  Value* even = b_.CreateICmpEQ(b_.CreateAnd(bits, 1), word(0));
  Value* outward = b_.CreateICmpEQ(b_.CreateFCmpOGT(error, zero), b_.CreateFCmpOGT(sum, zero));
  Value* step = b_.CreateSelect(outward, word(1), word(~0u));
  bits = b_.CreateSelect(b_.CreateAnd(inexact, even), b_.CreateAdd(bits, step), bits);
  return b_.CreateBitCast(bits, b_.getFloatTy());
}

// Halves are computed in single, whose rounding to half gives what one rounding gives.
Lifter::Value* Lifter::arithmetic(const Decoded& d, Op op, bool half) {
  Type* single = b_.getFloatTy();
  const auto operand = [&](uint8_t reg) {
    return half ? b_.CreateFPExt(get_float(reg, b_.getHalfTy()), single) : get_float(reg, single);
  };
  Value* a = operand(d.rs1);
  switch (op) {
    case Op::fadd_s:
      return b_.CreateFAdd(a, operand(d.rs2));
    case Op::fsub_s:
      return b_.CreateFSub(a, operand(d.rs2));
    case Op::fmul_s:
      return b_.CreateFMul(a, operand(d.rs2));
    case Op::fdiv_s:
      return b_.CreateFDiv(a, operand(d.rs2));
    case Op::fsqrt_s:
      return b_.CreateUnaryIntrinsic(Intrinsic::sqrt, a);
    default:
      break;
  }
  Value* c = operand(d.rs2);
  Value* e = operand(d.rs3);
  if (op == Op::fnmsub_s || op == Op::fnmadd_s) a = b_.CreateFNeg(a);
  if (op == Op::fmsub_s || op == Op::fnmadd_s) e = b_.CreateFNeg(e);
  if (half) return fused_half(a, c, e);
  return b_.CreateIntrinsic(single, Intrinsic::fma, {a, c, e});
}

// Halves are compared as integers, of which the host has vectors; -0 is less than 0.
Lifter::Value* Lifter::half_minimum(const Decoded& d, bool smallest) {
  Type* whole = b_.getInt16Ty();
  const auto is_nan = [&](Value* bits) {
    return b_.CreateICmpUGT(b_.CreateAnd(bits, 0x7fff), b_.getInt16(0x7c00));
  };
  const auto in_order = [&](Value* bits) {  // and back
    return b_.CreateXor(bits, b_.CreateAnd(b_.CreateAShr(bits, 15), 0x7fff));
  };
  Value* a = b_.CreateBitCast(get_float(d.rs1, b_.getHalfTy()), whole);
  Value* c = b_.CreateBitCast(get_float(d.rs2, b_.getHalfTy()), whole);
  Value* first = in_order(b_.CreateSelect(is_nan(a), c, a));
  Value* second = in_order(b_.CreateSelect(is_nan(c), a, c));
  Value* chosen = in_order(
      b_.CreateBinaryIntrinsic(smallest ? Intrinsic::smin : Intrinsic::smax, first, second));
  return b_.CreateBitCast(b_.CreateSelect(is_nan(chosen), b_.getInt16(0x7e00), chosen),
                          b_.getHalfTy());
}

Lifter::Value* Lifter::minimum(const Decoded& d, bool smallest) {
  Value* a = get_float(d.rs1, b_.getFloatTy());
  Value* c = get_float(d.rs2, b_.getFloatTy());
  // Equal: the same, or zeros of both signs.
  Value* both = smallest ? b_.CreateOr(f(d.rs1), f(d.rs2)) : b_.CreateAnd(f(d.rs1), f(d.rs2));
  Value* first = smallest ? b_.CreateFCmpOLT(a, c) : b_.CreateFCmpOGT(a, c);
  first = b_.CreateOr(first, b_.CreateFCmpUNO(c, c));
  Value* chosen = b_.CreateSelect(first, a, c);
  both = b_.CreateBitCast(both, b_.getFloatTy());
  return canonical(b_.CreateSelect(b_.CreateFCmpOEQ(a, c), both, chosen));
}

Lifter::Value* Lifter::to_integer(const Decoded& d, Type* type, bool is_signed) {
  Value* a = get_float(d.rs1, type);
  if (type->isHalfTy()) a = b_.CreateFPExt(a, b_.getFloatTy());
  static constexpr Intrinsic::ID how[] = {Intrinsic::roundeven, Intrinsic::trunc, Intrinsic::floor,
                                          Intrinsic::ceil};
  const uint8_t mode = d.rm == 7 ? 0 : d.rm;
  if (mode != 1) a = b_.CreateUnaryIntrinsic(how[mode], a);
  Value* whole = b_.CreateIntrinsic(is_signed ? Intrinsic::fptosi_sat : Intrinsic::fptoui_sat,
                                    {b_.getInt32Ty(), a->getType()}, {a});
  return b_.CreateSelect(b_.CreateFCmpUNO(a, a), word(is_signed ? 0x7fffffffu : ~0u), whole);
}

Lifter::Value* Lifter::sign_bits(const Decoded& d, Op op, bool half) {
  Type* type = half ? b_.getHalfTy() : b_.getFloatTy();
  Type* whole = half ? b_.getInt16Ty() : b_.getInt32Ty();
  Value* a = b_.CreateBitCast(get_float(d.rs1, type), whole);
  Value* c = b_.CreateBitCast(get_float(d.rs2, type), whole);
  Value* sign = ConstantInt::get(whole, half ? 0x8000u : 0x80000000u);
  Value* rest = ConstantInt::get(whole, half ? 0x7fffu : 0x7fffffffu);
  if (op == Op::fsgnjx_s) return b_.CreateBitCast(b_.CreateXor(a, b_.CreateAnd(c, sign)), type);
  if (op == Op::fsgnjn_s) c = b_.CreateNot(c);
  return b_.CreateBitCast(b_.CreateOr(b_.CreateAnd(a, rest), b_.CreateAnd(c, sign)), type);
}

Lifter::Value* Lifter::compare(const Decoded& d, Op op, Type* type) {
  Value* a = get_float(d.rs1, type);
  Value* c = get_float(d.rs2, type);
  Value* answer = op == Op::feq_s   ? b_.CreateFCmpOEQ(a, c)
                  : op == Op::flt_s ? b_.CreateFCmpOLT(a, c)
                                    : b_.CreateFCmpOLE(a, c);
  return b_.CreateZExt(answer, b_.getInt32Ty());
}

void Lifter::float_instruction(const Decoded& d, uint32_t at) {
  Type* single = b_.getFloatTy();
  Type* half = b_.getHalfTy();
  if (program_.exact_floats) return exact_float(d, at);
  if (d.op == Op::fcvt_s_h) {
    return set_f(d.rd, bits_of(canonical(b_.CreateFPExt(get_float(d.rs1, half), single))));
  }
  if (d.op == Op::fcvt_h_s) {
    if (!nearest(d)) return exact_float(d, at);
    return set_f(d.rd, bits_of(b_.CreateFPTrunc(canonical(get_float(d.rs1, single)), half)));
  }
  const Op op = single_form(d.op);
  const bool is_half = d.op >= Op::fmadd_h;
  Type* type = is_half ? half : single;
  switch (op) {
    case Op::fmadd_s:
    case Op::fmsub_s:
    case Op::fnmsub_s:
    case Op::fnmadd_s:
    case Op::fadd_s:
    case Op::fsub_s:
    case Op::fmul_s:
    case Op::fdiv_s:
    case Op::fsqrt_s: {
      if (!nearest(d)) return exact_float(d, at);
      Value* result = canonical(arithmetic(d, op, is_half));
      return set_f(d.rd, bits_of(is_half ? b_.CreateFPTrunc(result, half) : result));
    }
    case Op::fsgnj_s:
    case Op::fsgnjn_s:
    case Op::fsgnjx_s:
      return set_f(d.rd, bits_of(sign_bits(d, op, is_half)));
    case Op::fmin_s:
    case Op::fmax_s:
      return set_f(d.rd, bits_of(is_half ? half_minimum(d, op == Op::fmin_s)
                                         : minimum(d, op == Op::fmin_s)));
    case Op::fcvt_w_s:
    case Op::fcvt_wu_s:
      if (d.rm == 4) return exact_float(d, at);
      return set_x(d.rd, to_integer(d, type, op == Op::fcvt_w_s));
    case Op::fmv_x_w:
      return set_x(
          d.rd, is_half ? b_.CreateSExt(b_.CreateTrunc(f(d.rs1), b_.getInt16Ty()), b_.getInt32Ty())
                        : f(d.rs1));
    case Op::fmv_w_x:
      return set_f(d.rd, is_half ? b_.CreateOr(x(d.rs1), word(0xffff0000u)) : x(d.rs1));
    case Op::feq_s:
    case Op::flt_s:
    case Op::fle_s:
      return set_x(d.rd, compare(d, op, type));
    case Op::fcvt_s_w:
    case Op::fcvt_s_wu: {
      if (!nearest(d)) return exact_float(d, at);
      Value* a = x(d.rs1);
      // Halves by way of single: what single rounds is beyond the largest half.
      Value* value = op == Op::fcvt_s_w ? b_.CreateSIToFP(a, single) : b_.CreateUIToFP(a, single);
      return set_f(d.rd, bits_of(is_half ? b_.CreateFPTrunc(value, half) : value));
    }
    default:  // fclass
      return exact_float(d, at);
  }
}

}  // namespace anynpu::npc
