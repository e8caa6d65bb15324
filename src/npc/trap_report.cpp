// SPDX-License-Identifier: Apache-2.0
#include "npc/trap_report.h"

#include <cxxabi.h>

#include <cstdio>
#include <cstdlib>

#include "base/format.h"
#include "npc/core.h"
#include "npc/image.h"
#include "npc/line_table.h"

namespace anynpu::npc {

namespace {

constexpr size_t kMostFrames = 32;  // of one core: the innermost and the outermost halves

std::string readable(const std::string& name) {
  int status = 0;
  char* plain = abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status);
  std::string text = status == 0 && plain ? plain : name;
  std::free(plain);
  return text;
}

std::string frame_line(const Image& image, const LineTable& lines, size_t number, uint32_t pc,
                       uint32_t look_up) {
  char at[16];
  std::snprintf(at, sizeof at, "0x%08x", pc);
  std::string text = format("  #{} {}", number, at);
  if (const Symbol* s = image.function_at(look_up)) {
    text += " in " + readable(s->name);
    if (const auto place = lines.find(look_up))
      return text + format(" at {}:{}", place->file, place->line) + "\n";
    text += format(" + {}", pc - s->address);
  }
  return text + "\n";
}

std::string core_report(const Core& core, const LineTable& lines) {
  std::string text = format("core {}: {}: {}\n", core.id, name_of(core.trap.kind), core.trap.text);
  text += frame_line(*core.image, lines, 0, core.pc, core.pc);
  const size_t depth = core.calls.size();
  for (size_t i = 0; i < depth; ++i) {
    if (depth > kMostFrames && i == kMostFrames / 2) {
      text += format("  ... {} more calls ...\n", depth - kMostFrames);
      i = depth - kMostFrames / 2;
    }
    // A return address may already belong to the next line or function: look up the call itself.
    const uint32_t back = core.calls[depth - 1 - i];
    text += frame_line(*core.image, lines, i + 1, back, back - 1);
  }
  return text;
}

}  // namespace

std::string trap_report(int cluster, std::string_view kernel, const std::vector<Core>& cores) {
  std::string text = format("NPC cluster {}: kernel '{}' ran into an exception\n", cluster, kernel);
  if (cores.empty()) return text;
  const LineTable lines = LineTable::read(*cores.front().image);
  for (const Core& core : cores) {
    if (core.trap.kind != TrapKind::none) text += core_report(core, lines);
  }
  return text;
}

}  // namespace anynpu::npc
