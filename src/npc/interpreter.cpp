// SPDX-License-Identifier: Apache-2.0
#include "npc/interpreter.h"

#include <bit>
#include <cfenv>
#include <cmath>
#include <cstring>

#include "base/format.h"
#include "npc/core.h"
#include "npc/csr.h"
#include "npc/float_ops.h"
#include "npc/image.h"
#include "tensor/half.h"

namespace anynpu::npc {

namespace {

constexpr uint64_t kOneInstruction = uint64_t{1} << 32;  // above the cycles in the accumulator
constexpr size_t kDeepestCalls = 16384;  // more than 64 KiB of stack can hold

float as_float(uint32_t bits) { return std::bit_cast<float>(bits); }
uint32_t as_bits(float value) {
  return value != value ? Single::kNan : std::bit_cast<uint32_t>(value);
}

// A half in a register is boxed: ones above it. Anything else reads as NaN.
uint32_t unbox(uint32_t bits) { return (bits >> 16) == 0xffff ? bits & 0xffff : Half::kNan; }
uint32_t box(uint32_t bits) { return bits | 0xffff0000u; }

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

// The host keeps the sticky exception flags of float instructions that run natively; they move to
// the core when a turn ends. RISC-V and host bits differ.
uint32_t host_flags() {
  const int raised = std::fetestexcept(FE_ALL_EXCEPT);
  return (raised & FE_INEXACT ? kInexact : 0u) | (raised & FE_UNDERFLOW ? kUnderflow : 0u) |
         (raised & FE_OVERFLOW ? kOverflow : 0u) | (raised & FE_DIVBYZERO ? kDivZero : 0u) |
         (raised & FE_INVALID ? kInvalid : 0u);
}

// Host float state of a turn: flags clear, nearest-even, no host traps; restored at the end.
class FloatTurn {
 public:
  explicit FloatTurn(Core& core) : core_(core) {
    std::feholdexcept(&environment_);
    std::fesetround(FE_TONEAREST);
  }
  ~FloatTurn() {
    fold();
    std::fesetenv(&environment_);
  }
  void fold() {
    core_.float_flags |= host_flags();
    std::feclearexcept(FE_ALL_EXCEPT);
  }

 private:
  Core& core_;
  std::fenv_t environment_;
};

// Half results that need no care: exact, or plainly inexact and normal. Others: the exact path.
bool quick_half(float value, uint32_t& bits) {
  const float magnitude = std::fabs(value);
  if (!(magnitude >= 0x1p-13f && magnitude < 65504.0f)) {
    if (value != 0) return false;
  }
  const F16 half = to_f16(value);
  if (to_float(half) != value) std::feraiseexcept(FE_INEXACT);
  bits = half.bits;
  return true;
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

template <typename T>
T* atomic_word(Core& core, uint32_t address, Permission permission) {
  if (address & 3) {
    core.set_trap(TrapKind::misaligned_atomic,
                  format("atomic access at {x}, expected a multiple of 4", address));
    return nullptr;
  }
  std::byte* at = core.at(address, 4, permission);
  if (!at) core.trap_access(address, 4, permission & kWrite);
  return reinterpret_cast<T*>(at);
}

bool run_atomic(Core& core, const Decoded& d) {
  const uint32_t address = core.x[d.rs1];
  const uint32_t value = core.x[d.rs2];
  auto* word = atomic_word<uint32_t>(core, address, d.op == Op::lr_w ? kRead : kReadWrite);
  if (!word) return false;
  uint32_t old = 0;
  switch (d.op) {
    case Op::lr_w:
      old = __atomic_load_n(word, __ATOMIC_SEQ_CST);
      core.reserved_address = address;
      core.reserved_value = old;
      break;
    case Op::sc_w: {
      uint32_t expected = core.reserved_value;
      const bool stored = core.reserved_address == address &&
                          __atomic_compare_exchange_n(word, &expected, value, false,
                                                      __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
      core.reserved_address = 1;
      old = stored ? 0 : 1;
      break;
    }
    case Op::amoswap_w: old = __atomic_exchange_n(word, value, __ATOMIC_SEQ_CST); break;
    case Op::amoadd_w: old = __atomic_fetch_add(word, value, __ATOMIC_SEQ_CST); break;
    case Op::amoxor_w: old = __atomic_fetch_xor(word, value, __ATOMIC_SEQ_CST); break;
    case Op::amoand_w: old = __atomic_fetch_and(word, value, __ATOMIC_SEQ_CST); break;
    case Op::amoor_w: old = __atomic_fetch_or(word, value, __ATOMIC_SEQ_CST); break;
    default: {
      old = __atomic_load_n(word, __ATOMIC_SEQ_CST);
      uint32_t next;
      do {
        const bool below = d.op == Op::amomin_w || d.op == Op::amomax_w
                               ? static_cast<int32_t>(value) < static_cast<int32_t>(old)
                               : value < old;
        const bool smallest = d.op == Op::amomin_w || d.op == Op::amominu_w;
        next = below == smallest ? value : old;
      } while (!__atomic_compare_exchange_n(word, &old, next, false, __ATOMIC_SEQ_CST,
                                            __ATOMIC_SEQ_CST));
    }
  }
  core.x[d.rd] = old;
  return true;
}

// Float instructions off the fast path: other rounding modes, halves, conversions.
// False when the rounding mode is no mode.
bool run_float(Core& core, const Decoded& d) {
  const uint32_t mode = d.rm == 7 ? core.rounding : d.rm;
  const auto rounding = static_cast<Rounding>(mode);
  uint32_t& flags = core.float_flags;
  auto& f = core.f;
  auto& x = core.x;
  const uint32_t a = f[d.rs1], b = f[d.rs2], c = f[d.rs3];
  const auto ha = [&] { return unbox(a); };
  const auto hb = [&] { return unbox(b); };
  const auto hc = [&] { return unbox(c); };
  const auto need_mode = [&] { return mode <= kNearestAway; };
  switch (d.op) {
    case Op::fadd_s: f[d.rd] = float_op<Single>(FloatOp::add, a, b, rounding, flags); return need_mode();
    case Op::fsub_s: f[d.rd] = float_op<Single>(FloatOp::sub, a, b, rounding, flags); return need_mode();
    case Op::fmul_s: f[d.rd] = float_op<Single>(FloatOp::mul, a, b, rounding, flags); return need_mode();
    case Op::fdiv_s: f[d.rd] = float_op<Single>(FloatOp::div, a, b, rounding, flags); return need_mode();
    case Op::fsqrt_s: f[d.rd] = float_op<Single>(FloatOp::sqrt, a, a, rounding, flags); return need_mode();
    case Op::fmadd_s: f[d.rd] = float_fma<Single>(a, b, c, rounding, flags); return need_mode();
    case Op::fmsub_s: f[d.rd] = float_fma<Single>(a, b, c ^ Single::kSign, rounding, flags); return need_mode();
    case Op::fnmsub_s: f[d.rd] = float_fma<Single>(a ^ Single::kSign, b, c, rounding, flags); return need_mode();
    case Op::fnmadd_s:
      f[d.rd] = float_fma<Single>(a ^ Single::kSign, b, c ^ Single::kSign, rounding, flags);
      return need_mode();
    case Op::fcvt_w_s: x[d.rd] = float_to_i32<Single>(a, rounding, flags); return need_mode();
    case Op::fcvt_wu_s: x[d.rd] = float_to_u32<Single>(a, rounding, flags); return need_mode();
    case Op::fcvt_s_w:
      f[d.rd] = float_from_i64<Single>(static_cast<int32_t>(x[d.rs1]), rounding, flags);
      return need_mode();
    case Op::fcvt_s_wu: f[d.rd] = float_from_i64<Single>(x[d.rs1], rounding, flags); return need_mode();
    case Op::fmin_s: f[d.rd] = float_min<Single>(a, b, flags); return true;
    case Op::fmax_s: f[d.rd] = float_max<Single>(a, b, flags); return true;
    case Op::fclass_s: x[d.rd] = float_class<Single>(a); return true;

    case Op::fadd_h: f[d.rd] = box(float_op<Half>(FloatOp::add, ha(), hb(), rounding, flags)); return need_mode();
    case Op::fsub_h: f[d.rd] = box(float_op<Half>(FloatOp::sub, ha(), hb(), rounding, flags)); return need_mode();
    case Op::fmul_h: f[d.rd] = box(float_op<Half>(FloatOp::mul, ha(), hb(), rounding, flags)); return need_mode();
    case Op::fdiv_h: f[d.rd] = box(float_op<Half>(FloatOp::div, ha(), hb(), rounding, flags)); return need_mode();
    case Op::fsqrt_h: f[d.rd] = box(float_op<Half>(FloatOp::sqrt, ha(), ha(), rounding, flags)); return need_mode();
    case Op::fmadd_h: f[d.rd] = box(float_fma<Half>(ha(), hb(), hc(), rounding, flags)); return need_mode();
    case Op::fmsub_h:
      f[d.rd] = box(float_fma<Half>(ha(), hb(), hc() ^ Half::kSign, rounding, flags));
      return need_mode();
    case Op::fnmsub_h:
      f[d.rd] = box(float_fma<Half>(ha() ^ Half::kSign, hb(), hc(), rounding, flags));
      return need_mode();
    case Op::fnmadd_h:
      f[d.rd] = box(float_fma<Half>(ha() ^ Half::kSign, hb(), hc() ^ Half::kSign, rounding, flags));
      return need_mode();
    case Op::fsgnj_h: f[d.rd] = box((ha() & ~Half::kSign) | (hb() & Half::kSign)); return true;
    case Op::fsgnjn_h: f[d.rd] = box((ha() & ~Half::kSign) | (~hb() & Half::kSign)); return true;
    case Op::fsgnjx_h: f[d.rd] = box(ha() ^ (hb() & Half::kSign)); return true;
    case Op::fmin_h: f[d.rd] = box(float_min<Half>(ha(), hb(), flags)); return true;
    case Op::fmax_h: f[d.rd] = box(float_max<Half>(ha(), hb(), flags)); return true;
    case Op::fcvt_w_h: x[d.rd] = float_to_i32<Half>(ha(), rounding, flags); return need_mode();
    case Op::fcvt_wu_h: x[d.rd] = float_to_u32<Half>(ha(), rounding, flags); return need_mode();
    case Op::fmv_x_h: x[d.rd] = static_cast<uint32_t>(static_cast<int16_t>(a)); return true;
    case Op::fmv_h_x: f[d.rd] = box(x[d.rs1] & 0xffff); return true;
    case Op::feq_h: x[d.rd] = float_compare<Half>(FloatCompare::equal, ha(), hb(), flags); return true;
    case Op::flt_h: x[d.rd] = float_compare<Half>(FloatCompare::less, ha(), hb(), flags); return true;
    case Op::fle_h: x[d.rd] = float_compare<Half>(FloatCompare::less_equal, ha(), hb(), flags); return true;
    case Op::fclass_h: x[d.rd] = float_class<Half>(ha()); return true;
    case Op::fcvt_h_w:
      f[d.rd] = box(float_from_i64<Half>(static_cast<int32_t>(x[d.rs1]), rounding, flags));
      return need_mode();
    case Op::fcvt_h_wu: f[d.rd] = box(float_from_i64<Half>(x[d.rs1], rounding, flags)); return need_mode();
    case Op::fcvt_s_h: f[d.rd] = half_to_single(ha(), flags); return need_mode();
    case Op::fcvt_h_s: f[d.rd] = box(single_to_half(a, rounding, flags)); return need_mode();
    default: return false;
  }
}

void trap_at(Core& core, TrapKind kind, const char* what) { core.set_trap(kind, what); }

}  // namespace

Stop interpret(Core& core, uint64_t slice) {
  static const void* const labels[] = {
#define X(name, cycles) &&op_##name,
#include "npc/ops.def"
#undef X
  };
  const Image& image = *core.image;
  const Decoded* const code = image.code.data();
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
  Stop stop = Stop::trap;
  FloatTurn turn(core);

  const size_t first = (core.pc - code_base) / 2;
  if ((core.pc & 1) || core.pc < code_base || first >= code_count) {
    core.set_trap(TrapKind::bad_jump, format("execution at {x}, outside the code", core.pc));
    return Stop::trap;
  }
  const Decoded* d = code + first;
  uint32_t target = 0;

#define PC() (code_base + static_cast<uint32_t>(d - code) * 2)
#define DISPATCH() goto* labels[static_cast<size_t>(d->op)]
#define NEXT()                            \
  do {                                    \
    done += kOneInstruction + d->cycles;  \
    d += d->half_words;                   \
    DISPATCH();                           \
  } while (0)
// To `d` + bytes; one more cycle for a taken branch.
#define BRANCH(condition)                                       \
  do {                                                          \
    if (!(condition)) NEXT();                                   \
    target = PC() + static_cast<uint32_t>(d->imm);              \
    done += kOneInstruction + d->cycles + 1;                    \
    goto jump;                                                  \
  } while (0)
#define ADDRESS() (x[d->rs1] + static_cast<uint32_t>(d->imm))
// `at`: the host address of an access inside one page with the permission; else the careful path.
#define ACCESS(type, need, store)                                                             \
  const uint32_t address = ADDRESS();                                                         \
  std::byte* at;                                                                              \
  if ((address & (kPageBytes - 1)) <= kPageBytes - sizeof(type) &&                            \
      (pages[address / kPageBytes].load(std::memory_order_relaxed) & (need)) == (need)) {     \
    at = address >= kLocalBase ? local + (address - kLocalBase) : host + address;             \
  } else {                                                                                    \
    at = core.at(address, sizeof(type), need);                                                \
    if (!at) {                                                                                \
      core.trap_access(address, sizeof(type), store);                                         \
      goto trapped;                                                                           \
    }                                                                                         \
  }
#define LOAD(type, into, convert)        \
  {                                      \
    ACCESS(type, kRead, false)           \
    type value;                          \
    std::memcpy(&value, at, sizeof(type)); \
    into = convert;                      \
  }                                      \
  NEXT()
#define STORE(type, from)                \
  {                                      \
    ACCESS(type, kWrite, true)           \
    const type value = static_cast<type>(from); \
    std::memcpy(at, &value, sizeof(type)); \
  }                                      \
  NEXT()
#define RD x[d->rd]
#define RS1 x[d->rs1]
#define RS2 x[d->rs2]
#define IMM static_cast<uint32_t>(d->imm)
#define SIGNED(v) static_cast<int32_t>(v)
#define NEAREST() (d->rm == 0 || (d->rm == 7 && core.rounding == 0))

  DISPATCH();

op_lui: RD = IMM; NEXT();
op_auipc: RD = PC() + IMM; NEXT();
op_jal:
  target = PC() + IMM;
  if (d->rd != kDiscard) {
    const uint32_t back = PC() + d->half_words * 2u;
    RD = back;
    if (d->rd == 1) record_call(core, back);
  }
  done += kOneInstruction + d->cycles;
  goto jump;
op_jalr:
  target = (RS1 + IMM) & ~1u;
  if (d->rd != kDiscard) {
    const uint32_t back = PC() + d->half_words * 2u;
    RD = back;
    if (d->rd == 1) record_call(core, back);
  } else if (d->rs1 == 1) {
    record_return(core, target);
  }
  if (target == kReturnAddress) {
    done += kOneInstruction + d->cycles;
    stop = Stop::finished;
    goto leave;
  }
  if (target - code_base >= code_count * 2) {
    core.set_trap(TrapKind::bad_jump, format("jump to {x}, outside the code", target));
    goto trapped;
  }
  done += kOneInstruction + d->cycles;
  goto jump;
op_beq: BRANCH(RS1 == RS2);
op_bne: BRANCH(RS1 != RS2);
op_blt: BRANCH(SIGNED(RS1) < SIGNED(RS2));
op_bge: BRANCH(SIGNED(RS1) >= SIGNED(RS2));
op_bltu: BRANCH(RS1 < RS2);
op_bgeu: BRANCH(RS1 >= RS2);
op_lb: LOAD(int8_t, RD, static_cast<uint32_t>(int32_t{value}));
op_lh: LOAD(int16_t, RD, static_cast<uint32_t>(int32_t{value}));
op_lw: LOAD(uint32_t, RD, value);
op_lbu: LOAD(uint8_t, RD, value);
op_lhu: LOAD(uint16_t, RD, value);
op_sb: STORE(uint8_t, RS2);
op_sh: STORE(uint16_t, RS2);
op_sw: STORE(uint32_t, RS2);
op_addi: RD = RS1 + IMM; NEXT();
op_slti: RD = SIGNED(RS1) < d->imm; NEXT();
op_sltiu: RD = RS1 < IMM; NEXT();
op_xori: RD = RS1 ^ IMM; NEXT();
op_ori: RD = RS1 | IMM; NEXT();
op_andi: RD = RS1 & IMM; NEXT();
op_slli: RD = RS1 << d->imm; NEXT();
op_srli: RD = RS1 >> d->imm; NEXT();
op_srai: RD = static_cast<uint32_t>(SIGNED(RS1) >> d->imm); NEXT();
op_add: RD = RS1 + RS2; NEXT();
op_sub: RD = RS1 - RS2; NEXT();
op_sll: RD = RS1 << (RS2 & 31); NEXT();
op_slt: RD = SIGNED(RS1) < SIGNED(RS2); NEXT();
op_sltu: RD = RS1 < RS2; NEXT();
op_xor_: RD = RS1 ^ RS2; NEXT();
op_srl: RD = RS1 >> (RS2 & 31); NEXT();
op_sra: RD = static_cast<uint32_t>(SIGNED(RS1) >> (RS2 & 31)); NEXT();
op_or_: RD = RS1 | RS2; NEXT();
op_and_: RD = RS1 & RS2; NEXT();
op_fence: __atomic_thread_fence(__ATOMIC_SEQ_CST); NEXT();
op_ecall:
  done += kOneInstruction + d->cycles;
  d += d->half_words;
  stop = Stop::service;
  goto leave;
op_ebreak:
  trap_at(core, TrapKind::breakpoint, "ebreak: the compiler put a trap here");
  goto trapped;
op_csrrw: op_csrrs: op_csrrc: op_csrrwi: op_csrrsi: op_csrrci:
  turn.fold();
  if (!run_csr(core, *d, (done >> 32), static_cast<uint32_t>(done))) {
    core.set_trap(TrapKind::illegal_instruction, format("no control register {x}", IMM));
    goto trapped;
  }
  NEXT();
op_mul: RD = RS1 * RS2; NEXT();
op_mulh: RD = static_cast<uint32_t>((int64_t{SIGNED(RS1)} * SIGNED(RS2)) >> 32); NEXT();
op_mulhsu: RD = static_cast<uint32_t>((int64_t{SIGNED(RS1)} * int64_t{RS2}) >> 32); NEXT();
op_mulhu: RD = static_cast<uint32_t>((uint64_t{RS1} * RS2) >> 32); NEXT();
op_div: RD = divide(RS1, RS2); NEXT();
op_divu: RD = RS2 == 0 ? ~0u : RS1 / RS2; NEXT();
op_rem: RD = remainder(RS1, RS2); NEXT();
op_remu: RD = RS2 == 0 ? RS1 : RS1 % RS2; NEXT();
op_lr_w: op_sc_w: op_amoswap_w: op_amoadd_w: op_amoxor_w: op_amoand_w: op_amoor_w: op_amomin_w:
op_amomax_w: op_amominu_w: op_amomaxu_w:
  if (!run_atomic(core, *d)) goto trapped;
  NEXT();
op_flw: LOAD(uint32_t, f[d->rd], value);
op_fsw: STORE(uint32_t, f[d->rs2]);
op_flh: LOAD(uint16_t, f[d->rd], box(value));
op_fsh: STORE(uint16_t, f[d->rs2]);

#define FLOAT2(expression)                                                     \
  if (!NEAREST()) goto careful_float;                                          \
  {                                                                            \
    const float a = as_float(f[d->rs1]);                                       \
    [[maybe_unused]] const float b = as_float(f[d->rs2]);                      \
    f[d->rd] = as_bits(expression);                                            \
  }                                                                            \
  NEXT()
op_fadd_s: FLOAT2(a + b);
op_fsub_s: FLOAT2(a - b);
op_fmul_s: FLOAT2(a * b);
op_fdiv_s: FLOAT2(a / b);
op_fsqrt_s: FLOAT2(std::sqrt(a));
#define FUSED(expression)                           \
  if (!NEAREST()) goto careful_float;               \
  {                                                 \
    const float a = as_float(f[d->rs1]);            \
    const float b = as_float(f[d->rs2]);            \
    const float c = as_float(f[d->rs3]);            \
    f[d->rd] = as_bits(expression);                 \
  }                                                 \
  NEXT()
op_fmadd_s: FUSED(std::fma(a, b, c));
op_fmsub_s: FUSED(std::fma(a, b, -c));
op_fnmsub_s: FUSED(std::fma(-a, b, c));
op_fnmadd_s: FUSED(std::fma(-a, b, -c));
op_fsgnj_s: f[d->rd] = (f[d->rs1] & ~Single::kSign) | (f[d->rs2] & Single::kSign); NEXT();
op_fsgnjn_s: f[d->rd] = (f[d->rs1] & ~Single::kSign) | (~f[d->rs2] & Single::kSign); NEXT();
op_fsgnjx_s: f[d->rd] = f[d->rs1] ^ (f[d->rs2] & Single::kSign); NEXT();
op_fmv_x_w: RD = f[d->rs1]; NEXT();
op_fmv_w_x: f[d->rd] = RS1; NEXT();
op_feq_s: RD = float_compare<Single>(FloatCompare::equal, f[d->rs1], f[d->rs2], core.float_flags); NEXT();
op_flt_s: RD = float_compare<Single>(FloatCompare::less, f[d->rs1], f[d->rs2], core.float_flags); NEXT();
op_fle_s: RD = float_compare<Single>(FloatCompare::less_equal, f[d->rs1], f[d->rs2], core.float_flags); NEXT();
op_fcvt_w_s: {
    const float a = as_float(f[d->rs1]);
    if (d->rm != kToZero || !(std::fabs(a) < 0x1p30f)) goto careful_float;
    RD = static_cast<uint32_t>(static_cast<int32_t>(a));
  }
  NEXT();
op_fcvt_s_w:
  if (!NEAREST()) goto careful_float;
  f[d->rd] = as_bits(static_cast<float>(SIGNED(RS1)));
  NEXT();
#define HALF2(expression)                                                     \
  if (NEAREST()) {                                                            \
    const float a = to_float(F16{static_cast<uint16_t>(unbox(f[d->rs1]))});   \
    const float b = to_float(F16{static_cast<uint16_t>(unbox(f[d->rs2]))});   \
    uint32_t bits;                                                            \
    if (a == a && b == b && quick_half(expression, bits)) {                   \
      f[d->rd] = box(bits);                                                   \
      NEXT();                                                                 \
    }                                                                         \
  }                                                                           \
  goto careful_float
op_fadd_h: HALF2(a + b);
op_fsub_h: HALF2(a - b);
op_fmul_h: HALF2(a * b);
op_fcvt_s_h: {
    const uint32_t half = unbox(f[d->rs1]);
    if ((half & Half::kInfinity) == Half::kInfinity) goto careful_float;
    f[d->rd] = std::bit_cast<uint32_t>(to_float(F16{static_cast<uint16_t>(half)}));
  }
  NEXT();
op_fcvt_h_s:
  if (NEAREST()) {
    const float a = as_float(f[d->rs1]);
    uint32_t bits;
    if (a == a && quick_half(a, bits)) {
      f[d->rd] = box(bits);
      NEXT();
    }
  }
  goto careful_float;
op_fmin_s: op_fmax_s: op_fclass_s: op_fcvt_wu_s: op_fcvt_s_wu:
op_fmadd_h: op_fmsub_h: op_fnmsub_h: op_fnmadd_h: op_fdiv_h: op_fsqrt_h: op_fsgnj_h: op_fsgnjn_h:
op_fsgnjx_h: op_fmin_h: op_fmax_h: op_fcvt_w_h: op_fcvt_wu_h: op_fmv_x_h: op_feq_h: op_flt_h:
op_fle_h: op_fclass_h: op_fcvt_h_w: op_fcvt_h_wu: op_fmv_h_x:
careful_float:
  if (!run_float(core, *d)) {
    core.set_trap(TrapKind::illegal_instruction,
                  format("{} with rounding mode {}, expected 0-4", name_of(d->op), core.rounding));
    goto trapped;
  }
  NEXT();
op_illegal: {
    uint32_t bits = 0;
    const uint32_t left = image.code_bytes - (PC() - code_base);
    std::memcpy(&bits, host + PC(), left < 4 ? left : 4);
    if ((bits & 3) != 3) bits &= 0xffff;
    core.set_trap(TrapKind::illegal_instruction, format("bits {x} are no instruction", bits));
  }
  goto trapped;
op_past_end:
  trap_at(core, TrapKind::bad_jump, "execution ran past the end of the code");
  goto trapped;

jump:
  if (target - code_base >= code_count * 2) {
    core.set_trap(TrapKind::bad_jump, format("jump to {x}, outside the code", target));
    goto trapped;
  }
  d = code + (target - code_base) / 2;
  if (done < limit) DISPATCH();
  stop = Stop::slice;
  goto leave;

trapped:
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
    trap_at(core, TrapKind::budget, "the kernel executed more instructions than its budget allows");
    return Stop::trap;
  }
  return stop;

#undef PC
#undef DISPATCH
#undef NEXT
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
#undef FLOAT2
#undef FUSED
#undef HALF2
}

}  // namespace anynpu::npc
