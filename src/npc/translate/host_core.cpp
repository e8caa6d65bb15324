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
  const uint64_t cycles = static_cast<uint64_t>(count) & ((uint64_t{1} << kInstructionShift) - 1);
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
    const auto address =
        static_cast<uint32_t>(host.fault_address - reinterpret_cast<uintptr_t>(host.view->base()));
    if (host.view->admit(address, write)) return true;
  }
  const auto pointer = [&](int reg) { return reinterpret_cast<const std::byte*>(registers[reg]); };
  host.place = {pointer(REG_RIP) + 1, pointer(REG_RSP), pointer(REG_RBP)};  // as behind a call
  registers[REG_RIP] = reinterpret_cast<greg_t>(leave_after_fault);
  registers[REG_RDI] = reinterpret_cast<greg_t>(&core);
  registers[REG_RSP] = reinterpret_cast<greg_t>(host.leave_stack + sizeof host.leave_stack) - 8;
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
  HostCore& host = *core.host;
  const HostCode& code = *host.translation->code();
  std::vector<uint32_t> offsets;
  HostCore::HostFrame place = host.place;
  for (size_t frames = 0; code.contains(place.pc - 1) && frames < kMostFrames; ++frames) {
    for (const uint32_t at : code.locate(place.pc - 1)) offsets.push_back(at);
    const FrameRule rule = code.frame_at(place.pc - 1);
    const std::byte* caller = (rule.from_base_pointer ? place.base : place.stack) + rule.distance;
    if (rule.distance == 0 || !host.fiber->contains(caller - 16)) break;
    std::memcpy(&place.pc, caller - 8, 8);
    if (rule.saved_base != 0) std::memcpy(&place.base, caller + rule.saved_base, 8);
    place.stack = caller;
  }
  core.calls.clear();
  for (size_t i = offsets.size(); i > 1; --i) {
    const uint32_t call = offsets[i - 1];
    if (call >= image.code_bytes) continue;
    core.calls.push_back(image.code_base + call + image.code[call / 2].half_words * 2u);
  }
  if (host.stop == HostStop::fault && !offsets.empty()) {
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
  const auto address =
      static_cast<uint32_t>(host.fault_address - reinterpret_cast<uintptr_t>(host.view->base()));
  core.trap_access(address, access_bytes(op), is_store(op));
}

}  // namespace

Result<std::unique_ptr<HostCore>> HostCore::create(std::shared_ptr<Memory> memory, int core) {
  auto host = std::make_unique<HostCore>();
  ANYNPU_ASSIGN(host->view, View::create(std::move(memory), core));
  ANYNPU_ASSIGN(host->fiber, Fiber::create(kHostStack));
  return host;
}

void prepare_host(Core& core, HostCore& host, const Translation& translation, void* kernel,
                  PrintSink& sink) {
  core.host = &host;
  host.translation = &translation;
  host.kernel = reinterpret_cast<int64_t (*)(std::byte*, int64_t)>(kernel);
  host.stack_ran_over = false;
  HostState& state = host.view->state();
  state.functions = translation.functions();
  state.image_base = core.image->base;
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
    host.fiber->abandon_frames();
    find_guest_frames(core);
    if (host.stop == HostStop::fault) explain_fault(core);
    return HostStop::trap;
  }
  return host.stop;
}

}  // namespace anynpu::npc
