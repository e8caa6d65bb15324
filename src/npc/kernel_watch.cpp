// SPDX-License-Identifier: Apache-2.0
#include "npc/kernel_watch.h"

#include <dlfcn.h>

#include <algorithm>
#include <bit>

#include "base/format.h"
#include "npc/cluster.h"
#include "npc/core.h"
#include "npc/debug_info.h"
#include "npc/image.h"
#include "npc/launch.h"
#include "npc/memory.h"
#include "npc/trap_report.h"

namespace anynpu::npc {

namespace {

constexpr size_t kMostFindings = 50;  // of a launch
constexpr uint32_t kNear =
    16 * kPageBytes;  // so far behind an allocation an address still names it

// libanynpu_check.so; its lines are "file<tab>line<tab>function", the innermost first.
using Report = void (*)(const char* kind, const char* message, const char* frames);

Report checker() {
  static const auto report =
      reinterpret_cast<Report>(dlsym(RTLD_DEFAULT, "anynpu_check_kernel_finding"));
  return report;
}

const char* verb(bool store) { return store ? "stores" : "loads"; }

// The parameter of the kernel that points to the start of an allocation.
std::string parameter_text(const Core& core, const Block& block) {
  if (!core.setup) return "";
  const LaunchSetup& setup = *core.setup;
  for (size_t i = 0; i < setup.args.size(); ++i) {
    if (setup.args[i] < block.base() || setup.args[i] - block.base() >= block.bytes()) continue;
    const DebugInfo::Function* function =
        setup.image->debug_info().function(setup.image->kernel_symbol(setup.kernel));
    if (!function || i >= function->parameters.size()) return format(" (parameter {})", i);
    return format(" (parameter {}, '{}')", i, function->parameters[i].name);
  }
  return "";
}

std::string block_text(const Core& core, const Block& block) {
  return format("the allocation of {} bytes at {:#x}{}", block.bytes(), block.base(),
                parameter_text(core, block));
}

// The first other core of a mask.
int other_core(uint8_t mask) { return std::countr_zero(mask); }

}  // namespace

std::string allocation_text(const Core& core, uint32_t address, uint32_t bytes) {
  const auto block = core.memory->nearest(address);
  if (!block) return "";
  const uint64_t end = uint64_t{block->base()} + block->bytes();
  if (address >= end) {
    if (address - end > kNear) return "";
    return format("{} bytes past the end of {}", address - end, block_text(core, *block));
  }
  if (address + uint64_t{bytes} > end) {
    return format("{} bytes run over the end of {}", address + uint64_t{bytes} - end,
                  block_text(core, *block));
  }
  return "";
}

bool KernelWatch::is_on() { return checker() != nullptr; }

std::unique_ptr<KernelWatch> KernelWatch::create(const LaunchSetup& setup, const Memory& memory) {
  if (!is_on()) return nullptr;
  return std::unique_ptr<KernelWatch>(new KernelWatch(setup, memory));
}

KernelWatch::KernelWatch(const LaunchSetup& setup, const Memory& memory)
    : image_(*setup.image),
      memory_(memory),
      kernel_(setup.kernel),
      written_(static_cast<size_t>(setup.core_num)) {}

void KernelWatch::report(const Core& core, uint32_t pc, const char* kind, const std::string& text) {
  if (told_.size() >= kMostFindings || !told_.emplace(kind, pc).second) return;
  const std::string message = format("kernel '{}', {}: {}", kernel_, place_of(core), text);
  checker()(kind, message.c_str(), call_lines(core, pc).c_str());
}

void KernelWatch::access(const Core& core, uint32_t pc, uint32_t address, uint32_t bytes,
                         bool store) {
  if (bytes == 0) return;
  if (address >= kLocalBase) return check_local(core, pc, address, bytes, store);
  check_bounds(core, pc, address, bytes, store);
  check_race(core, pc, address, bytes, store);
}

// Pages of allocations are whole; what the program asked for may end before.
void KernelWatch::check_bounds(const Core& core, uint32_t pc, uint32_t address, uint32_t bytes,
                               bool store) {
  if (space_of(address) != Space::global) return;
  if (block_ && block_->covers(address, bytes)) return;
  const auto block = memory_.nearest(address);
  if (!block) return;
  if (block->covers(address, bytes)) {
    block_ = block;
    return;
  }
  const uint64_t pages_end =
      uint64_t{block->base()} + (block->bytes() + kPageBytes - 1) / kPageBytes * kPageBytes;
  if (address >= pages_end) return;  // of the image, or a stack; or it traps
  report(core, pc, "kernel-out-of-bounds",
         format("{} {} bytes at {:#x}: {}", verb(store), bytes, address,
                allocation_text(core, address, bytes)));
}

KernelWatch::Word& KernelWatch::word(uint32_t address) {
  const uint32_t number = address / kPageBytes;
  if (number != last_number_) {
    auto& page = pages_[number];
    if (!page) page = std::make_unique<Page>();
    last_number_ = number;
    last_ = page.get();
  }
  Word& word = (*last_)[address % kPageBytes / 4];
  if (word.phase != phase_) {
    word = {};
    word.phase = phase_;
  }
  return word;
}

void KernelWatch::check_race(const Core& core, uint32_t pc, uint32_t address, uint32_t bytes,
                             bool store) {
  const auto me = static_cast<uint8_t>(1u << core.id);
  const auto known = static_cast<uint8_t>(me | ordered_after_[static_cast<size_t>(core.id)]);
  uint8_t wrote = 0, read = 0;
  for (uint32_t i = 0; i < bytes; ++i) {
    Word& w = word(address + i);
    const uint32_t byte = (address + i) % 4;
    wrote |= w.writers[byte];
    if (store) read |= w.readers[byte];
    (store ? w.writers : w.readers)[byte] |= me;
  }
  wrote &= static_cast<uint8_t>(~known);
  read &= static_cast<uint8_t>(~known);
  if (!wrote && !read) return;
  const auto block = memory_.nearest(address);
  const bool inside = block && block->covers(address, 1);
  report(
      core, pc, "kernel-race",
      format("{} {} bytes at {:#x}{}{} that core {} {} without a sync() between them", verb(store),
             bytes, address, inside ? " of " : "", inside ? block_text(core, *block) : "",
             other_core(wrote ? wrote : read), wrote ? "stored" : "loaded"));
}

void KernelWatch::atomic(const Core& core, uint32_t address, bool store) {
  if (address >= kLocalBase) return;
  const auto me = static_cast<uint8_t>(1u << core.id);
  uint8_t& writers = atomic_writers_[address];
  ordered_after_[static_cast<size_t>(core.id)] |= static_cast<uint8_t>(writers & ~me);
  if (store) writers |= me;
}

void KernelWatch::check_local(const Core& core, uint32_t pc, uint32_t address, uint32_t bytes,
                              bool store) {
  auto& written = written_[static_cast<size_t>(core.id)];
  const uint32_t first = address - kLocalBase;
  if (first >= kLocalBytes || bytes > kLocalBytes - first) return;  // it traps
  if (store) return fill_local(core.id, address, bytes);
  // Copies of whole arrays may hold bytes that nobody needs: only those without any are wrong.
  bool any = false;
  for (uint32_t i = 0; i < bytes && !any; ++i) any = written[first + i];
  if (any) return;
  report(core, pc, "kernel-uninitialised",
         format("loads {} bytes at {:#x} of local memory that nothing has written since the block "
                "began; a card does not clear local memory",
                bytes, address));
}

void KernelWatch::fill_local(int core, uint32_t address, uint32_t bytes) {
  if (core < 0 || static_cast<size_t>(core) >= written_.size()) return;
  auto& written = written_[static_cast<size_t>(core)];
  for (uint32_t i = 0; i < bytes; ++i) written[address - kLocalBase + i] = true;
}

void KernelWatch::start_block(const Core& core) {
  written_[static_cast<size_t>(core.id)].reset();
  for (const InitialData& piece : image_.local) {
    if (!piece.data.empty()) fill_local(core.id, piece.address, piece.bytes);
  }
}

void KernelWatch::note_trap(const Core& core) {
  const bool address = core.trap.kind == TrapKind::bad_address;
  report(core, core.pc, address ? "kernel-out-of-bounds" : "kernel-exception",
         format("{}: {}", name_of(core.trap.kind), core.trap.text));
}

void KernelWatch::sync() {
  ++phase_;
  ordered_after_ = {};
  atomic_writers_.clear();
}

}  // namespace anynpu::npc
