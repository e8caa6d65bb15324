// SPDX-License-Identifier: Apache-2.0
#include "npc/jit/lifter.h"

#include "npc/translate/operands.h"

namespace anynpu::npc {

using namespace llvm;

namespace {

bool is_branch(Op op) { return op >= Op::beq && op <= Op::bgeu; }

bool ends_block(const Decoded& d, bool call) {
  if (d.op == Op::jal || d.op == Op::jalr) return !call;
  return is_branch(d.op) || d.op == Op::ebreak || d.op == Op::illegal || d.op == Op::past_end;
}

}  // namespace

Lifter::Lifter(const Program& program, llvm::Module& module)
    : program_(program),
      image_(*program.image),
      module_(module),
      context_(module.getContext()),
      b_(context_),
      debug_(module) {
  file_ = debug_.createFile("guest", "");
  debug_.createCompileUnit(dwarf::DW_LANG_C, file_, "anynpu", true, "", 0, "",
                           DICompileUnit::LineTablesOnly);
  module.addModuleFlag(llvm::Module::Warning, "Debug Info Version", DEBUG_METADATA_VERSION);
  module.addModuleFlag(llvm::Module::Warning, "Dwarf Version", 4);
  result_ = StructType::get(b_.getInt64Ty(), b_.getInt32Ty(), b_.getInt32Ty());
  float_result_ = StructType::get(b_.getInt64Ty(), b_.getInt32Ty(), b_.getInt32Ty(),
                                  b_.getFloatTy(), b_.getFloatTy());
}

void Lifter::lift_all() {
  if (program_.whole_state) {
    const auto& f = program_.functions.begin()->second;
    f_ = &f;
    functions_[f.entry] = llvm::Function::Create(
        FunctionType::get(b_.getInt64Ty(), {b_.getPtrTy(), b_.getInt64Ty()}, false),
        GlobalValue::ExternalLinkage, symbol("kernel_", f.entry), module_);
    lift(f);
    debug_.finalize();
    return;
  }
  const auto& reached = program_.translated;
  for (const uint32_t entry : reached) {
    const Function& f = program_.functions.at(entry);
    declare(f);
    if (f.address_taken) taken_indirectly_ |= f.takes;
  }
  for (const uint32_t entry : reached) lift(program_.functions.at(entry));
  for (const uint32_t entry : program_.kernels) add_kernel_entry(program_.functions.at(entry));
  for (const uint32_t entry : reached) {
    const Function& f = program_.functions.at(entry);
    if (f.address_taken) add_indirect_entry(f);
  }
  debug_.finalize();
}

void Lifter::declare(const Function& f) {
  std::vector<Type*> types{b_.getPtrTy(), b_.getInt64Ty(), b_.getInt32Ty()};
  for (uint32_t r = 0; r < 64; ++r) {
    if (f.takes & bit(r)) types.push_back(r < 32 ? b_.getInt32Ty() : b_.getFloatTy());
  }
  auto* function =
      llvm::Function::Create(FunctionType::get(result_type(f), types, false),
                             GlobalValue::InternalLinkage, symbol("f_", f.entry), module_);
  function->addParamAttr(0, Attribute::SwiftSelf);  // a register that calls leave alone
  if (only_computes(f)) function->addFnAttr(Attribute::AlwaysInline);
  functions_[f.entry] = function;
}

void Lifter::begin_function(llvm::Function* function, const std::string& name, uint32_t line) {
  function_ = function;
  function->addFnAttr(Attribute::NoUnwind);
  function->addFnAttr(Attribute::NullPointerIsValid);
  function->addParamAttr(0, Attribute::NoAlias);
  auto* type = debug_.createSubroutineType(debug_.getOrCreateTypeArray({}));
  scope_ = debug_.createFunction(file_, name, name, file_, 1, type, 1, DINode::FlagZero,
                                 DISubprogram::SPFlagDefinition | DISubprogram::SPFlagOptimized);
  function->setSubprogram(scope_);
  for (auto& slot : x_) slot = nullptr;
  for (auto& slot : float_) slot = nullptr;
  count_ = nullptr;
  table_index_.clear();
  blocks_.clear();
  instructions_ = cycles_ = 0;
  b_.SetInsertPoint(BasicBlock::Create(context_, "entry", function));
  b_.SetCurrentDebugLocation(DILocation::get(context_, line, 0, scope_));
  base_ = function->getArg(0);
  set_count(function->getArg(1));
}

void Lifter::lift(const Function& f) {
  f_ = &f;
  begin_function(functions_.at(f.entry), f.name, f.entry / 2 + 1);
  if (program_.whole_state) {
    whole_state_in();
  } else {
    set_x(convention::kSp, function_->getArg(2));
    unsigned next = 3;
    for (uint32_t r = 0; r < 64; ++r) {
      if (f.takes & bit(r)) set_register(r, function_->getArg(next++));
    }
    set_x(3, state(offsetof(HostState, x) + 12, b_.getInt32Ty()));
    set_x(4, state(offsetof(HostState, x) + 16, b_.getInt32Ty()));
    // Recursion without loops must see the budget too.
    if (f.recursive) {
      set_count(helper("npc_check", b_.getInt64Ty(), {base_, count(), word(f.entry)}));
    }
  }
  for (const auto& [begin, block] : f.code) {
    blocks_[begin] = BasicBlock::Create(context_, "b" + std::to_string(begin), function_);
  }
  b_.CreateBr(blocks_.at(f.entry));
  for (const auto& [begin, block] : f.code) lift_block(block);
}

void Lifter::lift_block(const CodeBlock& block) {
  b_.SetInsertPoint(blocks_.at(block.begin));
  block_ = &block;
  instructions_ = cycles_ = 0;
  bool saved = false;
  for (uint32_t at = block.begin; at < block.end; at += image_.code[at / 2].half_words * 2u) {
    const Decoded& d = image_.code[at / 2];
    b_.SetCurrentDebugLocation(DILocation::get(context_, at / 2 + 1, 0, scope_));
    const bool save = f_->saves.contains(at);
    if (save && !saved) check_stack(block, at);
    saved |= save;
    if (ends_block(d, f_->calls.contains(at))) {
      finish_block(block);
      return;
    }
    ++instructions_;
    cycles_ += d.cycles;
    if (save || f_->restores.contains(at)) continue;
    if (const auto called = f_->calls.find(at); called != f_->calls.end()) {
      Value* target = nullptr;
      if (called->second == kIndirect) target = x(d.rs1);
      if (target) {
        target = b_.CreateAnd(b_.CreateAdd(target, word(static_cast<uint32_t>(d.imm))), word(~1u));
        // A bad target traps before the call counts.
        --instructions_, cycles_ -= d.cycles;
        target = host_function(target, at);
        ++instructions_, cycles_ += d.cycles;
      }
      flush_count();
      Value* result = nullptr;
      if (target) {
        result = call_indirect(at, target);
      } else {
        result = call_function(at, called->second, false);
      }
      take_results(result);
      set_x(convention::kRa, moving(at + d.half_words * 2u));
      continue;
    }
    instruction(at);
  }
  // Falls into the next block, or into another function.
  flush_count();
  if (block.targets.empty()) return trap(HostTrap::lost, moving(block.end), block.last);
  leave_to(block.last, block.end);
}

// Saved registers are not stored on the host; the stack of the guest still ends where it ends: the
// lowest place of this frame is touched.
void Lifter::check_stack(const CodeBlock& block, uint32_t at) {
  const uint8_t base = image_.code[at / 2].rs1;
  int32_t lowest = image_.code[at / 2].imm;
  for (uint32_t o = at; o < block.end; o += image_.code[o / 2].half_words * 2u) {
    if (f_->saves.contains(o) && image_.code[o / 2].rs1 == base) {
      lowest = std::min(lowest, image_.code[o / 2].imm);
    }
  }
  b_.CreateAlignedStore(word(0), guest_pointer(x(base), lowest), Align(1), true);
}

// On a way back. Not behind a call in the same block of a function that checks at its start.
void Lifter::check(uint32_t from, uint32_t target) {
  const CodeBlock& block = std::prev(f_->code.upper_bound(from))->second;
  for (auto call = f_->calls.lower_bound(block.begin);
       call != f_->calls.end() && call->first < block.end; ++call) {
    if (call->second != kIndirect && program_.functions.at(call->second).recursive) return;
  }
  set_count(helper("npc_check", b_.getInt64Ty(), {base_, count(), word(target)}));
}

// To a block of this function or into another one; the count is up to date.
void Lifter::leave_to(uint32_t from, uint32_t target) {
  if (const auto block = blocks_.find(target); block != blocks_.end()) {
    if (f_->back_edges.contains({from, target})) check(from, target);
    b_.CreateBr(block->second);
    return;
  }
  if (program_.whole_state || !functions_.contains(target)) {
    trap(HostTrap::lost, moving(target), from);
    return;
  }
  return_result(call_function(from, target, true));
}

BasicBlock* Lifter::edge(uint32_t from, uint32_t target, bool taken) {
  auto* block = BasicBlock::Create(context_, taken ? "taken" : "next", function_);
  const auto here = b_.saveIP();
  const uint64_t instructions = instructions_, cycles = cycles_;
  b_.SetInsertPoint(block);
  flush_count(taken ? 1 : 0);
  leave_to(from, target);
  instructions_ = instructions, cycles_ = cycles;
  b_.restoreIP(here);
  return block;
}

void Lifter::finish_block(const CodeBlock& block) {
  const uint32_t at = block.last;
  const Decoded& d = image_.code[at / 2];
  if (is_branch(d.op)) {
    ++instructions_;
    cycles_ += d.cycles;
    static constexpr CmpInst::Predicate how[] = {CmpInst::ICMP_EQ,  CmpInst::ICMP_NE,
                                                 CmpInst::ICMP_SLT, CmpInst::ICMP_SGE,
                                                 CmpInst::ICMP_ULT, CmpInst::ICMP_UGE};
    Value* condition =
        b_.CreateICmp(how[static_cast<int>(d.op) - static_cast<int>(Op::beq)], x(d.rs1), x(d.rs2));
    const uint32_t target = at + static_cast<uint32_t>(d.imm);
    if (const auto back = blocks_.find(target);
        back != blocks_.end() && f_->back_edges.contains({at, target})) {
      // The way back is counted and checked before the branch, so that it ends the loop's block;
      // the way on takes the cycle of a taken branch off again.
      flush_count(1);
      check(at, target);
      auto* next = BasicBlock::Create(context_, "next", function_);
      b_.CreateCondBr(condition, back->second, next);
      b_.SetInsertPoint(next);
      set_count(helper("npc_count", b_.getInt64Ty(), {count(), b_.getInt64(~0ull)}));
      leave_to(at, block.end);
      return;
    }
    if (const auto back = blocks_.find(block.end);
        back != blocks_.end() && f_->back_edges.contains({at, block.end})) {
      // The same when the loop goes on where the branch is not taken.
      auto* taken = BasicBlock::Create(context_, "taken", function_);
      flush_count();
      check(at, block.end);
      b_.CreateCondBr(condition, taken, back->second);
      b_.SetInsertPoint(taken);
      set_count(helper("npc_count", b_.getInt64Ty(), {count(), b_.getInt64(1)}));
      leave_to(at, target);
      return;
    }
    auto* taken = edge(at, target, true);
    auto* next = edge(at, block.end, false);
    b_.CreateCondBr(condition, taken, next);
    return;
  }
  switch (d.op) {
    case Op::ebreak:
      return trap(HostTrap::breakpoint, word(0), at);
    case Op::illegal:
      return trap(HostTrap::illegal, word(0), at);
    case Op::past_end:
      return trap(HostTrap::past_end, word(0), at);
    case Op::jal:
      ++instructions_;
      cycles_ += d.cycles;
      flush_count();
      return leave_to(at, at + static_cast<uint32_t>(d.imm));
    default:
      break;
  }
  if (const auto table = f_->tables.find(at); table != f_->tables.end()) {
    return jump_through_table(table->second, at);
  }
  const auto jump = f_->jumps.find(at);
  if (jump == f_->jumps.end()) {
    ++instructions_;
    cycles_ += d.cycles;
    flush_count();
    return return_now();
  }
  Value* target = nullptr;
  if (jump->second == kIndirect) {
    target = b_.CreateAdd(x(d.rs1), word(static_cast<uint32_t>(d.imm)));
    target = host_function(b_.CreateAnd(target, word(~1u)), at);
  }
  ++instructions_;
  cycles_ += d.cycles;
  flush_count();
  if (!target) {
    return_result(call_function(at, jump->second, true));
    return;
  }
  CallInst* call = call_indirect(at, target);
  call->setTailCallKind(CallInst::TCK_Tail);
  b_.CreateRet(call);
}

void Lifter::jump_through_table(const JumpTable& table, uint32_t at) {
  const Decoded& d = image_.code[at / 2];
  ++instructions_;
  cycles_ += d.cycles;
  auto* otherwise = BasicBlock::Create(context_, "otherwise", function_);
  auto* lost = BasicBlock::Create(context_, "lost", function_);
  // The distance from the table's start that the load used; other ways to the jump carry none.
  Value* distance =
      b_.CreateLoad(b_.getInt32Ty(), variable(table_index_[at], b_.getInt32Ty(), "index"));
  flush_count();
  std::map<uint32_t, BasicBlock*> ways;
  auto* choice = b_.CreateSwitch(distance, otherwise, table.targets.size());
  for (size_t i = 0; i < table.targets.size(); ++i) {
    BasicBlock*& way = ways[table.targets[i]];
    if (!way) {
      const auto here = b_.saveIP();
      way = BasicBlock::Create(context_, "case", function_);
      b_.SetInsertPoint(way);
      leave_to(at, table.targets[i]);
      b_.restoreIP(here);
    }
    choice->addCase(b_.getInt32(static_cast<uint32_t>(i) * 4), way);
  }
  b_.SetInsertPoint(otherwise);
  auto* by_address = b_.CreateSwitch(b_.CreateSub(x(d.rs1), moving(0)), lost);
  for (const auto& [target, way] : ways) by_address->addCase(b_.getInt32(target), way);
  b_.SetInsertPoint(lost);
  trap(HostTrap::lost, x(d.rs1), at);
}

// State of the core.

AllocaInst* Lifter::variable(AllocaInst*& slot, Type* type, const char* name) {
  if (!slot) {
    BasicBlock& entry = function_->getEntryBlock();
    IRBuilder<> at(&entry, entry.begin());
    slot = at.CreateAlloca(type, nullptr, name);
    at.CreateStore(Constant::getNullValue(type), slot);
  }
  return slot;
}

void Lifter::flush_count(uint64_t more_cycles) {
  if (instructions_ + cycles_ + more_cycles == 0) return;
  auto* constant =
      b_.getInt64(static_cast<uint64_t>(count_of(instructions_, cycles_ + more_cycles)));
  set_count(helper("npc_count", b_.getInt64Ty(), {count(), constant}));
  instructions_ = cycles_ = 0;
}

Lifter::Value* Lifter::state(size_t offset, Type* type) {
  const int64_t distance = static_cast<int64_t>(offset) - static_cast<int64_t>(kStateDistance);
  Value* at = b_.CreateGEP(b_.getInt8Ty(), base_, b_.getInt64(static_cast<uint64_t>(distance)));
  auto* load = b_.CreateLoad(type, at);
  const bool fixed = offset < offsetof(HostState, x) || offset == offsetof(HostState, x) + 12 ||
                     offset == offsetof(HostState, x) + 16;
  if (fixed && !program_.whole_state) {
    load->setMetadata(LLVMContext::MD_invariant_load, MDNode::get(context_, {}));
  }
  return load;
}

void Lifter::set_state(size_t offset, Value* value) {
  const int64_t distance = static_cast<int64_t>(offset) - static_cast<int64_t>(kStateDistance);
  b_.CreateStore(value,
                 b_.CreateGEP(b_.getInt8Ty(), base_, b_.getInt64(static_cast<uint64_t>(distance))));
}

Lifter::Value* Lifter::moving(uint32_t distance) {
  Value* base = state(offsetof(HostState, image_base), b_.getInt32Ty());
  return distance == 0 ? base : b_.CreateAdd(base, word(distance));
}

CallInst* Lifter::helper(const char* name, Type* result, ArrayRef<Value*> args) {
  std::vector<Type*> types;
  for (Value* arg : args) types.push_back(arg->getType());
  auto callee = module_.getOrInsertFunction(name, FunctionType::get(result, types, false));
  auto* call = b_.CreateCall(callee, args);
  call->setDoesNotThrow();
  return call;
}

}  // namespace anynpu::npc
