// SPDX-License-Identifier: Apache-2.0
// Functions of a device image from its .debug_info section (DWARF 5 and 4): the parameters of
// kernels, and inlined calls. Empty for images compiled without -g.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace anynpu::npc {

struct Image;

class DebugInfo {
 public:
  static DebugInfo read(const Image& image);

  struct Parameter {
    enum Kind : uint8_t { unknown, integer, boolean, floating, pointer } kind = unknown;
    bool is_signed = false;  // of integers
    uint32_t bytes = 0;
    std::string name;
  };
  struct Function {
    std::string name;  // as the linker sees it
    bool variadic = false;
    std::vector<Parameter> parameters;
  };
  // The function that a launch names; null when nothing is known about it.
  const Function* function(const std::string& linkage_name) const;

  // Code inlined from `name`, called at `line` of the enclosing function.
  struct Inlined {
    uint32_t low = 0, high = 0;
    std::string name;
    uint32_t unit = 0;  // its line table: offset in .debug_line
    uint32_t file = 0;  // number in that table
    uint32_t line = 0;
    uint32_t depth = 0;
  };
  // Those that contain the address, the innermost first.
  std::vector<Inlined> inlined_at(uint32_t address) const;

 private:
  friend class InfoReader;
  std::vector<Function> functions_;
  std::vector<Inlined> inlined_;
};

}  // namespace anynpu::npc
