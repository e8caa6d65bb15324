// SPDX-License-Identifier: Apache-2.0
// Checks whether a function follows the calling convention. Registers are tracked from the entry:
// their original value, offsets from the stack pointer, anything else. A function that saves a
// callee-saved register, restores it on all paths and does nothing else with the saved value needs
// neither the store nor the load on the host. What cannot be proved is refused, and kernels that
// reach it are interpreted.
#include <array>
#include <cstdlib>
#include <deque>

#include "base/format.h"
#include "npc/image.h"
#include "npc/translate/operands.h"
#include "npc/translate/program.h"

namespace anynpu::npc {

namespace {

struct Value {
  enum Kind : uint8_t { other, entry, stack, undefined } kind = other;
  int32_t number = 0;  // entry: the register; stack: distance from the stack pointer at entry
  bool operator==(const Value&) const = default;
};

struct State {
  std::array<Value, 64> reg{};
  std::map<int32_t, uint8_t> slots;  // saved registers by distance from the stack pointer at entry
  bool operator==(const State&) const = default;
};

State at_entry(const Function& function) {
  State s;
  const uint64_t arguments = function.open ? convention::kArguments : convention::kNotKept;
  for (uint8_t r = 0; r < 64; ++r) {
    if ((arguments & bit(r)) || r == 0 || r == 3 || r == 4) continue;  // gp and tp never change
    s.reg[r] = callee_saved(r) || r == convention::kRa ? Value{Value::entry, r}
                                                       : Value{Value::undefined, 0};
  }
  s.reg[convention::kSp] = {Value::stack, 0};
  return s;
}

// What is known on both ways. Undefined on one of them counts as defined: compilers leave registers
// unset on ways that do not use them.
Value meet(Value a, Value b) {
  if (a == b) return a;
  if (a.kind == Value::undefined && b.kind == Value::other) return b;
  return {};
}

bool meet_into(State& into, const State& from) {
  State result = into;
  for (int r = 0; r < 64; ++r) result.reg[r] = meet(into.reg[r], from.reg[r]);
  std::erase_if(result.slots, [&](const auto& slot) {
    const auto other = from.slots.find(slot.first);
    return other == from.slots.end() || other->second != slot.second;
  });
  if (result == into) return false;
  into = std::move(result);
  return true;
}

class Frame {
 public:
  Frame(const Program& program, Function& function)
      : image_(*program.image), program_(program), function_(function) {}

  void run() {
    states_[function_.entry] = at_entry(function_);
    std::deque<uint32_t> open{function_.entry};
    while (!open.empty()) {
      const uint32_t begin = open.front();
      open.pop_front();
      State state = states_.at(begin);
      const CodeBlock& block = function_.code.at(begin);
      for (uint32_t at = begin; at < block.end; at += image_.code[at / 2].half_words * 2u) {
        step(state, at, false);
      }
      for (const uint32_t next : block.targets) {
        if (!function_.code.contains(next)) continue;
        const auto known = states_.find(next);
        if (known == states_.end()) {
          states_.emplace(next, state);
        } else if (!meet_into(known->second, state)) {
          continue;
        }
        open.push_back(next);
      }
    }
    for (const auto& [begin, block] : function_.code) {
      const auto known = states_.find(begin);
      if (known == states_.end()) continue;
      State state = known->second;
      for (uint32_t at = begin; at < block.end; at += image_.code[at / 2].half_words * 2u) {
        step(state, at, true);
      }
      check_exit(state, block);
    }
  }

 private:
  void refuse(uint32_t at, std::string_view why) {
    if (function_.refusal.empty()) function_.refusal = format("at {:#x} it {}", at, why);
  }

  void check_reads(const State& state, uint32_t at, const Decoded& d, uint64_t reads) {
    for (uint32_t r = 1; r < 64; ++r) {
      if (!(reads & bit(r))) continue;
      if (state.reg[r].kind == Value::undefined) {
        refuse(at, format("reads {}{}, which nobody set", r < 32 ? "x" : "f", r % 32));
      } else if (state.reg[r].kind == Value::entry) {
        refuse(at, format("uses the caller's x{}", r));
      }
    }
  }

  // `final`: note saves and restores, and refuse.
  void step(State& s, uint32_t at, bool final) {
    const Decoded& d = image_.code[at / 2];
    Operands o = operands_of(d);
    if (d.op == Op::sw && s.reg[d.rs1].kind == Value::stack) {
      const int32_t slot = s.reg[d.rs1].number + d.imm;
      const Value saved = s.reg[d.rs2];
      std::erase_if(s.slots, [&](const auto& other) { return std::abs(other.first - slot) < 4; });
      if (saved.kind == Value::entry) {
        s.slots[slot] = static_cast<uint8_t>(saved.number);
        if (final) function_.saves.insert(at);
        return;
      }
    } else if (o.writes == kNoRegister && d.op >= Op::sb && d.op <= Op::sh &&
               s.reg[d.rs1].kind == Value::stack) {
      const int32_t to = s.reg[d.rs1].number + d.imm;
      std::erase_if(s.slots,
                    [&](const auto& slot) { return to > slot.first - 2 && to < slot.first + 4; });
    } else if (d.op == Op::lw && s.reg[d.rs1].kind == Value::stack) {
      const auto slot = s.slots.find(s.reg[d.rs1].number + d.imm);
      if (slot != s.slots.end()) {
        if (d.rd < 32) s.reg[d.rd] = {Value::entry, slot->second};
        if (final) function_.restores.insert(at);
        return;
      }
    }
    const bool returns = d.op == Op::jalr && d.rd == kDiscard && d.rs1 == convention::kRa;
    if (final && !returns) check_reads(s, at, d, o.reads);
    if (final && (o.writes == 3 || o.writes == 4)) refuse(at, "changes gp or tp");
    const auto call = function_.calls.find(at);
    if (call != function_.calls.end()) {
      if (final) function_.passed[at] = set_in(s);
      after_call(s, call->second != kIndirect && !program_.functions.at(call->second).open);
    } else if (d.op == Op::ecall) {
      s.reg[convention::kA0] = s.reg[convention::kA0 + 1] = {};
    } else if (o.writes != kNoRegister) {
      s.reg[o.writes] = result_of(s, d);
    }
  }

  // Registers that may hold arguments.
  static uint64_t set_in(const State& s) {
    uint64_t set = 0;
    for (uint32_t r = 1; r < 64; ++r) {
      if (s.reg[r].kind != Value::undefined) set |= bit(r);
    }
    return set;
  }

  static Value result_of(const State& s, const Decoded& d) {
    if (d.op == Op::addi && d.rs1 != 0 && s.reg[d.rs1].kind == Value::stack) {
      return {Value::stack, s.reg[d.rs1].number + d.imm};
    }
    if (d.op == Op::addi && d.imm == 0 && d.rs1 != 0 && s.reg[d.rs1].kind == Value::entry)
      return s.reg[d.rs1];
    return {};
  }

  static void after_call(State& s, bool floats) {
    for (uint8_t r = 1; r < 64; ++r) {
      if (callee_saved(r) || r == convention::kSp || r == 3 || r == 4) continue;
      s.reg[r] = {Value::undefined, 0};
    }
    s.reg[convention::kRa] = {};
    s.reg[convention::kA0] = s.reg[convention::kA0 + 1] = {};
    if (floats) s.reg[convention::kFa0] = s.reg[convention::kFa0 + 1] = {};
  }

  // Where the function is left, the caller's registers hold what they held.
  void check_exit(const State& s, const CodeBlock& block) {
    const uint32_t last = block.last;
    const Decoded& d = image_.code[last / 2];
    const bool returns =
        d.op == Op::jalr && d.rd == kDiscard && d.rs1 == convention::kRa && d.imm == 0;
    bool leaves = returns || function_.jumps.contains(last);
    for (const uint32_t target : block.targets) {
      leaves |= !function_.code.contains(target);
    }
    if (!leaves) return;
    if (!returns) function_.passed[last] = set_in(s);
    for (uint8_t r = 1; r < 32; ++r) {
      if ((callee_saved(r) || r == convention::kRa) && s.reg[r] != Value{Value::entry, r}) {
        refuse(last, format("leaves with x{} changed", r));
      }
    }
    if (s.reg[convention::kSp] != Value{Value::stack, 0})
      refuse(last, "leaves with the stack pointer changed");
  }

  const Image& image_;
  const Program& program_;
  Function& function_;
  std::map<uint32_t, State> states_;
};

}  // namespace

void check_frame(Program& program, Function& function) {
  if (function.refusal.empty()) Frame(program, function).run();
}

}  // namespace anynpu::npc
