// SPDX-License-Identifier: Apache-2.0
#include "npc/translate/program.h"

#include "base/format.h"
#include "npc/image.h"

namespace anynpu::npc {

namespace {

// What a kernel may run: itself, what it calls, and with a call through a pointer every function
// whose address is taken.
std::string why_not(const Program& program, uint32_t kernel, std::set<uint32_t>& seen) {
  std::vector<uint32_t> open{kernel};
  bool indirect = false;
  while (!open.empty()) {
    const uint32_t entry = open.back();
    open.pop_back();
    if (!seen.insert(entry).second) continue;
    const Function& f = program.functions.at(entry);
    if (!f.refusal.empty()) return format("function '{}': {}", f.name, f.refusal);
    for (const auto* list : {&f.calls, &f.jumps}) {
      for (const auto& [at, target] : *list) {
        if (target != kIndirect) {
          open.push_back(target);
        } else if (!indirect) {
          indirect = true;
          for (const auto& [other, g] : program.functions) {
            if (g.address_taken) open.push_back(other);
          }
        }
      }
    }
    open.insert(open.end(), f.tails.begin(), f.tails.end());
  }
  return {};
}

bool touches_float_state(const Image& image, const Function& f) {
  for (const auto& [begin, block] : f.code) {
    for (uint32_t at = begin; at < block.end; at += image.code[at / 2].half_words * 2u) {
      const Decoded& d = image.code[at / 2];
      if (d.op >= Op::csrrw && d.op <= Op::csrrci && d.imm >= 1 && d.imm <= 3) return true;
    }
  }
  return false;
}

}  // namespace

Program find_program(const Image& image) {
  Program program;
  program.image = &image;
  find_functions(program);
  find_targets(program);
  find_recursion(program);
  for (auto& [entry, f] : program.functions) {
    check_frame(program, f);
    program.exact_floats |= touches_float_state(image, f);
  }
  find_arguments(program);
  std::set<uint32_t> roots;
  for (const auto& [name, address] : image.kernels) roots.insert(address - image.code_base);
  for (const uint32_t address : image.constructors) roots.insert(address - image.code_base);
  for (const uint32_t root : roots) {
    if (!program.functions.contains(root)) continue;
    std::set<uint32_t> reached;
    const std::string reason = why_not(program, root, reached);
    if (reason.empty()) {
      program.kernels.insert(root);
      program.translated.merge(reached);
    } else {
      program.refused[root] = reason;
    }
  }
  return program;
}

}  // namespace anynpu::npc
