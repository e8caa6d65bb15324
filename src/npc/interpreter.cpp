// SPDX-License-Identifier: Apache-2.0
#include "npc/interpreter.h"

#include <bit>
#include <cmath>
#include <cstring>

#include "base/format.h"
#include "npc/core.h"
#include "npc/csr.h"
#include "npc/image.h"
#include "npc/instructions.h"
#include "npc/kernel_watch.h"
#include "npc/native_float.h"

namespace anynpu::npc {

namespace {

constexpr uint64_t kOneInstruction = uint64_t{1} << 32;  // above the cycles in the accumulator
constexpr size_t kDeepestCalls = 16384;                  // more than 64 KiB of stack can hold

uint32_t divide(uint32_t a, uint32_t b) {
  if (b == 0) return ~0u;
  if (a == 0x80000000u && b == ~0u) return a;
  return static_cast<uint32_t>(static_cast<int32_t>(a) / static_cast<int32_t>(b));
}
uint32_t remainder(uint32_t a, uint32_t b) {
  if (b == 0) return a;
  if (a == 0x80000000u && b == ~0u) return 0;
  return static_cast<uint32_t>(static_cast<int32_t>(a) % static_cast<int32_t>(b));
}

void record_call(Core& core, uint32_t back) {
  if (core.calls.size() < kDeepestCalls) core.calls.push_back(back);
}

void record_return(Core& core, uint32_t target) {
  for (size_t depth = core.calls.size(); depth > 0; --depth) {
    if (core.calls[depth - 1] == target) {
      core.calls.resize(depth - 1);
      return;
    }
  }
}

// Races between cores on plain memory are up to the kernel: the thread sanitizer ignores them.
template <bool kWatched>
__attribute__((no_sanitize("thread"))) Stop run(Core& core, uint64_t slice) {
  static const void* const labels[] = {
#define X(name, cycles) &&op_##name,
#include "npc/ops.def"
#undef X
  };
  const Image& image = *core.image;
  const Decoded* const code = image.code.data();
  const uint64_t* const weights = image.weights.data();
  const size_t code_count = image.code_bytes / 2;
  const uint32_t code_base = image.code_base;
  const std::atomic<uint8_t>* const pages = core.memory->pages();
  std::byte* const host = core.memory->host(0);
  std::byte* const local = core.local;
  uint32_t* const x = core.x.data();
  uint32_t* const f = core.f.data();

  if (slice > core.budget) slice = core.budget;
  if (slice > 0x4000'0000) slice = 0x4000'0000;  // the accumulator's cycles stay below 32 bits
  const uint64_t limit = slice * kOneInstruction;
  uint64_t done = 0;  // instructions << 32 | cycles
  const bool has_fma = host_has_fma();
  Stop stop = Stop::trap;
  FloatTurn turn(core);

  const size_t first = (core.pc - code_base) / 2;
  if ((core.pc & 1) || core.pc < code_base || first >= code_count) {
    core.set_trap(TrapKind::bad_jump, format("execution at {:#x}, outside the code", core.pc));
    return Stop::trap;
  }
  const Decoded* d = code + first;
  // What runs between two jumps is counted at once: weights[i] sums the instructions from entry i
  // to the end of the code.
  uint64_t run_start = weights[first];
  uint32_t target = 0;

#define PC() (code_base + static_cast<uint32_t>(d - code) * 2)
#define DISPATCH() goto* labels[static_cast<size_t>(d->op)]
#define NEXT()          \
  do {                  \
    d += d->half_words; \
    DISPATCH();         \
  } while (0)
// Instructions of this run before `d`, and with it.
#define RUN_BEFORE() (run_start - weights[d - code])
#define RUN_WITH() (RUN_BEFORE() + kOneInstruction + d->cycles)
// To `d` + bytes; one more cycle for a taken branch.
#define BRANCH(condition)                          \
  do {                                             \
    if (!(condition)) NEXT();                      \
    target = PC() + static_cast<uint32_t>(d->imm); \
    done += RUN_WITH() + 1;                        \
    goto jump;                                     \
  } while (0)
#define ADDRESS() (x[d->rs1] + static_cast<uint32_t>(d->imm))
// `at`: the host address of an access inside one page with the permission; else the careful path.
#define ACCESS(type, need, store)                                                         \
  const uint32_t address = ADDRESS();                                                     \
  std::byte* at;                                                                          \
  if ((address & (kPageBytes - 1)) <= kPageBytes - sizeof(type) &&                        \
      (pages[address / kPageBytes].load(std::memory_order_relaxed) & (need)) == (need)) { \
    at = address >= kLocalBase ? local + (address - kLocalBase) : host + address;         \
  } else {                                                                                \
    at = core.unwatched_at(address, sizeof(type), need);                                  \
    if (!at) {                                                                            \
      core.trap_access(address, sizeof(type), store);                                     \
      goto trapped;                                                                       \
    }                                                                                     \
  }                                                                                       \
  if constexpr (kWatched) core.watch->access(core, PC(), address, sizeof(type), store);
#define LOAD(type, into, convert)          \
  {                                        \
    ACCESS(type, kRead, false)             \
    type value;                            \
    std::memcpy(&value, at, sizeof(type)); \
    into = convert;                        \
  }                                        \
  NEXT()
#define STORE(type, from)                       \
  {                                             \
    ACCESS(type, kWrite, true)                  \
    const type value = static_cast<type>(from); \
    std::memcpy(at, &value, sizeof(type));      \
  }                                             \
  NEXT()
#define RD x[d->rd]
#define RS1 x[d->rs1]
#define RS2 x[d->rs2]
#define IMM static_cast<uint32_t>(d->imm)
#define SIGNED(v) static_cast<int32_t>(v)
#define NEAREST() (d->rm == 0 || (d->rm == 7 && core.rounding == 0))

  DISPATCH();

op_lui:
  RD = IMM;
  NEXT();
op_auipc:
  RD = PC() + IMM;
  NEXT();
op_jal:
  target = PC() + IMM;
  if (d->rd != kDiscard) {
    const uint32_t back = PC() + d->half_words * 2u;
    RD = back;
    if (d->rd == 1) record_call(core, back);
  }
  done += RUN_WITH();
  goto jump;
op_jalr:
  target = (RS1 + IMM) & ~1u;
  if (target - code_base >= code_count * 2) {
    if (target == kReturnAddress) {
      done += RUN_WITH();
      stop = Stop::finished;
      goto leave;
    }
    core.trap_jump(target);
    goto trapped;
  }
  if (d->rd != kDiscard) {
    const uint32_t back = PC() + d->half_words * 2u;
    RD = back;
    if (d->rd == 1) record_call(core, back);
  } else if (d->rs1 == 1) {
    record_return(core, target);
  }
  done += RUN_WITH();
  goto jump;
op_beq:
  BRANCH(RS1 == RS2);
op_bne:
  BRANCH(RS1 != RS2);
op_blt:
  BRANCH(SIGNED(RS1) < SIGNED(RS2));
op_bge:
  BRANCH(SIGNED(RS1) >= SIGNED(RS2));
op_bltu:
  BRANCH(RS1 < RS2);
op_bgeu:
  BRANCH(RS1 >= RS2);
op_lb:
  LOAD(int8_t, RD, static_cast<uint32_t>(int32_t{value}));
op_lh:
  LOAD(int16_t, RD, static_cast<uint32_t>(int32_t{value}));
op_lw:
  LOAD(uint32_t, RD, value);
op_lbu:
  LOAD(uint8_t, RD, value);
op_lhu:
  LOAD(uint16_t, RD, value);
op_sb:
  STORE(uint8_t, RS2);
op_sh:
  STORE(uint16_t, RS2);
op_sw:
  STORE(uint32_t, RS2);
op_addi:
  RD = RS1 + IMM;
  NEXT();
op_slti:
  RD = SIGNED(RS1) < d->imm;
  NEXT();
op_sltiu:
  RD = RS1 < IMM;
  NEXT();
op_xori:
  RD = RS1 ^ IMM;
  NEXT();
op_ori:
  RD = RS1 | IMM;
  NEXT();
op_andi:
  RD = RS1 & IMM;
  NEXT();
op_slli:
  RD = RS1 << d->imm;
  NEXT();
op_srli:
  RD = RS1 >> d->imm;
  NEXT();
op_srai:
  RD = static_cast<uint32_t>(SIGNED(RS1) >> d->imm);
  NEXT();
op_add:
  RD = RS1 + RS2;
  NEXT();
op_sub:
  RD = RS1 - RS2;
  NEXT();
op_sll:
  RD = RS1 << (RS2 & 31);
  NEXT();
op_slt:
  RD = SIGNED(RS1) < SIGNED(RS2);
  NEXT();
op_sltu:
  RD = RS1 < RS2;
  NEXT();
op_xor_:
  RD = RS1 ^ RS2;
  NEXT();
op_srl:
  RD = RS1 >> (RS2 & 31);
  NEXT();
op_sra:
  RD = static_cast<uint32_t>(SIGNED(RS1) >> (RS2 & 31));
  NEXT();
op_or_:
  RD = RS1 | RS2;
  NEXT();
op_and_:
  RD = RS1 & RS2;
  NEXT();
op_fence:
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  NEXT();
op_ecall:
  done += RUN_WITH();
  d += d->half_words;
  stop = Stop::service;
  goto leave;
op_ebreak:
  core.trap_breakpoint();
  goto trapped;
op_csrrw:
op_csrrs:
op_csrrc:
op_csrrwi:
op_csrrsi:
op_csrrci:
  turn.fold();
  if (const uint64_t so_far = done + RUN_BEFORE();
      !run_csr(core, *d, so_far >> 32, static_cast<uint32_t>(so_far))) {
    core.trap_csr(IMM);
    goto trapped;
  }
  NEXT();
op_mul:
  RD = RS1 * RS2;
  NEXT();
op_mulh:
  RD = static_cast<uint32_t>((int64_t{SIGNED(RS1)} * SIGNED(RS2)) >> 32);
  NEXT();
op_mulhsu:
  RD = static_cast<uint32_t>((int64_t{SIGNED(RS1)} * int64_t{RS2}) >> 32);
  NEXT();
op_mulhu:
  RD = static_cast<uint32_t>((uint64_t{RS1} * RS2) >> 32);
  NEXT();
op_div:
  RD = divide(RS1, RS2);
  NEXT();
op_divu:
  RD = RS2 == 0 ? ~0u : RS1 / RS2;
  NEXT();
op_rem:
  RD = remainder(RS1, RS2);
  NEXT();
op_remu:
  RD = RS2 == 0 ? RS1 : RS1 % RS2;
  NEXT();
op_lr_w:
op_sc_w:
op_amoswap_w:
op_amoadd_w:
op_amoxor_w:
op_amoand_w:
op_amoor_w:
op_amomin_w:
op_amomax_w:
op_amominu_w:
op_amomaxu_w:
  if (!run_atomic(core, *d)) goto trapped;
  NEXT();
op_flw:
  LOAD(uint32_t, f[d->rd], value);
op_fsw:
  STORE(uint32_t, f[d->rs2]);
op_flh:
  LOAD(uint16_t, f[d->rd], box(value));
op_fsh:
  STORE(uint16_t, f[d->rs2]);

#include "npc/interpreter_floats.inc"
op_illegal:
  core.pc = PC();
  core.trap_illegal();
  goto trapped;
op_past_end:
  core.trap_past_end();
  goto trapped;

jump:
  if (target - code_base >= code_count * 2) {
    core.trap_jump(target);
    stop = Stop::trap;  // the jump itself was counted
    goto leave;
  }
  d = code + (target - code_base) / 2;
  run_start = weights[d - code];
  if (done < limit) DISPATCH();
  stop = Stop::slice;
  goto leave;

trapped:
  done += RUN_BEFORE();
  stop = Stop::trap;
leave:
  core.pc = PC();
  const uint64_t instructions = done >> 32;
  const uint64_t cycles = done & 0xffff'ffff;
  core.counters.instructions += instructions;
  core.counters.events[kMCU_CYCLE] += cycles;
  core.clock += cycles;
  core.budget -= instructions < core.budget ? instructions : core.budget;
  if (stop == Stop::slice && core.budget == 0) {
    core.trap_budget();
    return Stop::trap;
  }
  return stop;

#undef PC
#undef DISPATCH
#undef NEXT
#undef RUN_BEFORE
#undef RUN_WITH
#undef BRANCH
#undef ADDRESS
#undef ACCESS
#undef LOAD
#undef STORE
#undef RD
#undef RS1
#undef RS2
#undef IMM
#undef SIGNED
#undef NEAREST
}

}  // namespace

Stop interpret(Core& core, uint64_t slice) {
  return core.watch ? run<true>(core, slice) : run<false>(core, slice);
}

}  // namespace anynpu::npc
