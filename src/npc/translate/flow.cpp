// SPDX-License-Identifier: Apache-2.0
#include "npc/image.h"
#include "npc/translate/program.h"

namespace anynpu::npc {

namespace {

uint32_t last_of(const Image& image, const CodeBlock& block) {
  uint32_t at = block.begin;
  for (;;) {
    const uint32_t next = at + image.code[at / 2].half_words * 2u;
    if (next >= block.end) return at;
    at = next;
  }
}

std::vector<uint32_t> targets_of(const Function& function, const CodeBlock& block,
                                 const Decoded& last) {
  const uint32_t jump = block.last + static_cast<uint32_t>(last.imm);
  if (last.op >= Op::beq && last.op <= Op::bgeu) return {jump, block.end};
  switch (last.op) {
    case Op::jal:
      if (last.rd == kDiscard) return {jump};
      break;
    case Op::jalr:
      if (const auto table = function.tables.find(block.last); table != function.tables.end()) {
        return table->second.targets;
      }
      if (last.rd == kDiscard) return {};
      break;
    case Op::ebreak:
    case Op::illegal:
    case Op::past_end:
      return {};
    default:
      break;
  }
  // A call that does not return ends the function.
  if (!function.code.contains(block.end) && !function.tails.contains(block.end)) return {};
  return {block.end};
}

// A walk in depth: what leads to a block that is still being walked closes a way around.
void find_back_edges(Function& function) {
  enum : uint8_t { fresh, open, done };
  std::map<uint32_t, uint8_t> state;
  std::vector<std::pair<uint32_t, size_t>> path{{function.entry, 0}};
  state[function.entry] = open;
  while (!path.empty()) {
    auto& [begin, next] = path.back();
    const CodeBlock& block = function.code.at(begin);
    if (next == block.targets.size()) {
      state[begin] = done;
      path.pop_back();
      continue;
    }
    const uint32_t target = block.targets[next++];
    if (!function.code.contains(target)) continue;
    uint8_t& seen = state[target];
    if (seen == open) function.back_edges.insert({block.last, target});
    if (seen != fresh) continue;
    seen = open;
    path.emplace_back(target, 0);
  }
}

// What a function enters: by name, or through pointers any function whose address is taken.
std::set<uint32_t> callees_of(const Program& program, const Function& f) {
  std::set<uint32_t> callees = f.tails;
  for (const auto* list : {&f.calls, &f.jumps}) {
    for (const auto& [at, target] : *list) {
      if (target != kIndirect) {
        callees.insert(target);
        continue;
      }
      for (const auto& [entry, g] : program.functions) {
        if (g.address_taken) callees.insert(entry);
      }
    }
  }
  return callees;
}

}  // namespace

void find_recursion(Program& program) {
  std::map<uint32_t, std::set<uint32_t>> callees;
  for (const auto& [entry, f] : program.functions) callees[entry] = callees_of(program, f);
  for (auto& [entry, f] : program.functions) {
    std::set<uint32_t> reached;
    std::vector<uint32_t> open(callees[entry].begin(), callees[entry].end());
    while (!open.empty() && !reached.contains(entry)) {
      const uint32_t next = open.back();
      open.pop_back();
      if (!reached.insert(next).second) continue;
      open.insert(open.end(), callees[next].begin(), callees[next].end());
    }
    f.recursive = reached.contains(entry);
  }
}

void find_targets(Program& program) {
  const Image& image = *program.image;
  for (auto& [entry, function] : program.functions) {
    for (auto& [begin, block] : function.code) {
      block.last = last_of(image, block);
      block.targets = targets_of(function, block, image.code[block.last / 2]);
    }
    find_back_edges(function);
  }
}

}  // namespace anynpu::npc
