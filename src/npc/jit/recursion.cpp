// SPDX-License-Identifier: Apache-2.0
#include "npc/jit/recursion.h"

#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include <vector>

namespace anynpu::npc {

using namespace llvm;

namespace {

constexpr size_t kMostCalls = 2;             // a copy for each
constexpr unsigned kMostInstructions = 400;  // as lifted, some five for one of the guest

std::vector<CallInst*> calls_of_itself(llvm::Function& function) {
  std::vector<CallInst*> found;
  for (Instruction& i : instructions(function)) {
    auto* call = dyn_cast<CallInst>(&i);
    if (call && call->getCalledFunction() == &function) found.push_back(call);
  }
  return found;
}

}  // namespace

void unfold_recursion(llvm::Module& module) {
  std::vector<llvm::Function*> functions;
  for (llvm::Function& function : module) functions.push_back(&function);
  for (llvm::Function* function : functions) {
    const auto calls = calls_of_itself(*function);
    if (calls.empty() || calls.size() > kMostCalls ||
        function->getInstructionCount() > kMostInstructions) {
      continue;
    }
    ValueToValueMapTy map;
    llvm::Function* copy = CloneFunction(function, map);  // its calls are of `function`
    copy->addFnAttr(Attribute::AlwaysInline);
    for (CallInst* call : calls) call->setCalledFunction(copy);
  }
}

}  // namespace anynpu::npc
