// SPDX-License-Identifier: Apache-2.0
// Translates one guest function at a time to LLVM IR. Guest registers are variables that LLVM turns
// into values; arguments and results are passed in host registers. Every instruction gets a debug
// location whose line is its code offset / 2 + 1, which maps a host address back to the guest.
//
// Nothing a kernel does may be undefined behaviour in LLVM: no nsw or fast-math flags, shift counts
// are masked, divisions guarded, conversions saturate, unset registers are zero.
#pragma once

#include <llvm/IR/DIBuilder.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include <map>
#include <optional>
#include <string>

#include "npc/float_services.h"
#include "npc/image.h"
#include "npc/services.h"
#include "npc/translate/host_state.h"
#include "npc/translate/program.h"

namespace anynpu::npc {

class Lifter {
 public:
  Lifter(const Program& program, llvm::Module& module);
  void lift_all();

 private:
  using Value = llvm::Value;

  // lifter.cpp: functions, blocks, ways between them.
  static std::string symbol(const char* prefix, uint32_t entry) {
    return prefix + std::to_string(entry);
  }
  void declare(const Function& f);
  void lift(const Function& f);
  void lift_block(const CodeBlock& block);
  void finish_block(const CodeBlock& block);
  void begin_function(llvm::Function* function, const std::string& name, uint32_t line);
  llvm::BasicBlock* edge(uint32_t from, uint32_t target, bool taken);
  void leave_to(uint32_t from, uint32_t target);
  void check(uint32_t from, uint32_t target);
  void jump_through_table(const JumpTable& table, uint32_t at);
  void check_stack(const CodeBlock& block, uint32_t at);

  // lift_calls.cpp
  llvm::StructType* result_type(const Function& f) const;
  Value* register_value(uint32_t reg);  // as an argument: an int, or a float from 32 on
  void set_register(uint32_t reg, Value* value);
  Value* call_function(uint32_t at, uint32_t target, bool tail);
  llvm::FunctionType* indirect_type();
  llvm::CallInst* call_indirect(uint32_t at, Value* target);
  Value* host_function(Value* target, uint32_t at);
  void take_results(Value* result);
  void return_result(Value* result);  // of a function that was entered without a call
  void return_now();
  void whole_state_in();
  void whole_state_out();
  void add_kernel_entry(const Function& f);
  void add_indirect_entry(const Function& f);

  // lift_services.cpp
  struct Computation {
    Service service;
    uint32_t operation;
  };
  void service(uint32_t at);
  std::optional<uint32_t> constant_before(const Function& f, const CodeBlock& block, uint32_t at,
                                          uint8_t reg) const;
  std::optional<Computation> computation(const Function& f, const CodeBlock& block,
                                         uint32_t at) const;  // that the ecall there asks for
  bool only_computes(const Function& f) const;
  Value* float_function(FloatFunction function);
  Value* double_result(DoubleOp op);

  // lift_instructions.cpp
  void instruction(uint32_t at);
  Value* guest_pointer(Value* reg, int64_t imm);
  Value* guest_load(llvm::Type* type, const Decoded& d);
  void load(const Decoded& d, llvm::Type* type, bool is_signed);
  void store(const Decoded& d, llvm::Type* type, Value* value);
  Value* compute(const Decoded& d, uint32_t at);
  Value* divide(const Decoded& d);
  Value* high_product(const Decoded& d, bool a_signed, bool b_signed);
  void atomic(const Decoded& d, uint32_t at);
  void trap(HostTrap kind, Value* value, uint32_t at);

  void float_instruction(const Decoded& d, uint32_t at);
  void exact_float(const Decoded& d, uint32_t at);
  Value* arithmetic(const Decoded& d, Op op, bool half);  // a single
  Value* fused_half(Value* a, Value* c, Value* addend);
  Value* minimum(const Decoded& d, bool smallest);
  Value* half_minimum(const Decoded& d, bool smallest);
  Value* to_integer(const Decoded& d, llvm::Type* type, bool is_signed);
  Value* compare(const Decoded& d, Op op, llvm::Type* type);
  Value* sign_bits(const Decoded& d, Op op, bool half);
  Value* get_float(uint8_t reg, llvm::Type* type);
  Value* bits_of(Value* value);    // as a float register holds them
  Value* canonical(Value* value);  // with the one NaN that results have
  bool nearest(const Decoded& d) const;

  // State of the core.
  Value* x(uint8_t reg) {
    if (reg == 0) return word(0);
    return b_.CreateLoad(b_.getInt32Ty(), variable(x_[reg], b_.getInt32Ty(), "x"));
  }
  void set_x(uint8_t reg, Value* value) {
    if (reg == 0 || reg > 31) return;
    b_.CreateStore(value, variable(x_[reg], b_.getInt32Ty(), "x"));
  }
  // Bits; the variable is a float, so that values which go around a loop stay in its registers.
  Value* f(uint8_t reg) {
    auto* value = b_.CreateLoad(b_.getFloatTy(), variable(float_[reg], b_.getFloatTy(), "f"));
    return b_.CreateBitCast(value, b_.getInt32Ty());
  }
  void set_f(uint8_t reg, Value* bits) {
    b_.CreateStore(b_.CreateBitCast(bits, b_.getFloatTy()),
                   variable(float_[reg], b_.getFloatTy(), "f"));
  }
  llvm::AllocaInst* variable(llvm::AllocaInst*& slot, llvm::Type* type, const char* name);
  Value* state(size_t offset, llvm::Type* type);
  void set_state(size_t offset, Value* value);
  Value* moving(uint32_t distance);  // image base + distance
  Value* count() {
    return b_.CreateLoad(b_.getInt64Ty(), variable(count_, b_.getInt64Ty(), "count"));
  }
  void set_count(Value* value) {
    b_.CreateStore(value, variable(count_, b_.getInt64Ty(), "count"));
  }
  void flush_count(uint64_t more_cycles = 0);
  llvm::CallInst* helper(const char* name, llvm::Type* result, llvm::ArrayRef<Value*> args);
  Value* word(uint32_t value) { return b_.getInt32(value); }

  const Program& program_;
  const Image& image_;
  llvm::Module& module_;
  llvm::LLVMContext& context_;
  llvm::IRBuilder<> b_;
  llvm::DIBuilder debug_;
  llvm::DIFile* file_ = nullptr;
  llvm::StructType* result_ = nullptr;        // count, a0, a1
  llvm::StructType* float_result_ = nullptr;  // and fa0, fa1
  std::map<uint32_t, llvm::Function*> functions_;
  uint64_t taken_indirectly_ = 0;  // registers that some function reads whose address is taken

  // The function being lifted.
  const Function* f_ = nullptr;
  const CodeBlock* block_ = nullptr;
  llvm::Function* function_ = nullptr;
  llvm::DISubprogram* scope_ = nullptr;
  Value* base_ = nullptr;
  llvm::AllocaInst* x_[32] = {};
  llvm::AllocaInst* float_[32] = {};
  llvm::AllocaInst* count_ = nullptr;
  std::map<uint32_t, llvm::BasicBlock*> blocks_;
  std::map<uint32_t, llvm::AllocaInst*> table_index_;  // by offset of the jr
  uint64_t instructions_ = 0, cycles_ = 0;             // of this block, not counted yet
};

}  // namespace anynpu::npc
