// SPDX-License-Identifier: Apache-2.0
#include "npc/trap_report.h"

#include <cxxabi.h>

#include <cstdlib>

#include "base/format.h"
#include "npc/core.h"
#include "npc/debug_info.h"
#include "npc/image.h"
#include "npc/line_table.h"

namespace anynpu::npc {

namespace {

constexpr uint32_t kNextLine = 64;  // bytes of code
constexpr size_t kMostFrames = 32;  // of one core: the innermost and the outermost halves

std::string readable(const std::string& name) {
  int status = 0;
  char* plain = abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status);
  std::string text = status == 0 && plain ? plain : name;
  std::free(plain);
  return text;
}

// Tables of the image that a report needs.
struct Sources {
  explicit Sources(const Image& image)
      : lines(LineTable::read(image)), info(DebugInfo::read(image)) {}
  LineTable lines;
  DebugInfo info;
};

std::string place_text(const std::string& file, uint32_t line) {
  return line == 0 ? std::string() : format(" at {}:{}", file.empty() ? "?" : file, line);
}

// The lines of one frame: what was inlined there, from the inside out, then the function itself.
std::string frame_lines(const Image& image, const Sources& sources, size_t& number, uint32_t pc,
                        uint32_t look_up) {
  const std::string at = format("{:#010x}", pc);
  std::string text;
  const auto innermost = sources.lines.find(look_up);
  std::string place = innermost ? place_text(innermost->file, innermost->line) : std::string();
  for (const DebugInfo::Inlined& piece : sources.info.inlined_at(look_up)) {
    text += format("  #{} {} in {} (inlined){}\n", number++, at, readable(piece.name), place);
    place = place_text(sources.lines.file_name(piece.unit, piece.file), piece.line);
  }
  text += format("  #{} {}", number++, at);
  if (const Symbol* s = image.function_at(look_up)) {
    text += " in " + readable(s->name);
    text += !place.empty() ? place : format(" + {}", pc - s->address);
  }
  return text + "\n";
}

std::string core_report(const Core& core, const Sources& sources) {
  std::string text =
      format("{}: {}: {}\n", place_of(core), name_of(core.trap.kind), core.trap.text);
  size_t number = 0;
  text += frame_lines(*core.image, sources, number, core.pc, core.pc);
  const size_t depth = core.calls.size();
  for (size_t i = 0; i < depth; ++i) {
    if (depth > kMostFrames && i == kMostFrames / 2) {
      text += format("  ... {} more calls ...\n", depth - kMostFrames);
      i = depth - kMostFrames / 2;
      number += depth - kMostFrames;
    }
    // A return address may already belong to the next line or function: look up the call itself.
    const uint32_t back = core.calls[depth - 1 - i];
    text += frame_lines(*core.image, sources, number, back, back - 1);
  }
  return text;
}

}  // namespace

std::string place_of(const Core& core) {
  if (!core.takes_turns()) return format("core {}", core.id);
  return format("block {} on core {}", core.block, core.id);
}

std::string call_lines(const Core& core, uint32_t pc) {
  const Sources sources(*core.image);
  std::string text;
  const auto add = [&](uint32_t look_up) {
    auto innermost = sources.lines.find(look_up);
    // The compiler gives no line to what it moved out of a loop: the next one is near.
    for (uint32_t step = 2; step <= kNextLine && !innermost; step += 2)
      innermost = sources.lines.find(look_up + step);
    SourceLine place = innermost ? *innermost : SourceLine{"(device code without -g)", 0};
    for (const DebugInfo::Inlined& piece : sources.info.inlined_at(look_up)) {
      text += format("{}\t{}\t{}\n", place.file, place.line, readable(piece.name));
      place = {sources.lines.file_name(piece.unit, piece.file), piece.line};
    }
    const Symbol* symbol = core.image->function_at(look_up);
    text += format("{}\t{}\t{}\n", place.file, place.line, symbol ? readable(symbol->name) : "");
  };
  add(pc);
  for (size_t i = core.calls.size(); i > 0 && core.calls.size() - i < kMostFrames; --i) {
    add(core.calls[i - 1] - 1);
  }
  return text;
}

std::string trap_report(int cluster, std::string_view kernel, const std::vector<Core>& cores) {
  std::string text = format("NPC cluster {}: kernel '{}' ran into an exception\n", cluster, kernel);
  if (cores.empty()) return text;
  const Sources sources(*cores.front().image);
  for (const Core& core : cores) {
    if (core.trap.kind != TrapKind::none) text += core_report(core, sources);
  }
  return text;
}

}  // namespace anynpu::npc
