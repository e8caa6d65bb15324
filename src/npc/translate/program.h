// SPDX-License-Identifier: Apache-2.0
// The input of the translator: the functions of an image that follow the calling convention, with
// their blocks, calls, jump tables, saved registers and arguments. Derived from the decoded code,
// symbols and relocations; every function is checked to follow the convention (frame.cpp).
// Offsets are bytes from the start of the code. Pure data; made by find_program().
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "npc/decode.h"

namespace anynpu::npc {

struct Image;

inline constexpr uint32_t kIndirect = ~0u;  // a call through a register

struct CodeBlock {
  uint32_t begin = 0;
  uint32_t end = 0;   // behind its last instruction
  uint32_t last = 0;  // its last instruction
  // Where it goes on: blocks of the function, or functions entered without a call.
  std::vector<uint32_t> targets = {};
};

// jr behind a load from a table of code addresses in read-only data.
struct JumpTable {
  uint32_t load = 0;              // offset of the lw
  uint32_t base = 0;              // address of the table, from the image's base
  std::vector<uint32_t> targets;  // offsets
};

struct Function {
  uint32_t entry = 0;
  std::string name;
  std::map<uint32_t, CodeBlock> code;  // by begin
  std::map<uint32_t, uint32_t> calls;  // offset of the jal or jalr: entry called, or kIndirect
  std::map<uint32_t, uint32_t> jumps;  // offset of a jalr that leaves: entry, or kIndirect
  // By offset of a call, or of the last instruction of a block that goes to another function:
  // registers that may be set.
  std::map<uint32_t, uint64_t> passed;
  std::map<uint32_t, JumpTable> tables;  // by offset of the jr
  std::set<uint32_t> tails;              // functions entered by branches and falling through
  std::set<uint32_t> saves;              // stores of callee-saved registers: not needed on the host
  std::set<uint32_t> restores;           // loads of them
  uint64_t takes = 0;                    // registers that it reads
  uint64_t returns = 0;                  // of convention::kResults those that a caller reads
  bool address_taken = false;
  bool open = false;       // anybody may call it: a kernel, a constructor or its address is taken
  bool recursive = false;  // may come back to itself by calls
  // (last instruction of a block, target): every way around inside the function has one of them.
  std::set<std::pair<uint32_t, uint32_t>> back_edges;
  std::string refusal;  // why it cannot be translated; empty: it can
};

struct Program {
  const Image* image = nullptr;
  std::map<uint32_t, Function> functions;  // by entry; refused ones too
  // Kernels whose functions can all be translated; the others and why not.
  std::set<uint32_t> kernels;
  std::map<uint32_t, std::string> refused;
  std::set<uint32_t> translated;  // the functions that those kernels reach
  // For tests: one function that starts and ends with all registers in the state.
  bool whole_state = false;
  bool exact_floats = false;  // float flags or rounding modes are read or set somewhere
};

Program find_program(const Image& image);

// Steps of find_program, one file each.
void find_functions(Program& program);          // functions.cpp
void find_targets(Program& program);            // flow.cpp: last, targets, back_edges
void find_recursion(Program& program);          // flow.cpp: recursive
void check_frame(Program& program, Function&);  // frame.cpp: saves, restores, tables, refusal
void find_arguments(Program& program);          // liveness.cpp: takes, returns, refusal

}  // namespace anynpu::npc
