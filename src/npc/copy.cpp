// SPDX-License-Identifier: Apache-2.0
// memcpy of kernels: copies between the memories of a cluster, by the MTE of the core or by the
// system DMA, and what they count. Refused copies return an npurtError_t, they do not trap.
#include <algorithm>
#include <cstring>

#include "base/align.h"
#include "base/env.h"
#include "npc/core.h"
#include "npc/cycles.h"
#include "npc/kernel_watch.h"
#include "npc/services.h"

namespace anynpu::npc {

namespace {

// Numbers of npurt.h.
enum CopyError : uint32_t {
  kCopied = 0,
  kBadLength = 13,
  kBadAddress = 14,
  kBadRows = 15,
  kBadColumns = 16,
  kBadStride = 17,
  kBadType = 18,
  kBadCore = 19,
  kBadSize = 20,
  kOverflowsMemory = 21,
  kNotAligned = 22,
};

struct Copy {
  uint32_t to = 0, from = 0;
  uint32_t rows = 1;
  uint32_t row_bytes = 0;
  uint32_t to_step = 0, from_step = 0;  // bytes from row to row
  int dest_core = -1;
};

uint64_t reach(uint32_t rows, uint32_t step, uint32_t row_bytes) {
  return uint64_t{rows - 1} * step + row_bytes;
}

// A range of one memory that may be copied; null and a code otherwise.
std::byte* checked(const Core& core, uint32_t address, uint64_t bytes, bool store,
                   CopyError& error) {
  const Space space = space_of(address);
  if (space == Space::none) return error = kBadAddress, nullptr;
  if (address + bytes > (uint64_t{1} << 32) ||
      space_of(static_cast<uint32_t>(address + bytes - 1)) != space) {
    return error = kOverflowsMemory, nullptr;
  }
  if (space == Space::high) {
    if (!core.memory->find(address, bytes)) return error = kBadAddress, nullptr;
    return core.memory->host(address);
  }
  std::byte* at =
      core.unwatched_at(address, static_cast<uint32_t>(bytes), store ? kReadWrite : kRead);
  if (!at) error = kBadAddress;
  return at;
}

void count_mte(Core& core, Event bytes_event, Event cycles_event, uint64_t bytes, uint64_t taken) {
  core.counters.events[bytes_event] += bytes;
  core.counters.events[cycles_event] += taken;
}

// What a copy from one memory to another counts; the two are known to be a legal pair.
void count_copy(Core& core, Space to, Space from, uint64_t bytes, bool other_core) {
  auto& events = core.counters.events;
  const bool to_global = to == Space::global || to == Space::high;
  const bool from_global = from == Space::global || from == Space::high;
  uint64_t taken = cycles::move(bytes);
  if ((to_global || from_global) && to != Space::local && from != Space::local) {
    // System DMA: channel 0 reads global memory, channel 1 writes it. Two engines, by core.
    const int engine = (core.id & 1) * 8;
    taken = cycles::dma(bytes);
    const auto count_channel = [&](int first) {
      core.dma[engine + first] = taken;
      core.dma[engine + first + 1] += taken;
      core.dma[engine + first + 2] += bytes;
    };
    if (from_global) count_channel(2);
    if (to_global) count_channel(5);
    core.clock += taken;
    return;
  }
  if (to_global || from_global) {
    taken = cycles::global_move(bytes);
    ++events[kMTE_PLD_INST];
    count_mte(core, kMTE_PLD_BYTE, kMTE_PLD_CYCLE, bytes, taken);
  } else if (other_core) {
    ++events[kMTE_ICMOV_INST];
    count_mte(core, kMTE_ICMOV_BYTE, kMTE_ICMOV_CYCLE, bytes, taken);
  } else {
    ++events[kMTE_MOV_INST];
    if (from == Space::local && to == Space::shared) {
      count_mte(core, kMTE_L12LLB_BYTE, kMTE_L12LLB_CYCLE, bytes, taken);
    } else if (from == Space::shared && to == Space::local) {
      count_mte(core, kMTE_LLB2L1_BYTE, kMTE_LLB2L1_CYCLE, bytes, taken);
    }
  }
  events[kMTE_TOTAL_CYCLE] += taken;
  core.clock += taken;
}

// Cards want global memory in cache lines of 32 bytes; copies work here without, unless asked to be
// strict.
bool aligned(uint32_t address) {
  const Space space = space_of(address);
  const bool global = space == Space::global || space == Space::high;
  return !global || is_aligned(address, 32) || !env::flag(env::Name::strict);
}

// Row by row: what lies between them is not touched.
void watch_rows(const Core& core, const Copy& copy, bool other_core) {
  for (uint32_t row = 0; row < copy.rows; ++row) {
    const uint32_t from = copy.from + row * copy.from_step, to = copy.to + row * copy.to_step;
    if (space_of(from) != Space::high) core.note_access(from, copy.row_bytes, kRead);
    if (other_core) {
      core.watch->fill_local(copy.dest_core, to, copy.row_bytes);
    } else if (space_of(to) != Space::high) {
      core.note_access(to, copy.row_bytes, kWrite);
    }
  }
}

CopyError run_copy(Core& core, const Copy& copy) {
  CopyError error = kCopied;
  const uint64_t to_bytes = reach(copy.rows, copy.to_step, copy.row_bytes);
  const uint64_t from_bytes = reach(copy.rows, copy.from_step, copy.row_bytes);
  std::byte* to = checked(core, copy.to, to_bytes, true, error);
  if (!to) return error;
  const std::byte* from = checked(core, copy.from, from_bytes, false, error);
  if (!from) return error;
  const Space to_space = space_of(copy.to), from_space = space_of(copy.from);
  if ((to_space == Space::local && from_space == Space::high) ||
      (to_space == Space::high && from_space == Space::local)) {
    return kBadAddress;
  }
  if (!aligned(copy.to) || !aligned(copy.from)) return kNotAligned;
  bool other_core = false;
  if (copy.dest_core >= 0 && to_space == Space::local && from_space == Space::local) {
    other_core = copy.dest_core != core.block;
    if (other_core && (copy.dest_core >= core.blocks || core.takes_turns())) return kBadCore;
    to = core.memory->local(other_core ? copy.dest_core : core.id) + (copy.to - kLocalBase);
  }
  for (uint32_t row = 0; row < copy.rows; ++row) {
    std::memmove(to + size_t{row} * copy.to_step, from + size_t{row} * copy.from_step,
                 copy.row_bytes);
  }
  if (core.watch) watch_rows(core, copy, other_core);
  count_copy(core, to_space, from_space, uint64_t{copy.rows} * copy.row_bytes, other_core);
  return kCopied;
}

// cpy_config_t in device memory.
struct Config {
  int32_t rows, cols, stride_cols, dtype, dest_core;
};

CopyError run_rows(Core& core, const Config& c) {
  constexpr int64_t kMost = 1 << 30;
  if (c.dtype != 0 && c.dtype != 1) return kBadType;
  const int64_t element = c.dtype == 0 ? 1 : 2;
  if (c.rows < 1) return kBadRows;
  if (c.cols < 1) return kBadColumns;
  if (c.stride_cols < 0 || (c.stride_cols != 0 && c.stride_cols < c.cols)) return kBadStride;
  if (c.dest_core < -1 || c.dest_core >= std::max(kCores, core.blocks)) return kBadCore;
  const int64_t row_bytes = c.cols * element;
  const int64_t step = c.stride_cols == 0 ? row_bytes : c.stride_cols * element;
  if (row_bytes > kMost || step > kMost || step * c.rows > (int64_t{1} << 32)) return kBadSize;
  Copy copy{core.x[10],
            core.x[11],
            static_cast<uint32_t>(c.rows),
            static_cast<uint32_t>(row_bytes),
            static_cast<uint32_t>(row_bytes),
            static_cast<uint32_t>(row_bytes),
            c.dest_core};
  // The stride belongs to the larger memory: global, then shared; to the source among equals.
  const auto size = [](Space s) { return s == Space::local ? 0 : s == Space::shared ? 1 : 2; };
  const bool to_strided = size(space_of(copy.to)) > size(space_of(copy.from));
  (to_strided ? copy.to_step : copy.from_step) = static_cast<uint32_t>(step);
  return run_copy(core, copy);
}

}  // namespace

void serve_copy(Core& core) {
  const auto bytes = static_cast<int32_t>(core.x[12]);
  if (bytes == 0) {
    core.x[10] = kCopied;
    return;
  }
  if (bytes < 0) {
    core.x[10] = kBadLength;
    return;
  }
  const auto size = static_cast<uint32_t>(bytes);
  core.x[10] = run_copy(core, {core.x[10], core.x[11], 1, size, size, size, -1});
}

bool serve_copy_rows(Core& core) {
  const std::byte* at = core.at(core.x[12], sizeof(Config), kRead);
  if (!at) {
    core.trap_access(core.x[12], sizeof(Config), false);
    return false;
  }
  Config config;
  std::memcpy(&config, at, sizeof config);
  core.x[10] = run_rows(core, config);
  return true;
}

}  // namespace anynpu::npc
