// SPDX-License-Identifier: Apache-2.0
#include "npc/jit/floats.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/PatternMatch.h>

#include <set>

namespace anynpu::npc {

using namespace llvm;
using namespace llvm::PatternMatch;

namespace {

// What the canonical value was made of; null when `value` is not one.
Value* raw(Value* value) {
  Value* made = nullptr;
  CmpInst::Predicate how;
  if (!match(value, m_Select(m_FCmp(how, m_Value(made), m_Value()), m_NaN(), m_Deferred(made)))) {
    return nullptr;
  }
  auto* compare = cast<FCmpInst>(cast<SelectInst>(value)->getCondition());
  // InstCombine writes the comparison with itself as one with zero.
  Value* with = compare->getOperand(1);
  if (how != CmpInst::FCMP_UNO || (with != made && !match(with, m_AnyZeroFP()))) return nullptr;
  return made;
}

// The same of a half that was made canonical before it was extended, as InstCombine writes it.
Value* raw_operand(Value* value) {
  if (Value* made = raw(value)) return made;
  auto* extended = dyn_cast<FPExtInst>(value);
  Value* made = extended ? raw(extended->getOperand(0)) : nullptr;
  return made ? IRBuilder<>(extended).CreateFPExt(made, extended->getType()) : nullptr;
}

// Whether the result is the same for all NaN of an operand but for the NaN that it gives itself.
bool takes_any_nan(const User* user) {
  if (const auto* intrinsic = dyn_cast<IntrinsicInst>(user)) {
    return intrinsic->getIntrinsicID() == Intrinsic::fma ||
           intrinsic->getIntrinsicID() == Intrinsic::sqrt;
  }
  const auto* i = dyn_cast<Instruction>(user);
  if (!i) return false;
  switch (i->getOpcode()) {
    case Instruction::FAdd:
    case Instruction::FSub:
    case Instruction::FMul:
    case Instruction::FDiv:
    case Instruction::FCmp:
      return true;
    default:
      return false;
  }
}

// Phis of which only such operations, or one another, see the value.
std::set<PHINode*> unseen_phis(llvm::Function& function) {
  std::set<PHINode*> unseen;
  for (BasicBlock& block : function) {
    for (PHINode& phi : block.phis()) {
      if (phi.getType()->isFloatingPointTy()) unseen.insert(&phi);
    }
  }
  const auto seen = [&](PHINode* phi) {
    return !all_of(phi->users(), [&](User* user) {
      auto* other = dyn_cast<PHINode>(user);
      return other ? unseen.contains(other) : takes_any_nan(user);
    });
  };
  while (std::erase_if(unseen, seen) > 0) {
  }
  return unseen;
}

}  // namespace

void defer_canonical_nans(llvm::Function& function) {
  const std::set<PHINode*> unseen = unseen_phis(function);
  for (BasicBlock& block : function) {
    for (Instruction& i : block) {
      auto* phi = dyn_cast<PHINode>(&i);
      if (phi ? !unseen.contains(phi) : !takes_any_nan(&i)) continue;
      for (Use& operand : i.operands()) {
        if (Value* made = raw_operand(operand.get())) operand.set(made);
      }
    }
  }
}

}  // namespace anynpu::npc
