// SPDX-License-Identifier: Apache-2.0
// A second interpreter, written for plainness alone: one instruction at a time straight from its
// bits, every float through the exact path. The oracle of the random instruction streams.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include "npc/decode.h"
#include "npc/float_ops.h"

namespace anynpu::npc {

struct PlainCore {
  uint32_t x[32] = {};
  uint32_t f[32] = {};
  uint32_t pc = 0;
  uint32_t flags = 0, frm = 0;
  uint64_t count = 0, cycles = 0;
  uint32_t block = 0, blocks = 1;  // CoreID and CoreNum
  uint32_t code_base = 0, data_base = 0;
  std::vector<uint8_t> code, data;
  bool reserved = false;
  uint32_t reserved_at = 0, reserved_value = 0;

  uint32_t load(uint32_t at, int bytes) const {
    uint32_t value = 0;
    std::memcpy(&value, data.data() + (at - data_base), bytes);
    return value;
  }
  void store(uint32_t at, int bytes, uint32_t value) {
    std::memcpy(data.data() + (at - data_base), &value, bytes);
  }
  // False when the instruction is not one, or asks for something outside the core.
  bool step();
  // The bits of the instruction at pc; 16 of them matter when it is compressed.
  uint32_t fetch() const {
    uint32_t b = 0;
    std::memcpy(&b, code.data() + (pc - code_base), pc - code_base + 4 <= code.size() ? 4 : 2);
    return b;
  }

 private:
  bool csr(uint32_t b);
  bool integer(uint32_t b);
  bool atomic(uint32_t b);
  bool floating(uint32_t b);
  template <typename F>
  bool format_op(uint32_t b, uint32_t p, uint32_t q, uint32_t rounding);
  template <typename F>
  void set_f(uint32_t rd, uint32_t bits) {
    f[rd] = sizeof(F) && F::kMantissa == 10 ? bits | 0xffff0000u : bits;
  }
  template <typename F>
  uint32_t get_f(uint32_t r) const {
    if (F::kMantissa == 23) return f[r];
    return f[r] >= 0xffff0000u ? f[r] & 0xffff : Half::kNan;
  }
  void set_x(uint32_t rd, uint32_t value) {
    if (rd != 0) x[rd] = value;
  }
};

inline int32_t bits_signed(uint32_t value, int width) {
  return value & (1u << (width - 1)) ? static_cast<int32_t>(value | (~0u << width))
                                     : static_cast<int32_t>(value);
}

inline bool PlainCore::step() {
  uint32_t b = fetch();
  uint32_t length = 4;
  if ((b & 3) != 3) {
    b = expand16(static_cast<uint16_t>(b));
    length = 2;
  }
  const uint32_t opcode = b & 0x7f, f3 = (b >> 12) & 7, rd = (b >> 7) & 31;
  const uint32_t a = x[(b >> 15) & 31], c = x[(b >> 20) & 31];
  uint32_t next = pc + length;
  bool good = true;
  if (opcode == 0x63) {
    bool taken = false;
    const auto sa = static_cast<int32_t>(a), sc = static_cast<int32_t>(c);
    if (f3 == 0) taken = a == c;
    if (f3 == 1) taken = a != c;
    if (f3 == 4) taken = sa < sc;
    if (f3 == 5) taken = !(sa < sc);
    if (f3 == 6) taken = a < c;
    if (f3 == 7) taken = !(a < c);
    uint32_t offset = 0;
    offset |= (b >> 31 & 1) << 12 | (b >> 7 & 1) << 11 | (b >> 25 & 63) << 5 | (b >> 8 & 15) << 1;
    if (taken) next = pc + static_cast<uint32_t>(bits_signed(offset, 13)), ++cycles;
  } else if (opcode == 0x6f) {
    uint32_t offset = 0;
    offset |=
        (b >> 31 & 1) << 20 | (b >> 12 & 255) << 12 | (b >> 20 & 1) << 11 | (b >> 21 & 1023) << 1;
    set_x(rd, next);
    next = pc + static_cast<uint32_t>(bits_signed(offset, 21));
  } else if (opcode == 0x67) {
    const uint32_t target = (a + static_cast<uint32_t>(bits_signed(b >> 20, 12))) & ~1u;
    set_x(rd, next);
    next = target;
  } else if (opcode == 0x2f) {
    good = atomic(b);
  } else if (opcode == 0x07 || opcode == 0x27 || (opcode >= 0x43 && opcode <= 0x53)) {
    good = floating(b);
  } else {
    good = integer(b);
  }
  if (!good) return false;
  pc = next;
  ++count;
  cycles += decode32(b).cycles;
  return true;
}

inline bool PlainCore::integer(uint32_t b) {
  const uint32_t opcode = b & 0x7f, f3 = (b >> 12) & 7, rd = (b >> 7) & 31, f7 = b >> 25;
  const uint32_t a = x[(b >> 15) & 31];
  const auto imm = static_cast<uint32_t>(bits_signed(b >> 20, 12));
  const auto sa = static_cast<int32_t>(a);
  switch (opcode) {
    case 0x37:
      set_x(rd, b & 0xfffff000u);
      return true;
    case 0x17:
      set_x(rd, pc + (b & 0xfffff000u));
      return true;
    case 0x0f:
      return true;
    case 0x03:
      if (f3 == 0) set_x(rd, static_cast<uint32_t>(bits_signed(load(a + imm, 1), 8)));
      if (f3 == 1) set_x(rd, static_cast<uint32_t>(bits_signed(load(a + imm, 2), 16)));
      if (f3 == 2) set_x(rd, load(a + imm, 4));
      if (f3 == 4) set_x(rd, load(a + imm, 1));
      if (f3 == 5) set_x(rd, load(a + imm, 2));
      return true;
    case 0x23: {
      const uint32_t at =
          a + static_cast<uint32_t>(bits_signed((b >> 25) << 5 | (b >> 7 & 31), 12));
      store(at, 1 << f3, x[(b >> 20) & 31]);
      return true;
    }
    case 0x73:
      return csr(b);
    default:
      break;
  }
  if (opcode != 0x13 && opcode != 0x33) return false;
  const bool immediate = opcode == 0x13;
  const uint32_t c = immediate ? imm : x[(b >> 20) & 31];
  const auto sc = static_cast<int32_t>(c);
  const bool alternate = f7 == 32 && (!immediate || f3 == 5);
  if (!immediate && f7 == 1) {
    const int64_t wa = sa, wc = sc;
    switch (f3) {
      case 0:
        set_x(rd, a * c);
        break;
      case 1:
        set_x(rd, static_cast<uint32_t>(wa * wc >> 32));
        break;
      case 2:
        set_x(rd, static_cast<uint32_t>(wa * static_cast<int64_t>(c) >> 32));
        break;
      case 3:
        set_x(rd, static_cast<uint32_t>(static_cast<uint64_t>(a) * c >> 32));
        break;
      case 4:
        set_x(rd, c == 0 ? ~0u : static_cast<uint32_t>(wa / wc));
        break;
      case 5:
        set_x(rd, c == 0 ? ~0u : a / c);
        break;
      case 6:
        set_x(rd, c == 0 ? a : static_cast<uint32_t>(wa % wc));
        break;
      default:
        set_x(rd, c == 0 ? a : a % c);
    }
    return true;
  }
  switch (f3) {
    case 0:
      set_x(rd, alternate ? a - c : a + c);
      break;
    case 1:
      set_x(rd, a << (c & 31));
      break;
    case 2:
      set_x(rd, sa < sc ? 1 : 0);
      break;
    case 3:
      set_x(rd, a < c ? 1 : 0);
      break;
    case 4:
      set_x(rd, a ^ c);
      break;
    case 5:
      set_x(rd, alternate ? static_cast<uint32_t>(sa >> (c & 31)) : a >> (c & 31));
      break;
    case 6:
      set_x(rd, a | c);
      break;
    default:
      set_x(rd, a & c);
  }
  return true;
}

inline bool PlainCore::csr(uint32_t b) {
  const uint32_t number = b >> 20, f3 = (b >> 12) & 7, from = (b >> 15) & 31;
  uint32_t old = 0;
  switch (number) {
    case 0x001:  // fflags
      old = flags;
      break;
    case 0x002:  // frm
      old = frm;
      break;
    case 0x003:  // fcsr
      old = flags | frm << 5;
      break;
    case 0xc00:  // cycle and time, instret, and their upper halves
    case 0xc01:
      old = static_cast<uint32_t>(cycles);
      break;
    case 0xc02:
      old = static_cast<uint32_t>(count);
      break;
    case 0xc80:
    case 0xc81:
      old = static_cast<uint32_t>(cycles >> 32);
      break;
    case 0xc82:
      old = static_cast<uint32_t>(count >> 32);
      break;
    case 0xf14:
      old = block;
      break;
    case 0xfc0:
      old = blocks;
      break;
    default:
      return false;
  }
  if ((f3 & 3) == 0) return false;
  const uint32_t operand = f3 & 4 ? from : x[from];
  const uint32_t value = (f3 & 3) == 1 ? operand : (f3 & 3) == 2 ? old | operand : old & ~operand;
  const bool writes = (f3 & 3) == 1 || from != 0;
  if (writes && number > 3) return false;
  if (writes && number == 1) flags = value & 31;
  if (writes && number == 2) frm = value & 7;
  if (writes && number == 3) flags = value & 31, frm = value >> 5 & 7;
  set_x((b >> 7) & 31, old);
  return true;
}

inline bool PlainCore::atomic(uint32_t b) {
  const uint32_t at = x[(b >> 15) & 31], value = x[(b >> 20) & 31], rd = (b >> 7) & 31;
  const uint32_t old = load(at, 4);
  const auto so = static_cast<int32_t>(old), sv = static_cast<int32_t>(value);
  switch (b >> 27) {
    case 2:
      reserved = true;
      reserved_at = at;
      reserved_value = old;
      set_x(rd, old);
      return true;
    case 3: {
      // A store of one's own in between may break a reservation: here it does when it changed the
      // word.
      const bool works = reserved && reserved_at == at && reserved_value == old;
      reserved = false;
      if (works) store(at, 4, value);
      set_x(rd, works ? 0 : 1);
      return true;
    }
    case 1:
      store(at, 4, value);
      break;
    case 0:
      store(at, 4, old + value);
      break;
    case 4:
      store(at, 4, old ^ value);
      break;
    case 12:
      store(at, 4, old & value);
      break;
    case 8:
      store(at, 4, old | value);
      break;
    case 16:
      store(at, 4, so < sv ? old : value);
      break;
    case 20:
      store(at, 4, so > sv ? old : value);
      break;
    case 24:
      store(at, 4, old < value ? old : value);
      break;
    case 28:
      store(at, 4, old > value ? old : value);
      break;
    default:
      return false;
  }
  set_x(rd, old);
  return true;
}

template <typename F>
bool PlainCore::format_op(uint32_t b, uint32_t p, uint32_t q, uint32_t rounding) {
  const auto mode = static_cast<Rounding>(rounding);
  const uint32_t rd = (b >> 7) & 31, f3 = (b >> 12) & 7, rs2 = (b >> 20) & 31;
  const uint32_t word = x[(b >> 15) & 31];
  const uint32_t f5 = b >> 27;
  const bool rounds = f5 <= 3 || f5 == 11 || f5 == 24 || f5 == 26 || f5 == 8;
  if (rounds && rounding > 4) return false;
  switch (f5) {
    case 0:
      set_f<F>(rd, float_op<F>(FloatOp::add, p, q, mode, flags));
      return true;
    case 1:
      set_f<F>(rd, float_op<F>(FloatOp::sub, p, q, mode, flags));
      return true;
    case 2:
      set_f<F>(rd, float_op<F>(FloatOp::mul, p, q, mode, flags));
      return true;
    case 3:
      set_f<F>(rd, float_op<F>(FloatOp::div, p, q, mode, flags));
      return true;
    case 11:
      set_f<F>(rd, float_op<F>(FloatOp::sqrt, p, p, mode, flags));
      return true;
    case 4: {
      const uint32_t sign = f3 == 0 ? q : f3 == 1 ? ~q : p ^ q;
      set_f<F>(rd, (p & (F::kSign - 1)) | (sign & F::kSign));
      return true;
    }
    case 5:
      set_f<F>(rd, f3 == 0 ? float_min<F>(p, q, flags) : float_max<F>(p, q, flags));
      return true;
    case 20: {
      const auto how = f3 == 2   ? FloatCompare::equal
                       : f3 == 1 ? FloatCompare::less
                                 : FloatCompare::less_equal;
      set_x(rd, float_compare<F>(how, p, q, flags));
      return true;
    }
    case 24:
      set_x(rd, rs2 ? float_to_u32<F>(p, mode, flags) : float_to_i32<F>(p, mode, flags));
      return true;
    case 26:
      set_f<F>(rd, float_from_i64<F>(rs2 ? int64_t{word} : int64_t{static_cast<int32_t>(word)},
                                     mode, flags));
      return true;
    case 28:
      if (f3 == 1) {
        set_x(rd, float_class<F>(p));
      } else {
        const uint32_t raw = f[(b >> 15) & 31];
        set_x(rd, F::kMantissa == 23 ? raw : static_cast<uint32_t>(bits_signed(raw & 0xffff, 16)));
      }
      return true;
    case 30:
      set_f<F>(rd, F::kMantissa == 23 ? word : word & 0xffff);
      return true;
    case 8:
      if (F::kMantissa == 23) {
        set_f<F>(rd, half_to_single(get_f<Half>((b >> 15) & 31), flags));
      } else {
        set_f<F>(rd, single_to_half(f[(b >> 15) & 31], mode, flags));
      }
      return true;
    default:
      return false;
  }
}

inline bool PlainCore::floating(uint32_t b) {
  const uint32_t opcode = b & 0x7f, f3 = (b >> 12) & 7, rd = (b >> 7) & 31;
  const uint32_t r1 = (b >> 15) & 31, r2 = (b >> 20) & 31, r3 = b >> 27;
  const bool half = (b >> 25 & 3) == 2;
  const uint32_t rounding = f3 == 7 ? frm : f3;
  if (opcode == 0x07) {
    const uint32_t at = x[r1] + static_cast<uint32_t>(bits_signed(b >> 20, 12));
    f[rd] = f3 == 2 ? load(at, 4) : load(at, 2) | 0xffff0000u;
    return true;
  }
  if (opcode == 0x27) {
    const uint32_t at = x[r1] + static_cast<uint32_t>(bits_signed((b >> 25) << 5 | rd, 12));
    store(at, f3 == 2 ? 4 : 2, f[r2]);
    return true;
  }
  if (opcode == 0x53) {
    return half ? format_op<Half>(b, get_f<Half>(r1), get_f<Half>(r2), rounding)
                : format_op<Single>(b, f[r1], f[r2], rounding);
  }
  if (rounding > 4) return false;
  const auto mode = static_cast<Rounding>(rounding);
  const bool negate_product = opcode == 0x4b || opcode == 0x4f;
  const bool negate_addend = opcode == 0x47 || opcode == 0x4f;
  if (half) {
    set_f<Half>(
        rd, float_fma<Half>(get_f<Half>(r1) ^ (negate_product ? Half::kSign : 0), get_f<Half>(r2),
                            get_f<Half>(r3) ^ (negate_addend ? Half::kSign : 0), mode, flags));
  } else {
    set_f<Single>(rd, float_fma<Single>(f[r1] ^ (negate_product ? Single::kSign : 0), f[r2],
                                        f[r3] ^ (negate_addend ? Single::kSign : 0), mode, flags));
  }
  return true;
}

}  // namespace anynpu::npc
