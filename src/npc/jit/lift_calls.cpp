// SPDX-License-Identifier: Apache-2.0
// Arguments, results and entries of functions.
#include "npc/jit/lifter.h"
#include "npc/translate/operands.h"

namespace anynpu::npc {

using namespace llvm;

StructType* Lifter::result_type(const Function& f) const {
  return f.returns & convention::kFloatResults ? float_result_ : result_;
}

Lifter::Value* Lifter::register_value(uint32_t reg) {
  if (reg < 32) return x(static_cast<uint8_t>(reg));
  return b_.CreateBitCast(f(static_cast<uint8_t>(reg - 32)), b_.getFloatTy());
}

void Lifter::set_register(uint32_t reg, Value* value) {
  if (reg < 32) return set_x(static_cast<uint8_t>(reg), value);
  set_f(static_cast<uint8_t>(reg - 32), b_.CreateBitCast(value, b_.getInt32Ty()));
}

void Lifter::take_results(Value* result) {
  set_count(b_.CreateExtractValue(result, 0));
  for (uint8_t r = 1; r < 32; ++r) {
    if (x_[r] && !callee_saved(r) && r != convention::kSp && r != 3 && r != 4) set_x(r, word(0));
  }
  for (uint8_t r = 0; r < 32; ++r) {
    if (float_[r]) set_f(r, word(0));
  }
  set_x(convention::kA0, b_.CreateExtractValue(result, 1));
  set_x(convention::kA0 + 1, b_.CreateExtractValue(result, 2));
  if (result->getType() != float_result_) return;
  set_register(convention::kFa0, b_.CreateExtractValue(result, 3));
  set_register(convention::kFa0 + 1, b_.CreateExtractValue(result, 4));
}

Lifter::Value* Lifter::call_function(uint32_t at, uint32_t target, bool tail) {
  const Function& callee = program_.functions.at(target);
  std::vector<Value*> args{base_, count(), x(convention::kSp)};
  for (uint32_t r = 0; r < 64; ++r) {
    if (callee.takes & bit(r)) args.push_back(register_value(r));
  }
  auto* call = b_.CreateCall(functions_.at(target), args);
  call->addParamAttr(0, Attribute::SwiftSelf);
  // A jump on the host too, as long as the arguments fit into registers.
  if (tail) call->setTailCallKind(CallInst::TCK_Tail);
  return call;
}

// All such calls look the same: three arguments in host registers, the others in the state.
FunctionType* Lifter::indirect_type() {
  auto* i32 = b_.getInt32Ty();
  return FunctionType::get(result_, {b_.getPtrTy(), b_.getInt64Ty(), i32, i32, i32, i32}, false);
}

CallInst* Lifter::call_indirect(uint32_t at, Value* target) {
  const uint64_t passed = (f_->passed.contains(at) ? f_->passed.at(at) : 0) & taken_indirectly_;
  std::vector<Value*> args{base_, count(), x(convention::kSp)};
  for (uint8_t i = 0; i < 3; ++i) args.push_back(x(convention::kA0 + i));
  for (uint8_t i = 3; i < 8; ++i) {
    if (!(passed & bit(convention::kA0 + i))) continue;
    set_state(offsetof(HostState, x) + 4 * (10 + i), x(convention::kA0 + i));
  }
  auto* call = b_.CreateCall(indirect_type(), target, args);
  call->addParamAttr(0, Attribute::SwiftSelf);
  return call;
}

// The host's function for a guest address, or a trap.
Lifter::Value* Lifter::host_function(Value* target, uint32_t at) {
  Value* offset = b_.CreateSub(target, moving(0));
  auto* inside = BasicBlock::Create(context_, "inside", function_);
  auto* outside = BasicBlock::Create(context_, "outside", function_);
  auto* lost = BasicBlock::Create(context_, "lost", function_);
  auto* found = BasicBlock::Create(context_, "found", function_);
  b_.CreateCondBr(b_.CreateICmpULT(offset, word(image_.code_bytes)), inside, outside);
  b_.SetInsertPoint(outside);
  trap(HostTrap::bad_jump, target, at);
  b_.SetInsertPoint(inside);
  Value* table = state(offsetof(HostState, functions), b_.getPtrTy());
  Value* index = b_.CreateZExt(b_.CreateLShr(offset, word(1)), b_.getInt64Ty());
  Value* host = b_.CreateLoad(b_.getPtrTy(), b_.CreateGEP(b_.getPtrTy(), table, index));
  b_.CreateCondBr(b_.CreateIsNull(host), lost, found);
  b_.SetInsertPoint(lost);
  trap(HostTrap::lost, target, at);
  b_.SetInsertPoint(found);
  return host;
}

// Results of the callee that this function does not return are not read.
void Lifter::return_result(Value* result) {
  StructType* own = result_type(*f_);
  if (result->getType() != own) {
    Value* cut = PoisonValue::get(own);
    for (unsigned i = 0; i < own->getNumElements(); ++i) {
      cut = b_.CreateInsertValue(cut, b_.CreateExtractValue(result, i), i);
    }
    result = cut;
  }
  b_.CreateRet(result);
}

void Lifter::return_now() {
  if (program_.whole_state) {
    whole_state_out();
    b_.CreateRet(count());
    return;
  }
  StructType* type = result_type(*f_);
  Value* result = PoisonValue::get(type);
  result = b_.CreateInsertValue(result, count(), 0);
  static constexpr uint32_t registers[] = {convention::kA0, convention::kA0 + 1, convention::kFa0,
                                           convention::kFa0 + 1};
  for (unsigned i = 1; i < type->getNumElements(); ++i) {
    const uint32_t r = registers[i - 1];
    Value* value =
        f_->returns & bit(r) ? register_value(r) : Constant::getNullValue(type->getElementType(i));
    result = b_.CreateInsertValue(result, value, i);
  }
  b_.CreateRet(result);
}

void Lifter::whole_state_in() {
  for (uint8_t r = 1; r < 32; ++r) {
    set_x(r, state(offsetof(HostState, x) + 4 * r, b_.getInt32Ty()));
  }
  for (uint8_t r = 0; r < 32; ++r) {
    set_f(r, state(offsetof(HostState, f) + 4 * r, b_.getInt32Ty()));
  }
}

void Lifter::whole_state_out() {
  for (uint8_t r = 1; r < 32; ++r) set_state(offsetof(HostState, x) + 4 * r, x(r));
  for (uint8_t r = 0; r < 32; ++r) set_state(offsetof(HostState, f) + 4 * r, f(r));
}

void Lifter::add_kernel_entry(const Function& f) {
  auto* function = llvm::Function::Create(
      FunctionType::get(b_.getInt64Ty(), {b_.getPtrTy(), b_.getInt64Ty()}, false),
      GlobalValue::ExternalLinkage, symbol("kernel_", f.entry), module_);
  begin_function(function, "", 0);
  set_x(convention::kSp, state(offsetof(HostState, x) + 4 * convention::kSp, b_.getInt32Ty()));
  for (uint8_t r = convention::kA0; r < convention::kA0 + 8; ++r) {
    if (f.takes & bit(r)) set_x(r, state(offsetof(HostState, x) + 4 * r, b_.getInt32Ty()));
  }
  Value* result = call_function(0, f.entry, false);
  b_.CreateRet(b_.CreateExtractValue(result, 0));
}

void Lifter::add_indirect_entry(const Function& f) {
  auto* function = llvm::Function::Create(indirect_type(), GlobalValue::ExternalLinkage,
                                          symbol("indirect_", f.entry), module_);
  function->addParamAttr(0, Attribute::SwiftSelf);
  begin_function(function, "", 0);
  set_x(convention::kSp, function->getArg(2));
  for (uint8_t i = 0; i < 3; ++i) set_x(convention::kA0 + i, function->getArg(3 + i));
  for (uint8_t r = convention::kA0 + 3; r < convention::kA0 + 8; ++r) {
    if (f.takes & bit(r)) set_x(r, state(offsetof(HostState, x) + 4 * r, b_.getInt32Ty()));
  }
  b_.CreateRet(call_function(0, f.entry, true));
}

}  // namespace anynpu::npc
