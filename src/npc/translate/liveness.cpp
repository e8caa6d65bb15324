// SPDX-License-Identifier: Apache-2.0
// Arguments: which of a0-a7 a function reads, and which of a0 and a1 its callers read after it.
// Both are sets that only grow, over all functions until nothing changes.
#include <utility>

#include "npc/image.h"
#include "npc/translate/operands.h"
#include "npc/translate/program.h"

namespace anynpu::npc {

namespace {

constexpr uint64_t kArguments = 0xffull << convention::kA0;
constexpr uint64_t kResults = 3ull << convention::kA0;

class Liveness {
 public:
  explicit Liveness(Program& program) : program_(program), image_(*program.image) {}

  void run() {
    for (auto& [entry, f] : program_.functions) {
      if (f.address_taken) f.returns = 3;
    }
    do {
      changed_ = false;
      for (auto& [entry, f] : program_.functions) visit(f);
    } while (changed_);
  }

 private:
  uint64_t takes(const Function& f, uint32_t at, uint32_t target) const {
    if (target == kIndirect) {
      const auto passed = f.passed.find(at);  // none: code that is never reached
      return passed == f.passed.end() ? 0 : uint64_t{passed->second} << convention::kA0;
    }
    return uint64_t{program_.functions.at(target).takes} << convention::kA0;
  }

  void wants(uint32_t target, uint64_t live) {
    if (target == kIndirect) return;
    Function& callee = program_.functions.at(target);
    const auto returns =
        static_cast<uint8_t>(callee.returns | ((live & kResults) >> convention::kA0));
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
    const auto taken = static_cast<uint8_t>((live_in[f.entry] & kArguments) >> convention::kA0);
    changed_ |= taken != f.takes;
    f.takes = taken;
  }

  uint64_t through(Function& f, const CodeBlock& block, std::map<uint32_t, uint64_t>& live_in) {
    const uint64_t results = uint64_t{f.returns} << convention::kA0;
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
        live = (live & ~(kArguments)) | takes(f, *at, call->second);
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
        live = (live & ~kResults) | kArguments;
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
