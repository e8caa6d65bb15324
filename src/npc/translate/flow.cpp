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

}  // namespace

void find_targets(Program& program) {
  const Image& image = *program.image;
  for (auto& [entry, function] : program.functions) {
    for (auto& [begin, block] : function.code) {
      block.last = last_of(image, block);
      block.targets = targets_of(function, block, image.code[block.last / 2]);
    }
  }
}

}  // namespace anynpu::npc
