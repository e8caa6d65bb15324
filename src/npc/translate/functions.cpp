// SPDX-License-Identifier: Apache-2.0
// Functions and their blocks: from the symbols and from what calls reach.
#include <optional>

#include "base/format.h"
#include "npc/image.h"
#include "npc/translate/operands.h"
#include "npc/translate/program.h"

namespace anynpu::npc {

namespace {

bool is_branch(Op op) { return op >= Op::beq && op <= Op::bgeu; }

// Walks one function from its entry.
class Walk {
 public:
  Walk(const Image& image, std::set<uint32_t>& entries, Function& function)
      : image_(image), entries_(entries), function_(function) {}

  void run() {
    std::vector<uint32_t> open{function_.entry};
    while (!open.empty()) {
      const uint32_t begin = open.back();
      open.pop_back();
      if (function_.code.contains(begin)) continue;
      split_at(begin);
      if (function_.code.contains(begin)) continue;
      follow(begin, open);
    }
  }

 private:
  // A block that was walked over `begin` ends there.
  void split_at(uint32_t begin) {
    auto after = function_.code.upper_bound(begin);
    if (after == function_.code.begin()) return;
    CodeBlock& block = std::prev(after)->second;
    if (begin >= block.end || !starts_instruction(block, begin)) return;
    function_.code[begin] = CodeBlock{.begin = begin, .end = block.end};
    block.end = begin;
  }

  bool starts_instruction(const CodeBlock& block, uint32_t offset) const {
    uint32_t at = block.begin;
    while (at < offset) at += image_.code[at / 2].half_words * 2u;
    return at == offset;
  }

  void follow(uint32_t begin, std::vector<uint32_t>& open) {
    uint32_t at = begin;
    for (;;) {
      const Decoded& d = image_.code[at / 2];
      const uint32_t next = at + d.half_words * 2u;
      seen_.insert(at);
      if (ends_block(d, at, next, open)) {
        function_.code[begin] = CodeBlock{.begin = begin, .end = next};
        return;
      }
      const uint32_t last = at;
      at = next;
      if (leaves(at) || function_.code.contains(at)) {
        function_.code[begin] = CodeBlock{.begin = begin, .end = at};
        // Behind a call of a function that never returns, the next function may start.
        if (leaves(at) && !function_.calls.contains(last)) function_.tails.insert(at);
        return;
      }
    }
  }

  // Another function starts there.
  bool leaves(uint32_t at) const { return at != function_.entry && entries_.contains(at); }

  void go(uint32_t target, std::vector<uint32_t>& open) {
    if (target >= image_.code_bytes || (target & 1)) {
      function_.refusal = format("it jumps to {:#x}, outside the code", target);
    } else if (leaves(target)) {
      function_.tails.insert(target);
    } else {
      open.push_back(target);
    }
  }

  bool ends_block(const Decoded& d, uint32_t at, uint32_t next, std::vector<uint32_t>& open) {
    if (is_branch(d.op)) {
      go(at + static_cast<uint32_t>(d.imm), open);
      go(next, open);
      return true;
    }
    switch (d.op) {
      case Op::jal:
        return jal(d, at, open);
      case Op::jalr:
        return jalr(d, at, open);
      case Op::ebreak:
      case Op::illegal:
      case Op::past_end:
        return true;
      default:
        return false;
    }
  }

  bool jal(const Decoded& d, uint32_t at, std::vector<uint32_t>& open) {
    const uint32_t target = at + static_cast<uint32_t>(d.imm);
    if (d.rd == kDiscard) {
      go(target, open);
      return true;
    }
    call(d, at, target);
    return false;
  }

  void call(const Decoded& d, uint32_t at, uint32_t target) {
    if (d.rd != convention::kRa) {
      function_.refusal = format("it calls with the return address in x{}", d.rd);
    } else if (target >= image_.code_bytes || (target & 1)) {
      function_.refusal = format("it calls {:#x}, outside the code", target);
    } else {
      function_.calls[at] = target;
      entries_.insert(target);
    }
  }

  bool jalr(const Decoded& d, uint32_t at, std::vector<uint32_t>& open) {
    if (const auto target = pair_target(d, at)) {
      if (d.rd != kDiscard) {
        call(d, at, *target);
        return false;
      }
      if (*target < image_.code_bytes && !(*target & 1)) {
        function_.jumps[at] = *target;
        entries_.insert(*target);
      } else {
        function_.refusal = format("it jumps to {:#x}, outside the code", *target);
      }
      return true;
    }
    if (d.rd != kDiscard) {
      if (d.rd != convention::kRa)
        function_.refusal = format("it calls with the return address in x{}", d.rd);
      function_.calls[at] = kIndirect;
      return false;
    }
    if (d.rs1 == convention::kRa && d.imm == 0) return true;  // return
    if (find_table(d, at, open)) return true;
    function_.jumps[at] = kIndirect;
    return true;
  }

  // auipc and jalr right behind it: how far calls are compiled.
  std::optional<uint32_t> pair_target(const Decoded& d, uint32_t at) const {
    if (at < 4) return std::nullopt;
    const Decoded& before = image_.code[(at - 4) / 2];
    if (before.op != Op::auipc || before.rd != d.rs1 || before.half_words != 2) return std::nullopt;
    return at - 4 + static_cast<uint32_t>(before.imm) + static_cast<uint32_t>(d.imm);
  }

  // jr t; t = lw o(r); r = index + base, base = lui (+ addi): the instructions before, back to
  // where the block or its straight-line ancestors define the base.
  bool find_table(const Decoded& d, uint32_t at, std::vector<uint32_t>& open);
  std::optional<uint32_t> constant(uint8_t reg, uint32_t before) const;
  std::optional<uint32_t> definition(uint8_t reg, uint32_t before) const;

  const Image& image_;
  std::set<uint32_t>& entries_;
  Function& function_;
  std::set<uint32_t> seen_;  // instructions walked so far
};

// The instruction nearest before `before`, in address order, that writes `reg`. Compilers lay out
// the code of a switch in that order; what is found is only used when the table looks right.
std::optional<uint32_t> Walk::definition(uint8_t reg, uint32_t before) const {
  for (auto at = seen_.lower_bound(before); at != seen_.begin();) {
    --at;
    if (operands_of(image_.code[*at / 2]).writes == reg) return *at;
  }
  return std::nullopt;
}

std::optional<uint32_t> Walk::constant(uint8_t reg, uint32_t before) const {
  const auto at = definition(reg, before);
  if (!at) return std::nullopt;
  const Decoded& d = image_.code[*at / 2];
  if (d.op == Op::lui) return static_cast<uint32_t>(d.imm);
  if (d.op == Op::addi && d.rs1 != 0) {
    const auto base = constant(d.rs1, *at);
    if (base) return *base + static_cast<uint32_t>(d.imm);
  }
  return std::nullopt;
}

bool Walk::find_table(const Decoded& d, uint32_t at, std::vector<uint32_t>& open) {
  const auto load = definition(d.rs1, at);
  if (!load || d.imm != 0 || image_.code[*load / 2].op != Op::lw) return false;
  const Decoded& lw = image_.code[*load / 2];
  const auto sum = definition(lw.rs1, *load);
  if (!sum || image_.code[*sum / 2].op != Op::add) return false;
  const Decoded& add = image_.code[*sum / 2];
  for (const uint8_t side : {add.rs1, add.rs2}) {
    const auto base = constant(side, *sum);
    if (!base) continue;
    const uint32_t table = *base + static_cast<uint32_t>(lw.imm);
    const Symbol* self = image_.function_at(image_.code_base + function_.entry);
    const uint32_t end = self ? self->address + self->bytes - image_.code_base : 0;
    JumpTable found{*load, table - image_.base, {}};
    for (uint32_t entry = table; found.targets.size() < 4096; entry += 4) {
      const auto word = image_.constant_word(entry);
      if (!word) break;
      const uint32_t target = *word - image_.code_base;
      if (target < function_.entry || target >= end || (target & 1)) break;
      found.targets.push_back(target);
    }
    if (found.targets.empty()) continue;
    for (const uint32_t target : found.targets) go(target, open);
    function_.tables[at] = std::move(found);
    return true;
  }
  return false;
}

}  // namespace

void find_functions(Program& program) {
  const Image& image = *program.image;
  std::set<uint32_t> entries;
  for (const Symbol& s : image.symbols) entries.insert(s.address - image.code_base);
  std::vector<uint32_t> open;
  for (const auto& [name, address] : image.kernels) open.push_back(address - image.code_base);
  for (const uint32_t address : image.address_taken) open.push_back(address - image.code_base);
  for (const uint32_t address : image.constructors) {
    if (address - image.code_base < image.code_bytes) open.push_back(address - image.code_base);
  }
  while (!open.empty()) {
    const uint32_t entry = open.back();
    open.pop_back();
    if (program.functions.contains(entry)) continue;
    entries.insert(entry);
    Function& function = program.functions[entry];
    function.entry = entry;
    const Symbol* symbol = image.function_at(image.code_base + entry);
    function.name = symbol ? symbol->name : format("code at {:#x}", entry);
    Walk(image, entries, function).run();
    for (const auto& [at, target] : function.calls) {
      if (target != kIndirect) open.push_back(target);
    }
    for (const auto& [at, target] : function.jumps) {
      if (target != kIndirect) open.push_back(target);
    }
    open.insert(open.end(), function.tails.begin(), function.tails.end());
  }
  for (const uint32_t address : image.address_taken) {
    program.functions[address - image.code_base].address_taken = true;
  }
  for (auto& [entry, f] : program.functions) f.open = f.address_taken;
  const auto open_at = [&](uint32_t address) {
    const auto f = program.functions.find(address - image.code_base);
    if (f != program.functions.end()) f->second.open = true;
  };
  for (const auto& [name, address] : image.kernels) open_at(address);
  for (const uint32_t address : image.constructors) open_at(address);
}

}  // namespace anynpu::npc
