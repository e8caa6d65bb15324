// SPDX-License-Identifier: Apache-2.0
// ecall. Services that only compute (float functions, doubles) become calls of the function itself
// or instructions of the host, with the cycles of the service; all others ask the cluster.
#include <llvm/IR/Intrinsics.h>

#include "npc/cycles.h"
#include "npc/jit/lifter.h"
#include "npc/translate/operands.h"

namespace anynpu::npc {

using namespace llvm;

namespace {

constexpr const char* kFloatFunctions[] = {
#define ONE(name, number) "npc_" #name,
#define TWO(name, number) "npc_" #name,
#include "npc/float_functions.def"
#undef ONE
#undef TWO
};

constexpr uint8_t kA1 = convention::kA0 + 1, kA2 = convention::kA0 + 2, kA7 = convention::kA0 + 7;

}  // namespace

// What `li` put into a register earlier in the block.
std::optional<uint32_t> Lifter::constant_before(const Function& f, const CodeBlock& block,
                                                uint32_t at, uint8_t reg) const {
  std::optional<uint32_t> value;
  for (uint32_t o = block.begin; o < at; o += image_.code[o / 2].half_words * 2u) {
    const Decoded& d = image_.code[o / 2];
    if (d.op == Op::ecall || f.calls.contains(o)) {
      value.reset();
    } else if (operands_of(d).writes == reg) {
      value.reset();
      if (d.op == Op::addi && d.rs1 == 0) value = static_cast<uint32_t>(d.imm);
    }
  }
  return value;
}

std::optional<Lifter::Computation> Lifter::computation(const Function& f, const CodeBlock& block,
                                                       uint32_t at) const {
  const auto service = constant_before(f, block, at, kA7);
  const auto operation = constant_before(f, block, at, convention::kA0);
  if (!service || !operation) return std::nullopt;
  const Computation found{static_cast<Service>(*service), *operation};
  switch (found.service) {
    case Service::math32:
      if (found.operation < std::size(kFloatFunctions)) return found;
      break;
    case Service::double_op:  // rounding to half takes more than the host has
      if (found.operation < static_cast<uint32_t>(DoubleOp::to_f16)) return found;
      break;
    default:
      break;
  }
  return std::nullopt;
}

// Such functions of the run-time library go into their callers before loops are looked at.
bool Lifter::only_computes(const Function& f) const {
  if (f.code.size() != 1 || f.recursive || !f.calls.empty() || !f.back_edges.empty()) return false;
  const CodeBlock& block = f.code.begin()->second;
  bool computes = false;
  for (uint32_t at = block.begin; at < block.end; at += image_.code[at / 2].half_words * 2u) {
    if (image_.code[at / 2].op != Op::ecall) continue;
    if (!computation(f, block, at)) return false;
    computes = true;
  }
  return computes;
}

void Lifter::service(uint32_t at) {
  if (const auto found = computation(*f_, *block_, at)) {
    if (found->service == Service::math32) {
      Value* result = float_function(static_cast<FloatFunction>(found->operation));
      set_x(convention::kA0, bits_of(canonical(result)));
      cycles_ += cycles::kFloatFunction;
      return;
    }
    Value* result = double_result(static_cast<DoubleOp>(found->operation));
    set_x(convention::kA0, b_.CreateTrunc(result, b_.getInt32Ty()));
    set_x(kA1, b_.CreateTrunc(b_.CreateLShr(result, 32), b_.getInt32Ty()));
    cycles_ += cycles::kDouble;
    return;
  }
  flush_count();
  for (uint8_t r = convention::kA0; r <= kA7; ++r) {
    set_state(offsetof(HostState, x) + 4 * r, x(r));
  }
  const uint32_t next = at + image_.code[at / 2].half_words * 2u;
  set_count(helper("npc_service", b_.getInt64Ty(), {base_, count(), word(next)}));
  for (uint8_t r = convention::kA0; r <= kA1; ++r) {
    set_x(r, state(offsetof(HostState, x) + 4 * r, b_.getInt32Ty()));
  }
}

Lifter::Value* Lifter::float_function(FloatFunction function) {
  Value* a = b_.CreateBitCast(x(kA1), b_.getFloatTy());
  std::vector<Value*> args{a};
  switch (function) {
    case FloatFunction::floor:
      return b_.CreateUnaryIntrinsic(Intrinsic::floor, a);
    case FloatFunction::ceil:
      return b_.CreateUnaryIntrinsic(Intrinsic::ceil, a);
    case FloatFunction::pow:
      args.push_back(b_.CreateBitCast(x(kA2), b_.getFloatTy()));
      break;
    default:
      break;
  }
  auto* call = helper(kFloatFunctions[static_cast<uint32_t>(function)], b_.getFloatTy(), args);
  call->setDoesNotAccessMemory();  // but for errno, which nobody reads
  call->addFnAttr(Attribute::WillReturn);
  return call;
}

// a0 and a1 after the service.
Lifter::Value* Lifter::double_result(DoubleOp op) {
  Type* i32 = b_.getInt32Ty();
  Type* i64 = b_.getInt64Ty();
  Type* wide = b_.getDoubleTy();
  const auto pair = [&](uint8_t low) {
    Value* high = b_.CreateShl(b_.CreateZExt(x(low + 1), i64), 32);
    return b_.CreateOr(high, b_.CreateZExt(x(low), i64));
  };
  const auto a = [&] { return b_.CreateBitCast(pair(kA1), wide); };
  const auto c = [&] { return b_.CreateBitCast(pair(kA1 + 2), wide); };
  const auto single = [&] { return b_.CreateBitCast(x(kA1), b_.getFloatTy()); };
  const auto bits = [&](Value* value) -> Value* {
    const bool is_wide = value->getType()->isDoubleTy();
    Value* whole = b_.CreateBitCast(canonical(value), is_wide ? i64 : i32);
    return is_wide ? whole : b_.CreateZExt(whole, i64);
  };
  // Saturates; NaN becomes the largest.
  const auto whole = [&](Value* value, Type* type, bool is_signed) {
    const unsigned width = type->getIntegerBitWidth();
    Value* all = b_.CreateIntrinsic(is_signed ? Intrinsic::fptosi_sat : Intrinsic::fptoui_sat,
                                    {type, value->getType()}, {value});
    const APInt most = is_signed ? APInt::getSignedMaxValue(width) : APInt::getMaxValue(width);
    all = b_.CreateSelect(b_.CreateFCmpUNO(value, value), ConstantInt::get(type, most), all);
    return is_signed ? b_.CreateSExt(all, i64) : b_.CreateZExt(all, i64);
  };
  switch (op) {
    case DoubleOp::add:
      return bits(b_.CreateFAdd(a(), c()));
    case DoubleOp::sub:
      return bits(b_.CreateFSub(a(), c()));
    case DoubleOp::mul:
      return bits(b_.CreateFMul(a(), c()));
    case DoubleOp::div:
      return bits(b_.CreateFDiv(a(), c()));
    case DoubleOp::compare: {
      Value* first = a();
      Value* second = c();
      Value* more = b_.CreateZExt(b_.CreateFCmpOGT(first, second), i64);
      Value* less = b_.CreateSExt(b_.CreateFCmpOLT(first, second), i64);
      return b_.CreateSelect(b_.CreateFCmpUNO(first, second), b_.getInt64(2),
                             b_.CreateOr(more, less));
    }
    case DoubleOp::from_i32:
      return bits(b_.CreateSIToFP(x(kA1), wide));
    case DoubleOp::from_u32:
      return bits(b_.CreateUIToFP(x(kA1), wide));
    case DoubleOp::from_i64:
      return bits(b_.CreateSIToFP(pair(kA1), wide));
    case DoubleOp::from_u64:
      return bits(b_.CreateUIToFP(pair(kA1), wide));
    case DoubleOp::to_i32:
      return whole(a(), i32, true);
    case DoubleOp::to_u32:
      return whole(a(), i32, false);
    case DoubleOp::to_i64:
      return whole(a(), i64, true);
    case DoubleOp::to_u64:
      return whole(a(), i64, false);
    case DoubleOp::from_f32:
      return bits(b_.CreateFPExt(single(), wide));
    case DoubleOp::to_f32:
      return bits(b_.CreateFPTrunc(a(), b_.getFloatTy()));
    case DoubleOp::f32_from_i64:
      return bits(b_.CreateSIToFP(pair(kA1), b_.getFloatTy()));
    case DoubleOp::f32_from_u64:
      return bits(b_.CreateUIToFP(pair(kA1), b_.getFloatTy()));
    case DoubleOp::f32_to_i64:
      return whole(single(), i64, true);
    case DoubleOp::f32_to_u64:
      return whole(single(), i64, false);
    case DoubleOp::from_f16: {
      Value* half = b_.CreateBitCast(b_.CreateTrunc(x(kA1), b_.getInt16Ty()), b_.getHalfTy());
      return bits(b_.CreateFPExt(b_.CreateFPExt(half, b_.getFloatTy()), wide));
    }
    case DoubleOp::to_f16:
      break;  // computation() leaves it to the service
  }
  llvm_unreachable("an operation that computation() does not give");
}

}  // namespace anynpu::npc
