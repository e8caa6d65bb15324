// SPDX-License-Identifier: Apache-2.0
// Arguments: which registers a function reads, and which results its callers read after it. Both
// are sets that only grow, over all functions until nothing changes.
#include <bit>
#include <utility>

#include "base/format.h"
#include "npc/image.h"
#include "npc/translate/operands.h"
#include "npc/translate/program.h"

namespace anynpu::npc {

namespace {

class Liveness {
 public:
  explicit Liveness(Program& program) : program_(program), image_(*program.image) {}

  void run() {
    for (auto& [entry, f] : program_.functions) {
      if (f.address_taken) f.returns = convention::kResults & convention::kArguments;
    }
    do {
      changed_ = false;
      for (auto& [entry, f] : program_.functions) visit(f);
    } while (changed_);
    for (auto& [entry, f] : program_.functions) check_passed(f);
  }

 private:
  // What a callee reads beside a0-a7 was set by its caller.
  void check_passed(Function& f) {
    const auto check = [&](uint32_t at, uint32_t target, bool leaves) {
      if (!f.refusal.empty()) return;
      const bool open = target == kIndirect || program_.functions.at(target).open;
      if (leaves && open && (f.returns & convention::kFloatResults)) {
        f.refusal = format("at {:#x} it leaves its float result to a function that has none", at);
      }
      if (target == kIndirect) return;
      const auto passed = f.passed.find(at);  // none: code that is never reached
      if (passed == f.passed.end()) return;
      const Function& callee = program_.functions.at(target);
      const uint64_t missing = callee.takes & ~convention::kArguments & ~passed->second;
      if (missing == 0) return;
      const int r = std::countr_zero(missing);
      f.refusal = format("at {:#x} it goes to '{}', which reads {}{} that nobody set", at,
                         callee.name, r < 32 ? "x" : "f", r % 32);
    };
    for (const auto& [at, target] : f.calls) check(at, target, false);
    for (const auto& [at, target] : f.jumps) check(at, target, true);
    for (const auto& [begin, block] : f.code) {
      for (const uint32_t target : block.targets) {
        if (!f.code.contains(target)) check(block.last, target, true);
      }
    }
  }

  uint64_t takes(const Function& f, uint32_t at, uint32_t target) const {
    if (target == kIndirect) {
      const auto passed = f.passed.find(at);  // none: code that is never reached
      return passed == f.passed.end() ? 0 : passed->second & convention::kArguments;
    }
    return program_.functions.at(target).takes;
  }

  void wants(uint32_t target, uint64_t live) {
    if (target == kIndirect) return;
    Function& callee = program_.functions.at(target);
    const uint64_t floats = callee.open ? 0 : convention::kFloatResults;
    const uint64_t returns =
        callee.returns | (live & ((convention::kResults & convention::kArguments) | floats));
    changed_ |= returns != callee.returns;
    callee.returns = returns;
  }

  void visit(Function& f) {
    std::map<uint32_t, uint64_t> live_in;
    bool again = true;
    while (again) {
      again = false;
      for (auto block = f.code.rbegin(); block != f.code.rend(); ++block) {
        const uint64_t live = through(f, block->second, live_in);
        again |= std::exchange(live_in[block->first], live) != live;
      }
    }
    const uint64_t taken =
        live_in[f.entry] & (f.open ? convention::kArguments : convention::kNotKept);
    changed_ |= taken != f.takes;
    f.takes = taken;
  }

  uint64_t through(Function& f, const CodeBlock& block, std::map<uint32_t, uint64_t>& live_in) {
    const uint64_t results = f.returns;
    uint64_t live = 0;
    for (const uint32_t target : block.targets) {
      if (f.code.contains(target)) {
        live |= live_in[target];
      } else {
        live |= takes(f, block.last, target);
        wants(target, results);
      }
    }
    std::vector<uint32_t> order;
    for (uint32_t at = block.begin; at < block.end; at += image_.code[at / 2].half_words * 2u) {
      order.push_back(at);
    }
    for (auto at = order.rbegin(); at != order.rend(); ++at) {
      const Decoded& d = image_.code[*at / 2];
      if (const auto call = f.calls.find(*at); call != f.calls.end()) {
        wants(call->second, live);
        live = (live & ~convention::kNotKept) | takes(f, *at, call->second);
        live |= operands_of(d).reads;
        continue;
      }
      if (const auto jump = f.jumps.find(*at); jump != f.jumps.end()) {
        wants(jump->second, results);
        live = takes(f, *at, jump->second) | operands_of(d).reads;
        continue;
      }
      if (d.op == Op::jalr && block.targets.empty()) {  // return
        live = results;
        continue;
      }
      if (d.op == Op::ecall) {
        live = (live & ~(3ull << convention::kA0)) | convention::kArguments;
        continue;
      }
      if (f.saves.contains(*at) || f.restores.contains(*at)) continue;
      const Operands o = operands_of(d);
      if (o.writes != kNoRegister) live &= ~bit(o.writes);
      live |= o.reads;
    }
    return live;
  }

  Program& program_;
  const Image& image_;
  bool changed_ = false;
};

}  // namespace

void find_arguments(Program& program) { Liveness(program).run(); }

}  // namespace anynpu::npc
