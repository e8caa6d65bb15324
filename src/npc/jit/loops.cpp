// SPDX-License-Identifier: Apache-2.0
#include "npc/jit/loops.h"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/ScalarEvolutionExpander.h>

#include <map>
#include <utility>
#include <vector>

#include "npc/translate/host_state.h"

namespace anynpu::npc {

using namespace llvm;

namespace {

bool calls(const Instruction& i, StringRef name) {
  const auto* call = dyn_cast<CallInst>(&i);
  return call && call->getCalledFunction() && call->getCalledFunction()->getName() == name;
}

uint64_t instructions_of(const Instruction& count) {
  const int64_t constant =
      cast<ConstantInt>(cast<CallInst>(count).getArgOperand(1))->getSExtValue();
  const int64_t mask = (int64_t{1} << kInstructionShift) - 1;
  return static_cast<uint64_t>((mask - constant) >> kInstructionShift);
}

// A register that grows by a constant each time around and becomes an address.
struct Address {
  ZExtInst* extended;
  const SCEV* start;
  int64_t step;
};

// What a loop must be like to get a quick version; see run().
class QuickLoop {
 public:
  QuickLoop(Loop& loop, FunctionAnalysisManager& analyses, llvm::Function& function)
      : loop_(loop),
        function_(function),
        info_(analyses.getResult<LoopAnalysis>(function)),
        tree_(analyses.getResult<DominatorTreeAnalysis>(function)),
        evolution_(analyses.getResult<ScalarEvolutionAnalysis>(function)),
        expander_(evolution_, function.getParent()->getDataLayout(), "npc") {}

  bool run() {
    if (!fits() || !find_trips()) return false;
    find_addresses();
    if (!can_expand()) return false;
    build();
    return true;
  }

 private:
  // One block that ends the loop, nothing inside that leaves, waits or must stay in order.
  bool fits() {
    latch_ = loop_.getLoopLatch();
    exit_ = loop_.getUniqueExitBlock();
    if (!loop_.isInnermost() || !loop_.isLoopSimplifyForm() || !latch_ || !exit_ ||
        loop_.getExitingBlock() != latch_) {
      return false;
    }
    for (PHINode& phi : loop_.getHeader()->phis()) {
      if (!phi.getType()->isIntegerTy(64)) continue;
      if (count_) return false;
      count_ = &phi;
    }
    for (BasicBlock* block : loop_.blocks()) {
      for (Instruction& i : *block) {
        if (calls(i, "npc_count")) {
          each_time_ += instructions_of(i);
          constant_ += cast<ConstantInt>(cast<CallInst>(i).getArgOperand(1))->getSExtValue();
          straight_ &= tree_.dominates(block, latch_);
        } else if (calls(i, "npc_check")) {
          check_ = cast<CallInst>(&i);
        } else if (i.isAtomic() || (isa<CallBase>(i) && !isa<IntrinsicInst>(i) &&
                                    !cast<CallBase>(i).doesNotAccessMemory())) {
          return false;
        }
      }
    }
    return count_ && check_ && each_time_ > 0;
  }

  // Times that the way back is taken.
  bool find_trips() {
    const SCEV* known = evolution_.getBackedgeTakenCount(&loop_);
    if (!isa<SCEVCouldNotCompute>(known)) {
      if (evolution_.getTypeSizeInBits(known->getType()) > 32) return false;
      back_ = known;
      return true;
    }
    return trips_to_equality();
  }

  // Loops that run until a register equals a bound: exact when the distance is a multiple of the
  // step, which is tested before the loop; else the loop goes on to a trap.
  bool trips_to_equality() {
    auto* branch = cast<BranchInst>(latch_->getTerminator());
    auto* compare = dyn_cast<ICmpInst>(branch->getCondition());
    if (!compare || !compare->isEquality() || !compare->getOperand(0)->getType()->isIntegerTy(32)) {
      return false;
    }
    const bool ends_when_equal =
        (compare->getPredicate() == CmpInst::ICMP_EQ) == (branch->getSuccessor(0) == exit_);
    if (!ends_when_equal) return false;
    const SCEV* moving = evolution_.getSCEV(compare->getOperand(0));
    const SCEV* bound = evolution_.getSCEV(compare->getOperand(1));
    if (!isa<SCEVAddRecExpr>(moving)) std::swap(moving, bound);
    const auto* runs = dyn_cast<SCEVAddRecExpr>(moving);
    if (!runs || runs->getLoop() != &loop_ || !runs->isAffine() ||
        !evolution_.isLoopInvariant(bound, &loop_)) {
      return false;
    }
    const auto* step = dyn_cast<SCEVConstant>(runs->getStepRecurrence(evolution_));
    if (!step || step->getValue()->isZero()) return false;
    const int64_t by = step->getAPInt().getSExtValue();
    const SCEV* distance = by > 0 ? evolution_.getMinusSCEV(bound, runs->getStart())
                                  : evolution_.getMinusSCEV(runs->getStart(), bound);
    step_ = static_cast<uint32_t>(by > 0 ? by : -by);
    distance_ = distance;
    back_ = evolution_.getUDivExpr(distance, evolution_.getConstant(distance->getType(), step_));
    return true;
  }

  void find_addresses() {
    for (BasicBlock* block : loop_.blocks()) {
      for (Instruction& i : *block) {
        auto* extended = dyn_cast<ZExtInst>(&i);
        if (!extended || !extended->getType()->isIntegerTy(64) ||
            !extended->getOperand(0)->getType()->isIntegerTy(32)) {
          continue;
        }
        const auto* runs = dyn_cast<SCEVAddRecExpr>(evolution_.getSCEV(extended->getOperand(0)));
        if (!runs || runs->getLoop() != &loop_ || !runs->isAffine()) continue;
        const auto* step = dyn_cast<SCEVConstant>(runs->getStepRecurrence(evolution_));
        if (step)
          addresses_.push_back({extended, runs->getStart(), step->getAPInt().getSExtValue()});
      }
    }
  }

  bool can_expand() {
    Instruction* at = loop_.getLoopPreheader()->getTerminator();
    if (!expander_.isSafeToExpandAt(back_, at)) return false;
    if (distance_ && !expander_.isSafeToExpandAt(distance_, at)) return false;
    std::erase_if(addresses_,
                  [&](const Address& a) { return !expander_.isSafeToExpandAt(a.start, at); });
    return true;
  }

  void build() {
    BasicBlock* decide = loop_.getLoopPreheader();
    BasicBlock* slow = SplitBlock(decide, decide->getTerminator(), &tree_, &info_, nullptr, "slow");
    prepare(decide);
    SmallVector<BasicBlock*, 8> blocks;
    Loop* quick_loop =
        cloneLoopWithPreheader(slow, decide, &loop_, map_, ".quick", &info_, &tree_, blocks);
    remapInstructionsInBlocks(blocks, map_);
    quick_ = quick_loop->getLoopPreheader();
    auto* quick_latch = cast<BasicBlock>(map_[latch_]);
    for (PHINode& phi : exit_->phis()) {
      Value* value = phi.getIncomingValueForBlock(latch_);
      const auto copy = map_.find(value);
      phi.addIncoming(copy == map_.end() ? value : static_cast<Value*>(copy->second), quick_latch);
    }
    connect(decide, slow);
    quicken(quick_latch, blocks);
  }

  // Before the loop: trip count, whether addresses stay below 2^32, whether the distance divides.
  void prepare(BasicBlock* decide) {
    Instruction* at = decide->getTerminator();
    IRBuilder<> b(at);
    b.SetCurrentDebugLocation(check_->getDebugLoc());
    auto* wide = b.getInt64Ty();
    Value* back = b.CreateZExt(expander_.expandCodeFor(back_, back_->getType(), at), wide);
    good_ = b.CreateICmpULT(back, b.getInt64(kMostSlice / each_time_));
    trips_ = b.CreateAdd(back, b.getInt64(1));
    if (distance_) {
      Value* distance = expander_.expandCodeFor(distance_, distance_->getType(), at);
      Value* rest = b.CreateURem(distance, b.getInt32(step_));
      good_ = b.CreateAnd(good_, b.CreateICmpEQ(rest, b.getInt32(0)));
    }
    std::map<std::pair<const SCEV*, int64_t>, bool> tested;
    for (const Address& a : addresses_) {
      Value*& start = starts_[a.start];
      if (!start) {
        start = b.CreateZExt(expander_.expandCodeFor(a.start, a.start->getType(), at), wide);
      }
      if (std::exchange(tested[{a.start, a.step}], true)) continue;
      Value* last =
          b.CreateAdd(start, b.CreateMul(back, b.getInt64(static_cast<uint64_t>(a.step))));
      good_ = b.CreateAnd(good_, b.CreateICmpULT(last, b.getInt64(uint64_t{1} << 32)));
    }
    need_ = b.CreateMul(trips_, b.getInt64(each_time_));
  }

  // decide -> enough in the slice? -> quick; else ask the host; else slow.
  void connect(BasicBlock* decide, BasicBlock* slow) {
    LLVMContext& context = function_.getContext();
    auto* fits = BasicBlock::Create(context, "fits", &function_, slow);
    auto* ask = BasicBlock::Create(context, "ask", &function_, slow);
    Value* before = count_->getIncomingValueForBlock(slow);
    Instruction* old = decide->getTerminator();
    IRBuilder<> b(old);
    b.SetCurrentDebugLocation(check_->getDebugLoc());
    b.CreateCondBr(good_, fits, slow);
    old->eraseFromParent();
    b.SetInsertPoint(fits);
    Value* needed = b.CreateShl(need_, b.getInt64(kInstructionShift));
    b.CreateCondBr(b.CreateICmpSGE(before, needed), quick_, ask,
                   MDBuilder(context).createBranchWeights(1000, 1));
    b.SetInsertPoint(ask);
    auto* i64 = b.getInt64Ty();
    auto grant = function_.getParent()->getOrInsertFunction(
        "npc_grant", FunctionType::get(i64, {b.getPtrTy(), i64, i64, b.getInt32Ty()}, false));
    auto* granted =
        b.CreateCall(grant, {function_.getArg(0), before, need_, check_->getArgOperand(2)});
    granted->setDoesNotThrow();
    b.CreateCondBr(b.CreateICmpSGE(granted, needed), quick_, slow);
    const auto merge = [&](BasicBlock* into, BasicBlock* direct, PHINode* phi) {
      IRBuilder<> at(into, into->begin());
      auto* merged = at.CreatePHI(i64, 2);
      merged->addIncoming(before, direct);
      merged->addIncoming(granted, ask);
      phi->setIncomingValueForBlock(into, merged);
      return merged;
    };
    merge(slow, decide, count_);
    quick_count_ = merge(quick_, fits, cast<PHINode>(map_[count_]));
  }

  // No checks, an exact trip count, addresses in 64 bits, the count outside.
  void quicken(BasicBlock* latch, ArrayRef<BasicBlock*> blocks) {
    auto* header = cast<BasicBlock>(map_[loop_.getHeader()]);
    IRBuilder<> b(header, header->begin());
    auto* turn = b.CreatePHI(b.getInt64Ty(), 2);
    auto* branch = cast<BranchInst>(latch->getTerminator());
    b.SetInsertPoint(branch);
    b.SetCurrentDebugLocation(branch->getDebugLoc());
    Value* next = b.CreateAdd(turn, b.getInt64(1), "", true, true);
    turn->addIncoming(b.getInt64(0), quick_);
    turn->addIncoming(next, latch);
    b.CreateCondBr(b.CreateICmpEQ(next, trips_), exit_, header);
    branch->eraseFromParent();
    b.SetInsertPoint(header, header->getFirstInsertionPt());
    for (const Address& a : addresses_) {
      auto* extended = cast<Instruction>(map_[a.extended]);
      Value* distance = b.CreateMul(turn, b.getInt64(static_cast<uint64_t>(a.step)));
      extended->replaceAllUsesWith(b.CreateAdd(starts_.at(a.start), distance));
    }
    if (straight_) count_outside(latch);
    for (BasicBlock* block : blocks) {
      for (Instruction& i : make_early_inc_range(*block)) {
        if (auto* load = dyn_cast<LoadInst>(&i)) load->setVolatile(false);
        const bool count = calls(i, "npc_count");
        if (!calls(i, "npc_check") && !(count && straight_)) continue;
        i.replaceAllUsesWith(cast<CallInst>(i).getArgOperand(count ? 0 : 1));
        i.eraseFromParent();
      }
    }
  }

  void count_outside(BasicBlock* latch) {
    IRBuilder<> b(quick_->getTerminator());
    Value* all = b.CreateAdd(quick_count_,
                             b.CreateMul(trips_, b.getInt64(static_cast<uint64_t>(constant_))));
    for (PHINode& phi : exit_->phis()) {
      const auto* last = dyn_cast<Instruction>(phi.getIncomingValueForBlock(latch));
      if (last && (calls(*last, "npc_check") || calls(*last, "npc_count"))) {
        phi.setIncomingValueForBlock(latch, all);
      }
    }
    auto* phi = cast<PHINode>(map_[count_]);
    phi->setIncomingValueForBlock(latch, phi);
  }

  Loop& loop_;
  llvm::Function& function_;
  LoopInfo& info_;
  DominatorTree& tree_;
  ScalarEvolution& evolution_;
  SCEVExpander expander_;
  BasicBlock* latch_ = nullptr;
  BasicBlock* exit_ = nullptr;
  PHINode* count_ = nullptr;
  CallInst* check_ = nullptr;
  uint64_t each_time_ = 0;  // instructions once around, at most
  int64_t constant_ = 0;    // what once around adds to the count, when it is always the same:
  bool straight_ = true;
  const SCEV* back_ = nullptr;
  const SCEV* distance_ = nullptr;  // must be a multiple of step_
  uint32_t step_ = 1;
  std::vector<Address> addresses_;
  std::map<const SCEV*, Value*> starts_;
  Value* good_ = nullptr;
  Value* trips_ = nullptr;
  Value* need_ = nullptr;
  ValueToValueMapTy map_;
  BasicBlock* quick_ = nullptr;
  PHINode* quick_count_ = nullptr;
};

std::vector<CallInst*> calls_of(llvm::Module& module, const char* name) {
  std::vector<CallInst*> found;
  if (llvm::Function* function = module.getFunction(name)) {
    for (User* user : function->users()) {
      if (auto* call = dyn_cast<CallInst>(user)) found.push_back(call);
    }
  }
  return found;
}

}  // namespace

void quicken_loops(llvm::Function& function, FunctionAnalysisManager& analyses) {
  std::vector<BasicBlock*> headers;
  for (Loop* loop : analyses.getResult<LoopAnalysis>(function).getLoopsInPreorder()) {
    if (loop->isInnermost()) headers.push_back(loop->getHeader());
  }
  for (BasicBlock* header : headers) {
    Loop* loop = analyses.getResult<LoopAnalysis>(function).getLoopFor(header);
    if (loop && loop->getHeader() == header && QuickLoop(*loop, analyses, function).run()) {
      analyses.invalidate(function, PreservedAnalyses::none());
    }
  }
}

void lower_marks(llvm::Module& module) {
  for (CallInst* call : calls_of(module, "npc_count")) {
    IRBuilder<> b(call);
    call->replaceAllUsesWith(b.CreateAdd(call->getArgOperand(0), call->getArgOperand(1)));
    call->eraseFromParent();
  }
  LLVMContext& context = module.getContext();
  auto* i64 = Type::getInt64Ty(context);
  auto slow = module.getOrInsertFunction(
      "npc_slow", FunctionType::get(
                      i64, {PointerType::get(context, 0), i64, Type::getInt32Ty(context)}, false));
  cast<llvm::Function>(slow.getCallee())->addFnAttr(Attribute::Cold);
  for (CallInst* call : calls_of(module, "npc_check")) {
    IRBuilder<> b(call);
    Value* count = call->getArgOperand(1);
    BasicBlock* before = call->getParent();
    Instruction* then =
        SplitBlockAndInsertIfThen(b.CreateICmpSLT(count, b.getInt64(0)), call, false,
                                  MDBuilder(context).createBranchWeights(1, 100000));
    b.SetInsertPoint(then);
    auto* more = b.CreateCall(slow, {call->getArgOperand(0), count, call->getArgOperand(2)});
    more->setDebugLoc(call->getDebugLoc());
    more->setDoesNotThrow();
    b.SetInsertPoint(call);
    auto* result = b.CreatePHI(i64, 2);
    result->addIncoming(more, then->getParent());
    result->addIncoming(count, before);
    call->replaceAllUsesWith(result);
    call->eraseFromParent();
  }
}

}  // namespace anynpu::npc
