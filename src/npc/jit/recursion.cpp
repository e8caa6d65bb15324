// SPDX-License-Identifier: Apache-2.0
#include "npc/jit/recursion.h"

#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include <vector>

namespace anynpu::npc {

using namespace llvm;

namespace {

constexpr size_t kMostCalls = 2;  // a copy for each
// As lifted, some five for one of the guest. A second copy in the first costs larger functions more
// in registers than it saves in calls.
constexpr unsigned kMostInstructions = 400, kMostForTwo = 140;

std::vector<CallInst*> calls_of(llvm::Function& function, const llvm::Function* callee) {
  std::vector<CallInst*> found;
  for (Instruction& i : instructions(function)) {
    auto* call = dyn_cast<CallInst>(&i);
    if (call && call->getCalledFunction() == callee) found.push_back(call);
  }
  return found;
}

// Its calls of itself are calls of `function`.
llvm::Function* copy_to_inline(llvm::Function& function) {
  ValueToValueMapTy map;
  llvm::Function* copy = CloneFunction(&function, map);
  copy->addFnAttr(Attribute::AlwaysInline);
  return copy;
}

void redirect(const std::vector<CallInst*>& calls, llvm::Function* callee) {
  for (CallInst* call : calls) call->setCalledFunction(callee);
}

}  // namespace

void unfold_recursion(llvm::Module& module) {
  std::vector<llvm::Function*> functions;
  for (llvm::Function& function : module) functions.push_back(&function);
  for (llvm::Function* function : functions) {
    const auto calls = calls_of(*function, function);
    const unsigned size = function->getInstructionCount();
    if (calls.empty() || calls.size() > kMostCalls || size > kMostInstructions) continue;
    llvm::Function* copy = copy_to_inline(*function);
    if (calls.size() == 1 && size <= kMostForTwo) {
      redirect(calls_of(*copy, function), copy_to_inline(*function));
    }
    redirect(calls, copy);
  }
}

}  // namespace anynpu::npc
