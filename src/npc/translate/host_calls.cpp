// SPDX-License-Identifier: Apache-2.0
#include "npc/translate/host_calls.h"

#include <algorithm>
#include <cstring>

#include "base/format.h"
#include "npc/csr.h"
#include "npc/image.h"
#include "npc/instructions.h"
#include "npc/translate/host_core.h"

namespace anynpu::npc {

namespace {

constexpr uint64_t kCycleMask = (uint64_t{1} << kInstructionShift) - 1;
constexpr uint64_t kOrdinary = 100'000;  // instructions granted when nobody asks for more

HostState& state_of(std::byte* base) {
  return *reinterpret_cast<HostState*>(base - kStateDistance);
}

// Instructions and cycles since the last grant.
struct Done {
  uint64_t instructions;
  uint64_t cycles;
};
Done done_by(const Core& core, int64_t count) {
  const int64_t left = count >> kInstructionShift;
  return {static_cast<uint64_t>(static_cast<int64_t>(core.host->granted) - 1 - left),
          static_cast<uint64_t>(count) & kCycleMask};
}

// Into the core's counters; returns instructions left in the slice.
int64_t settle(Core& core, int64_t count) {
  const Done done = done_by(core, count);
  core.counters.instructions += done.instructions;
  core.counters.events[kMCU_CYCLE] += done.cycles;
  core.clock += done.cycles;
  core.budget -= std::min(done.instructions, core.budget);
  core.host->turn += done.instructions;
  return count >> kInstructionShift;
}

int64_t grant_slice(Core& core, uint64_t instructions) {
  instructions = std::clamp<uint64_t>(std::min(instructions, core.budget), 1, 2 * kMostSlice - 1);
  core.host->granted = instructions;
  return static_cast<int64_t>(instructions - 1) << kInstructionShift;
}

// Leaves the core's stack; returns when the core gets its next turn.
void stop(Core& core, HostStop why) {
  core.host->stop = why;
  core.host->fiber->suspend();
}

[[noreturn]] void stop_for_good(Core& core, HostStop why) {
  stop(core, why);
  __builtin_unreachable();
}

// Where the calling code stands: behind this function's frame.
#define NOTE_PLACE(core)                                                                  \
  do {                                                                                    \
    const auto* frame = static_cast<const std::byte* const*>(__builtin_frame_address(0)); \
    (core).host->place = {static_cast<const std::byte*>(__builtin_return_address(0)),     \
                          reinterpret_cast<const std::byte*>(frame + 2), *frame};         \
  } while (0)

[[gnu::noinline]] int64_t check(std::byte* base, int64_t count, uint32_t at) {
  Core& core = *state_of(base).core;
  settle(core, count);
  if (core.budget == 0) {
    NOTE_PLACE(core);
    core.pc = core.image->code_base + at;
    core.trap_budget();
    stop_for_good(core, HostStop::trap);
  }
  if (core.host->turn >= core.host->turn_limit) stop(core, HostStop::slice);
  return grant_slice(core, kOrdinary);
}

// A loop of `instructions` wants to run without checks. When the budget does not allow it, the loop
// runs with them.
[[gnu::noinline]] int64_t grant(std::byte* base, int64_t count, uint64_t instructions,
                                uint32_t at) {
  Core& core = *state_of(base).core;
  settle(core, count);
  if (core.budget == 0) return grant_slice(core, 1);
  if (core.host->turn >= core.host->turn_limit) stop(core, HostStop::slice);
  return grant_slice(core, instructions + kOrdinary);
}

[[gnu::noinline]] int64_t service(std::byte* base, int64_t count, uint32_t at) {
  HostState& state = state_of(base);
  Core& core = *state.core;
  const int64_t left = settle(core, count);
  core.pc = core.image->code_base + at;
  std::memcpy(&core.x[10], &state.x[10], 8 * sizeof(uint32_t));
  switch (serve(core, *state.sink)) {
    case Served::resume:
      break;
    case Served::sync:
      stop(core, HostStop::sync);
      break;
    case Served::finished:
      stop_for_good(core, HostStop::finished);
    case Served::trap:
      NOTE_PLACE(core);
      stop_for_good(core, HostStop::trap);
  }
  state.x[10] = core.x[10];
  state.x[11] = core.x[11];
  return grant_slice(core, left > 0 ? static_cast<uint64_t>(left) : 1);
}

[[gnu::noinline]] uint32_t csr(std::byte* base, int64_t count, uint32_t at, uint32_t value) {
  Core& core = *state_of(base).core;
  const Decoded& d = core.image->code[at / 2];
  const Done done = done_by(core, count);
  if (d.op < Op::csrrwi && d.rs1 != 0) core.x[d.rs1] = value;
  if (!run_csr(core, d, done.instructions, done.cycles)) {
    settle(core, count);
    NOTE_PLACE(core);
    core.pc = core.image->code_base + at;
    core.trap_csr(static_cast<uint32_t>(d.imm));
    stop_for_good(core, HostStop::trap);
  }
  return core.x[d.rd];
}

[[gnu::noinline]] uint32_t atomic(std::byte* base, int64_t count, uint32_t at, uint32_t address,
                                  uint32_t value) {
  Core& core = *state_of(base).core;
  const Decoded& d = core.image->code[at / 2];
  if (d.rs2 != 0) core.x[d.rs2] = value;
  if (d.rs1 != 0) core.x[d.rs1] = address;
  if (!run_atomic(core, d)) {
    settle(core, count);
    NOTE_PLACE(core);
    core.pc = core.image->code_base + at;
    stop_for_good(core, HostStop::trap);
  }
  return core.x[d.rd];
}

[[gnu::noinline]] uint32_t exact_float(std::byte* base, int64_t count, uint32_t at, uint32_t a,
                                       uint32_t b, uint32_t c) {
  Core& core = *state_of(base).core;
  const Decoded& d = core.image->code[at / 2];
  core.f[d.rs3] = c;
  core.f[d.rs2] = b;
  core.f[d.rs1] = a;
  if (d.rs1 != 0) core.x[d.rs1] = a;
  if (!run_float(core, d)) {
    settle(core, count);
    NOTE_PLACE(core);
    core.pc = core.image->code_base + at;
    core.trap_rounding(d.op);
    stop_for_good(core, HostStop::trap);
  }
  return writes_integer(d.op) ? core.x[d.rd] : core.f[d.rd];
}

[[gnu::noinline]] void trap(std::byte* base, int64_t count, HostTrap kind, uint32_t value,
                            uint32_t at) {
  Core& core = *state_of(base).core;
  settle(core, count);
  NOTE_PLACE(core);
  core.pc = core.image->code_base + at;
  switch (kind) {
    case HostTrap::breakpoint:
      core.trap_breakpoint();
      break;
    case HostTrap::illegal:
      core.trap_illegal();
      break;
    case HostTrap::past_end:
      core.trap_past_end();
      break;
    case HostTrap::bad_jump:
      core.trap_jump(value);
      break;
    case HostTrap::misaligned:
      core.trap_misaligned(value);
      break;
    case HostTrap::lost:
      core.set_trap(
          TrapKind::bad_jump,
          format("jump to {:#x}, which is not the start of a function; run the program with "
                 "ANYNPU_NPC_INTERPRET=1",
                 value));
      break;
  }
  stop_for_good(core, HostStop::trap);
}

}  // namespace

const HostHelpers& host_helpers() {
  static const HostHelpers helpers{check,  grant,       service, csr,
                                   atomic, exact_float, trap,    float_functions()};
  return helpers;
}

}  // namespace anynpu::npc
