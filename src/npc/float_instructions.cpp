// SPDX-License-Identifier: Apache-2.0
#include "npc/core.h"
#include "npc/decode.h"
#include "npc/instructions.h"

namespace anynpu::npc {

namespace {

constexpr int number(Op op) { return static_cast<int>(op); }

// ops.def lists the instructions of both formats in the same order.
static_assert(number(Op::fmv_h_x) - number(Op::fmadd_h) ==
              number(Op::fmv_w_x) - number(Op::fmadd_s));
static_assert(number(Op::fclass_h) - number(Op::fmadd_h) ==
              number(Op::fclass_s) - number(Op::fmadd_s));

constexpr Op single_form(Op half) {
  return static_cast<Op>(number(half) - number(Op::fmadd_h) + number(Op::fmadd_s));
}

template <typename F>
uint32_t get(uint32_t bits) {
  return F::kMantissa == Half::kMantissa ? unbox(bits) : bits;
}
template <typename F>
uint32_t put(uint32_t bits) {
  return F::kMantissa == Half::kMantissa ? box(bits) : bits;
}

// `op` in its single form.
bool rounds(Op op) {
  switch (op) {
    case Op::fmin_s:
    case Op::fmax_s:
    case Op::fsgnj_s:
    case Op::fsgnjn_s:
    case Op::fsgnjx_s:
    case Op::fmv_x_w:
    case Op::fmv_w_x:
    case Op::feq_s:
    case Op::flt_s:
    case Op::fle_s:
    case Op::fclass_s:
      return false;
    default:
      return true;
  }
}

// Results in float registers.
template <typename F>
uint32_t to_float_register(Core& core, Op op, const Decoded& d, Rounding mode) {
  uint32_t& flags = core.float_flags;
  const uint32_t a = get<F>(core.f[d.rs1]), b = get<F>(core.f[d.rs2]), c = get<F>(core.f[d.rs3]);
  const uint32_t word = core.x[d.rs1];
  switch (op) {
    case Op::fadd_s:
      return float_op<F>(FloatOp::add, a, b, mode, flags);
    case Op::fsub_s:
      return float_op<F>(FloatOp::sub, a, b, mode, flags);
    case Op::fmul_s:
      return float_op<F>(FloatOp::mul, a, b, mode, flags);
    case Op::fdiv_s:
      return float_op<F>(FloatOp::div, a, b, mode, flags);
    case Op::fsqrt_s:
      return float_op<F>(FloatOp::sqrt, a, a, mode, flags);
    case Op::fmadd_s:
      return float_fma<F>(a, b, c, mode, flags);
    case Op::fmsub_s:
      return float_fma<F>(a, b, c ^ F::kSign, mode, flags);
    case Op::fnmsub_s:
      return float_fma<F>(a ^ F::kSign, b, c, mode, flags);
    case Op::fnmadd_s:
      return float_fma<F>(a ^ F::kSign, b, c ^ F::kSign, mode, flags);
    case Op::fsgnj_s:
      return (a & ~F::kSign) | (b & F::kSign);
    case Op::fsgnjn_s:
      return (a & ~F::kSign) | (~b & F::kSign);
    case Op::fsgnjx_s:
      return a ^ (b & F::kSign);
    case Op::fmin_s:
      return float_min<F>(a, b, flags);
    case Op::fmax_s:
      return float_max<F>(a, b, flags);
    case Op::fcvt_s_w:
      return float_from_i64<F>(static_cast<int32_t>(word), mode, flags);
    case Op::fcvt_s_wu:
      return float_from_i64<F>(word, mode, flags);
    default:
      return word & (F::kSign | (F::kSign - 1));  // fmv
  }
}

// Results in integer registers.
template <typename F>
uint32_t to_integer_register(Core& core, Op op, const Decoded& d, Rounding mode) {
  uint32_t& flags = core.float_flags;
  const uint32_t a = get<F>(core.f[d.rs1]), b = get<F>(core.f[d.rs2]);
  switch (op) {
    case Op::fcvt_w_s:
      return float_to_i32<F>(a, mode, flags);
    case Op::fcvt_wu_s:
      return float_to_u32<F>(a, mode, flags);
    case Op::feq_s:
      return float_compare<F>(FloatCompare::equal, a, b, flags);
    case Op::flt_s:
      return float_compare<F>(FloatCompare::less, a, b, flags);
    case Op::fle_s:
      return float_compare<F>(FloatCompare::less_equal, a, b, flags);
    case Op::fclass_s:
      return float_class<F>(a);
    default:  // fmv takes the bits as they are
      return F::kMantissa == Half::kMantissa
                 ? static_cast<uint32_t>(static_cast<int16_t>(core.f[d.rs1]))
                 : core.f[d.rs1];
  }
}

bool targets_integer(Op op) {
  switch (op) {
    case Op::fcvt_w_s:
    case Op::fcvt_wu_s:
    case Op::fmv_x_w:
    case Op::feq_s:
    case Op::flt_s:
    case Op::fle_s:
    case Op::fclass_s:
      return true;
    default:
      return false;
  }
}

template <typename F>
bool run_format(Core& core, Op op, const Decoded& d) {
  const uint32_t mode = d.rm == 7 ? core.rounding : d.rm;
  if (rounds(op) && mode > kNearestAway) return false;
  if (targets_integer(op)) {
    core.x[d.rd] = to_integer_register<F>(core, op, d, static_cast<Rounding>(mode));
  } else {
    core.f[d.rd] = put<F>(to_float_register<F>(core, op, d, static_cast<Rounding>(mode)));
  }
  return true;
}

}  // namespace

bool writes_integer(Op op) {
  if (op == Op::fcvt_s_h || op == Op::fcvt_h_s) return false;
  return targets_integer(op >= Op::fmadd_h ? single_form(op) : op);
}

bool run_float(Core& core, const Decoded& d) {
  if (d.op == Op::fcvt_s_h || d.op == Op::fcvt_h_s) {
    const uint32_t mode = d.rm == 7 ? core.rounding : d.rm;
    if (mode > kNearestAway) return false;
    uint32_t& flags = core.float_flags;
    core.f[d.rd] = d.op == Op::fcvt_s_h
                       ? half_to_single(unbox(core.f[d.rs1]), flags)
                       : box(single_to_half(core.f[d.rs1], static_cast<Rounding>(mode), flags));
    return true;
  }
  if (d.op >= Op::fmadd_h) return run_format<Half>(core, single_form(d.op), d);
  return run_format<Single>(core, d.op, d);
}

}  // namespace anynpu::npc
