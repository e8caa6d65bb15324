// SPDX-License-Identifier: Apache-2.0
#include "npc/translate/host_core.h"

#include <algorithm>
#include <cstring>

#include "base/fault_guard.h"
#include "base/format.h"
#include "npc/image.h"
#include "npc/translate/jit_api.h"
#include "npc/translate/translation.h"

namespace anynpu::npc {

namespace {

// Frames of the host are larger than those of the guest; this holds the deepest recursion that the
// guest's stack of 64 KiB allows. Pages are taken when they are used.
constexpr size_t kHostStack = 32 << 20;
constexpr size_t kMostFrames = 16384;

void start_kernel(void* argument) {
  Core& core = *static_cast<Core*>(argument);
  HostCore& host = *core.host;
  const int64_t first = static_cast<int64_t>(host.granted - 1) << kInstructionShift;
  const int64_t count = host.kernel(host.view->base(), first);
  const auto done = static_cast<int64_t>(host.granted) - 1 - (count >> kInstructionShift);
  const uint64_t cycles =
      static_cast<uint64_t>(count) & ((uint64_t{1} << kInstructionShift) - 1);
  core.counters.instructions += static_cast<uint64_t>(done);
  core.counters.events[kMCU_CYCLE] += cycles;
  core.clock += cycles;
  core.budget -= std::min(static_cast<uint64_t>(done), core.budget);
  host.stop = HostStop::finished;
  host.fiber->suspend();
}

// On the core's stack, after the signal handler: what was there is gone.
[[noreturn]] void leave_after_fault(Core* core) {
  core->host->stop = HostStop::fault;
  core->host->fiber->suspend();
  __builtin_unreachable();
}

bool is_store(Op op) {
  return (op >= Op::sb && op <= Op::sw) || op == Op::fsw || op == Op::fsh ||
         (op >= Op::sc_w && op <= Op::amomaxu_w);
}

uint32_t access_bytes(Op op) {
  switch (op) {
    case Op::lb:
    case Op::lbu:
    case Op::sb:
      return 1;
    case Op::lh:
    case Op::lhu:
    case Op::sh:
    case Op::flh:
    case Op::fsh:
      return 2;
    default:
      return 4;
  }
}

bool on_fault(void* cookie, const siginfo_t& info, ucontext_t& context) {
#if defined(__x86_64__)
  Core& core = *static_cast<Core*>(cookie);
  HostCore& host = *core.host;
  auto& registers = context.uc_mcontext.gregs;
  const auto* pc = reinterpret_cast<const void*>(registers[REG_RIP]);
  const bool in_view = host.view->contains(info.si_addr);
  host.stack_ran_over = host.fiber->in_guard(info.si_addr);
  if (!in_view && !host.stack_ran_over) return false;
  const bool in_code = host.translation->code()->contains(pc);
  if (!in_code && !host.stack_ran_over) return false;  // a fault of the host's own code
  host.fault_address = reinterpret_cast<uintptr_t>(info.si_addr);
  if (in_view) {
    const bool write = registers[REG_ERR] & 2;
    const auto address = static_cast<uint32_t>(
        host.fault_address - reinterpret_cast<uintptr_t>(host.view->base()));
    if (host.view->admit(address, write)) return true;
  }
  host.frames.clear();
  if (in_code) host.frames.push_back(static_cast<const char*>(pc) + 1);  // callers look one lower
  host.note_frames(nullptr, reinterpret_cast<void* const*>(registers[REG_RBP]));
  registers[REG_RIP] = reinterpret_cast<greg_t>(leave_after_fault);
  registers[REG_RDI] = reinterpret_cast<greg_t>(&core);
  registers[REG_RSP] = reinterpret_cast<greg_t>(host.fiber->fresh_top()) - 8;
  registers[REG_RBP] = 0;
  registers[REG_EFL] &= ~0x400;  // the direction flag
  return true;
#else
  return false;
#endif
}

// Host addresses to the guest's pc and calls.
void find_guest_frames(Core& core) {
  const Image& image = *core.image;
  std::vector<uint32_t> offsets;
  for (const void* frame : core.host->frames) {
    for (const uint32_t at :
         core.host->translation->code()->locate(static_cast<const char*>(frame) - 1)) {
      offsets.push_back(at);
    }
  }
  core.calls.clear();
  for (size_t i = offsets.size(); i > 1; --i) {
    const uint32_t call = offsets[i - 1];
    if (call >= image.code_bytes) continue;
    core.calls.push_back(image.code_base + call + image.code[call / 2].half_words * 2u);
  }
  if (core.host->stop == HostStop::fault && !offsets.empty()) {
    core.pc = image.code_base + offsets.front();
  }
}

void explain_fault(Core& core) {
  HostCore& host = *core.host;
  if (host.stack_ran_over) {
    core.set_trap(TrapKind::stack_overflow, "the calls nest deeper than the stack of the host");
    return;
  }
  const uint32_t at = core.pc - core.image->code_base;
  const Op op = at < core.image->code_bytes ? core.image->code[at / 2].op : Op::lw;
  const auto address = static_cast<uint32_t>(host.fault_address -
                                             reinterpret_cast<uintptr_t>(host.view->base()));
  core.trap_access(address, access_bytes(op), is_store(op));
}

}  // namespace

Result<std::unique_ptr<HostCore>> HostCore::create(std::shared_ptr<Memory> memory, int core) {
  auto host = std::make_unique<HostCore>();
  ANYNPU_ASSIGN(host->view, View::create(std::move(memory), core));
  ANYNPU_ASSIGN(host->fiber, Fiber::create(kHostStack));
  host->frames.reserve(kMostFrames);
  return host;
}

void HostCore::note_frames(const void* pc, void* const* frame) {
  if (pc) {
    frames.clear();
    frames.push_back(pc);
    frame = static_cast<void* const*>(*frame);  // the helper's own
  }
  // Each frame starts with the one around it and the return address.
  while (fiber->contains(frame) && frames.size() < kMostFrames) {
    if (frame[1]) frames.push_back(frame[1]);
    if (frame[0] <= static_cast<const void*>(frame)) break;
    frame = static_cast<void* const*>(*frame);
  }
}

void prepare_host(Core& core, HostCore& host, const Translation& translation, void* kernel,
                  PrintSink& sink) {
  core.host = &host;
  host.translation = &translation;
  host.kernel = reinterpret_cast<int64_t (*)(std::byte*, int64_t)>(kernel);
  host.frames.clear();
  host.stack_ran_over = false;
  HostState& state = host.view->state();
  state.functions = translation.functions();
  state.image_base = core.image->base;
  state.stack_low = core.stack_low;
  std::memcpy(state.x, core.x.data(), sizeof state.x);
  std::memcpy(state.f, core.f.data(), sizeof state.f);
  state.core = &core;
  state.sink = &sink;
  host.started = false;
  host.fiber->prepare(start_kernel, &core);
}

HostStop run_host(Core& core, uint64_t slice) {
  HostCore& host = *core.host;
  host.turn = 0;
  host.turn_limit = slice;
  if (!host.started) {
    host.started = true;
    host.granted = std::clamp<uint64_t>(std::min(slice, core.budget), 1, kMostSlice);
  }
  {
    const FaultScope guard(on_fault, &core);
    host.fiber->resume();
  }
  if (host.stop == HostStop::trap || host.stop == HostStop::fault) {
    find_guest_frames(core);
    if (host.stop == HostStop::fault) explain_fault(core);
    return HostStop::trap;
  }
  return host.stop;
}

}  // namespace anynpu::npc
