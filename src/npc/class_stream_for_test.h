// SPDX-License-Identifier: Apache-2.0
// One stream for each class of instructions: a loop in which every instruction of the class stands
// several times, with other registers, immediates and rounding modes. Each turn of the loop takes
// operands from the next record, and every result (with its float flags) is stored, so that two
// executions are compared result by result. The records hold every pair of edge values.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "npc/instruction_classes_for_test.h"

namespace anynpu::npc {

// Registers that a stream keeps for itself; the instructions under test use x0 and those from x8.
inline constexpr uint32_t kWindow = 2;   // into data for stores and atomics: 4 bytes on each turn
inline constexpr uint32_t kBack = 3;     // return address of the stream
inline constexpr uint32_t kRecord = 4;   // operands of this turn
inline constexpr uint32_t kResults = 5;  // where results of this turn go
inline constexpr uint32_t kLeft = 6;     // turns left
inline constexpr uint32_t kScratch = 7;

inline constexpr uint32_t kIntegerEdges[] = {
    0,          1,     2,     3,          31,         32,         33,
    0xffffffff, ~1u,   ~31u,  0x7fffffff, 0x7ffffffe, 0x80000000, 0x80000001,
    0x7f,       0x80,  0xff,  0x100,      0x7fff,     0x8000,     0xffff,
    0x10000,    0x7ff, 0x800, 0x55555555, 0xaaaaaaaa, 0x00ffffff, 0x01000001};
inline constexpr uint32_t kSingleEdges[] = {
    0x00000000, 0x80000000,
    0x3f800000, 0xbf800000,  // zeros, ones
    0x00000001, 0x80000001,
    0x007fffff, 0x00800000,  // subnormal, the smallest normal
    0x7f7fffff, 0xff7fffff,
    0x7f800000, 0xff800000,  // the largest, infinities
    0x7fc00000, 0xffc12345,
    0x7fa00000, 0xff800001,  // quiet NaN with and without payload, signaling
    0x3f000000, 0x3fc00000,
    0xc0200000, 0x3f800001,  // halves to round to even, one and a bit
    0x4f000000, 0xcf000000,
    0x4f800000, 0x4b800001,  // around 2^31, 2^32, 2^24
    0x477fe000, 0x477ff000,
    0x33000000, 0x38800000};  // the ends of halves
inline constexpr uint32_t kHalfEdges[] = {
    0xffff0000, 0xffff8000,
    0xffff3c00, 0xffffbc00,  // zeros, ones
    0xffff0001, 0xffff8001,
    0xffff03ff, 0xffff0400,  // subnormal, the smallest normal
    0xffff7bff, 0xfffffbff,
    0xffff7c00, 0xfffffc00,  // the largest, infinities
    0xffff7e00, 0xfffffe55,
    0xffff7d00, 0xfffffc01,  // quiet NaN with and without payload, signaling
    0xffff3800, 0xffff3e00,
    0xffffc100, 0xffff3c01,  // halves to round to even, one and a bit
    0xffff7800, 0xfffff800,
    0xffff6400, 0xffff6801,  // large ones with no fraction
    0x00003c00, 0x3f800000,
    0xfffe3c00, 0xffff1400};  // not boxed: NaN
inline constexpr uint32_t kEdges = std::size(kIntegerEdges);
static_assert(std::size(kSingleEdges) == kEdges && std::size(kHalfEdges) == kEdges);

struct Record {
  uint32_t integers[2], singles[3], halves[3], rounding;
};
inline constexpr uint32_t kClassTurns = 1024;
static_assert(kClassTurns > kEdges * kEdges);

// Data of a stream, in this order; what surrounds the records and the window is in reach of every
// offset.
inline constexpr uint32_t kReach = 2064;
inline constexpr uint32_t kRecordsAt = kReach;
inline constexpr uint32_t kWindowAt = kRecordsAt + kClassTurns * sizeof(Record) + 2 * kReach;
inline constexpr uint32_t kResultsAt = kWindowAt + kClassTurns * 4 + kReach;
inline constexpr uint32_t kMostResults = 2044;  // bytes of a turn, in reach of a store
inline constexpr uint32_t kStreamData = kResultsAt + kClassTurns * kMostResults;

// The data before the results.
inline std::vector<uint8_t> class_data(uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<uint8_t> data(kResultsAt);
  for (auto& byte : data) byte = static_cast<uint8_t>(random());
  const auto edge = [&](const uint32_t(&edges)[kEdges]) { return edges[random() % kEdges]; };
  for (uint32_t turn = 0; turn < kClassTurns; ++turn) {
    Record r;
    for (auto& word : r.integers) word = random();
    for (auto& word : r.singles) word = random();
    for (auto& word : r.halves) word = random() | 0xffff0000u;
    r.rounding = random() % 5;
    if (turn < kEdges * kEdges) {
      const uint32_t a = turn / kEdges, b = turn % kEdges;
      r = {{kIntegerEdges[a], kIntegerEdges[b]},
           {kSingleEdges[a], kSingleEdges[b], edge(kSingleEdges)},
           {kHalfEdges[a], kHalfEdges[b], edge(kHalfEdges)},
           r.rounding};
    }
    std::memcpy(data.data() + kRecordsAt + turn * sizeof(Record), &r, sizeof r);
  }
  return data;
}

struct ClassStream {
  const InstructionClass* instructions;
  bool flags = false;                // each result has its float flags behind it
  std::vector<uint8_t> code;         // ends with ret
  std::vector<std::string> results;  // what each word of a turn's results is
};

class ClassStreamBuilder {
 public:
  ClassStreamBuilder(const InstructionClass& c, bool flags, uint32_t seed) : random_(seed) {
    stream_.instructions = &c;
    stream_.flags = flags;
  }

  ClassStream build() {
    put("addi", {.d = kBack, .s = 1});
    const size_t begin = stream_.code.size();
    if (stream_.flags) {
      put("lw", {.d = kScratch, .s = kRecord, .immediate = offsetof(Record, rounding)});
      put("csrrw", {.s = kScratch, .csr = 2});
      put("csrrwi", {.csr = 1});
    }
    for (const Instruction& i : stream_.instructions->instructions) {
      const uint32_t variants = stream_.instructions->streams == Streams::counters ? 8 : 6;
      for (uint32_t variant = 0; variant < variants; ++variant) sample(i, variant);
    }
    put("addi", {.d = kWindow, .s = kWindow, .immediate = 4});
    put("addi", {.d = kRecord, .s = kRecord, .immediate = sizeof(Record)});
    put("addi", {.d = kResults,
                 .s = kResults,
                 .immediate = static_cast<int32_t>(4 * stream_.results.size())});
    put("addi", {.d = kLeft, .s = kLeft, .immediate = -1});
    put("beq", {.s = kLeft, .immediate = 8});
    put("jal", {.immediate = static_cast<int32_t>(begin - stream_.code.size())});
    put("addi", {.d = 1, .s = kBack});
    put("jalr", {.s = 1});
    return std::move(stream_);
  }

 private:
  uint32_t below(uint32_t limit) { return random_() % limit; }

  void put(const Instruction& i, const Operands& o) {
    const uint32_t word = i.encode(o);
    for (uint32_t byte = 0; byte < i.bytes; ++byte) {
      stream_.code.push_back(static_cast<uint8_t>(word >> 8 * byte));
    }
  }
  void put(const char* name, const Operands& o) { put(instruction(name), o); }
  void set(uint32_t reg, int32_t value) { put("addi", {.d = reg, .immediate = value}); }
  void skip_to(size_t size) { stream_.code.resize(size); }  // zeros are no instruction

  // Stores a register as a result.
  void keep(const char* store, uint32_t reg, const std::string& what) {
    const auto at = static_cast<int32_t>(4 * stream_.results.size());
    put(store, {.s = kResults, .t = reg, .immediate = at});
    stream_.results.push_back(what);
  }
  void keep_destination(const Instruction& i, const Operands& o) {
    if (i.has('d')) keep("sw", o.d, i.text(o));
    if (i.has('D')) keep("fsw", o.d, i.text(o));
    if (stream_.flags) {
      put("csrrwi", {.d = kScratch, .csr = 1});
      keep("sw", kScratch, "flags of " + i.text(o));
    }
  }

  uint32_t reg(const Instruction& i, char letter) {
    if (i.narrow(letter)) return 8 + below(8);
    return letter >= 'a' ? 8 + below(24) : below(32);
  }

  int32_t drawn_immediate(const Instruction& i, uint32_t variant) {
    const int32_t step = i.step(), least = i.least(), most = i.most();
    const auto count = static_cast<uint32_t>((int64_t{most} - least) / step) + 1;
    const auto drawn =
        static_cast<int32_t>(least + static_cast<int64_t>(below(count)) * int64_t{step});
    const int32_t chosen[] = {least, most, 0, least == 0 ? most - step : -step, step, drawn};
    const int32_t value = chosen[variant % 6];
    return value == 0 && i.nonzero(i.immediate_letter()) ? most : value;
  }

  Operands draw(const Instruction& i, uint32_t variant) {
    static constexpr uint32_t modes[] = {0, 1, 2, 3, 4, 7};
    Operands o;
    o.d = reg(i, i.has('D') ? 'D' : 'd');
    o.s = reg(i, i.has('S') ? 'S' : 's');
    o.t = reg(i, i.has('T') ? 'T' : 't');
    o.third = below(32);
    const bool computes = stream_.instructions->streams == Streams::computes ||
                          stream_.instructions->streams == Streams::floats;
    // The same register twice; x0.
    if (variant == 1 && ((i.has('d') && i.has('s')) || (i.has('D') && i.has('S')))) o.d = o.s;
    if (variant == 2 && ((i.has('t') && i.has('s')) || (i.has('T') && i.has('S')))) o.t = o.s;
    if (variant == 3 && i.has('d') && !i.narrow('d') && !i.nonzero('d')) o.d = 0;
    if (variant == 4 && computes && i.has('s')) o.s = 0;
    if (i.immediate_letter()) o.immediate = drawn_immediate(i, variant);
    o.rounding = modes[variant % 6];
    o.order = variant % 4;
    o.before = 1 + below(15);
    o.after = 1 + below(15);
    return o;
  }

  // Operands of this turn into the registers that the instruction reads.
  void load_operands(const Instruction& i, const Operands& o) {
    const char last = i.name[std::strlen(i.name) - 1];
    const bool halves = last == 'h';
    const auto at = [](size_t offset, int index) {
      return static_cast<int32_t>(offset) + 4 * index;
    };
    const size_t floats = halves ? offsetof(Record, halves) : offsetof(Record, singles);
    const auto integer = [&](uint32_t to, int index) {
      put("lw", {.d = to, .s = kRecord, .immediate = at(offsetof(Record, integers), index)});
    };
    const auto single = [&](uint32_t to, int index) {
      put("flw", {.d = to, .s = kRecord, .immediate = at(floats, index)});
    };
    if (i.bytes == 2 && i.has('d')) integer(o.d, 0);
    if (i.has('s')) integer(o.s, 0);
    if (i.has('t')) integer(o.t, 1);
    if (i.has('S')) single(o.s, 0);
    if (i.has('T')) single(o.t, 1);
    if (i.has('U')) single(o.third, 2);
  }

  void sample(const Instruction& i, uint32_t variant) {
    switch (stream_.instructions->streams) {
      case Streams::computes:
      case Streams::floats:
        return compute(i, variant);
      case Streams::loads:
        return load(i, variant);
      case Streams::stores:
        return store(i, variant);
      case Streams::branches:
        return branch(i, variant);
      case Streams::links:
        return i.immediate_letter() && !i.has('s') ? branch(i, variant) : jump(i, variant);
      case Streams::reservations:
      case Streams::atomics:
        return atomic(i, variant);
      case Streams::float_state:
      case Streams::counters:
        return csr(i, variant);
      case Streams::requests:
        set(17, 2000);  // a number that means nothing
        put(i, {});
        return keep("sw", 10, i.name);
      case Streams::ends:
        return;
    }
  }

  void compute(const Instruction& i, uint32_t variant) {
    const Operands o = draw(i, variant);
    load_operands(i, o);
    if (std::strcmp(i.name, "c.addi16sp") == 0) {
      put("addi", {.d = kScratch, .s = kWindow});
      put(i, o);
      keep("sw", kWindow, i.text(o));
      return put("addi", {.d = kWindow, .s = kScratch});
    }
    put(i, o);
    keep_destination(i, o);
  }

  void load(const Instruction& i, uint32_t variant) {
    const Operands o = draw(i, variant);
    const auto unaligned = static_cast<int32_t>(variant % 4);
    if (i.has('s')) put("addi", {.d = o.s, .s = kRecord, .immediate = unaligned});
    put(i, o);
    keep_destination(i, o);
  }

  void store(const Instruction& i, uint32_t variant) {
    const Operands o = draw(i, variant);
    const auto unaligned = static_cast<int32_t>(i.has('s') ? variant % 4 : 0);
    Operands source = o;
    source.s = 0;
    load_operands(i, source);
    if (i.has('s')) put("addi", {.d = o.s, .s = kWindow, .immediate = unaligned});
    put(i, o);
    put("lw", {.d = kScratch,
               .s = kWindow,
               .immediate = std::clamp(unaligned + o.immediate, -2048, 2047)});
    keep("sw", kScratch, i.text(o));
  }

  // Whether it went: 1, and 0 when it did not. Near and far, forward and back.
  void branch(const Instruction& i, uint32_t variant) {
    static constexpr int32_t kFarthest = 12000;
    Operands o = draw(i, variant);
    if (variant == 5 && !i.narrow('s')) o.s = 0;
    if (i.has('d') && variant == 4) o.d = 1;
    if (i.has('s')) load_operands(i, o);
    const auto length = static_cast<int32_t>(i.bytes);
    const int32_t most = std::min(i.most(), kFarthest), least = std::max(i.least(), -kFarthest);
    const int32_t near = length + 4, between = near + 4 + 2 * static_cast<int32_t>(below(50));
    const int32_t distances[] = {near, -8, between, most, least, -between};
    o.immediate = distances[variant];
    const auto here = [&] { return static_cast<int32_t>(stream_.code.size()); };
    if (o.immediate > 0) {
      set(kScratch, 1);
      const int32_t target = here() + o.immediate;
      put(i, o);
      set(kScratch, 0);
      if (here() != target) put("jal", {.immediate = target - here()});
      skip_to(target);
    } else {
      const int32_t before = here(), target = before + 4, at = target - o.immediate;
      put("jal", {.immediate = at - before});
      set(kScratch, 1);
      put("jal", {.immediate = at + length + 4 - here()});
      skip_to(at);
      put(i, o);
      set(kScratch, 0);
    }
    keep("sw", kScratch, i.text(o));
    if (stream_.instructions->streams == Streams::links) {
      keep("sw", i.has('d') ? o.d : 1, "link of " + i.text(o));
    }
  }

  void jump(const Instruction& i, uint32_t variant) {
    Operands o = draw(i, variant);
    if (variant == 4) o.d = 1;
    const auto length = static_cast<int32_t>(i.bytes);
    const auto odd = static_cast<int32_t>(variant & 1);  // is cleared
    const int32_t ahead = 4 * 4 + length + 4 - o.immediate + odd;
    const int32_t first = std::clamp(ahead, -2048, 2047);
    put("auipc", {.d = o.s});
    put("addi", {.d = o.s, .s = o.s, .immediate = first});
    put("addi", {.d = o.s, .s = o.s, .immediate = ahead - first});
    set(kScratch, 1);
    put(i, o);
    set(kScratch, 0);
    keep("sw", kScratch, i.text(o));
    keep("sw", i.has('d') ? o.d : 1, "link of " + i.text(o));
  }

  void atomic(const Instruction& i, uint32_t variant) {
    Operands o = draw(i, variant);
    const auto at = static_cast<int32_t>(4 * below(16));
    load_operands(i, o);
    put("lw", {.d = kScratch, .s = kRecord});
    put("sw", {.s = kWindow, .t = kScratch, .immediate = at});
    put("addi", {.d = o.s, .s = kWindow, .immediate = at});
    if (i.op == Op::sc_w) {
      // What it finds: its own reservation, none, one of another word, a used one.
      static constexpr const char* finds[] = {"its own", "none", "another's", "a used one"};
      const Instruction& reserve = instruction("lr.w");
      if (variant % 4 == 2) {
        put("addi", {.d = kScratch, .s = o.s, .immediate = 4});
        put(reserve, {.d = kScratch, .s = kScratch});
      } else if (variant % 4 != 1) {
        put(reserve, {.d = kScratch, .s = o.s});
      }
      if (variant % 4 == 3) put(i, {.d = kScratch, .s = o.s, .t = o.t});
      put(i, o);
      keep("sw", o.d, format("{} that finds {} reservation", i.text(o), finds[variant % 4]));
    } else {
      put(i, o);
      keep("sw", o.d, i.text(o));
    }
    put("lw", {.d = kScratch, .s = kWindow, .immediate = at});
    keep("sw", kScratch, "memory after " + i.text(o));
  }

  void csr(const Instruction& i, uint32_t variant) {
    static constexpr uint32_t counters[] = {0xc00, 0xc01, 0xc02, 0xc80, 0xc81, 0xc82, 0xf14, 0xfc0};
    Operands o = draw(i, variant);
    if (stream_.instructions->streams == Streams::counters) {
      o.s = o.bits = 0;  // they are only read
      o.csr = counters[variant];
      put(i, o);
      return keep("sw", o.d, i.text(o));
    }
    o.csr = 1 + variant % 3;
    o.bits = below(32);
    load_operands(i, o);
    put(i, o);
    keep("sw", o.d, i.text(o));
    put("csrrs", {.d = kScratch, .csr = 3});
    keep("sw", kScratch, "float state after " + i.text(o));
  }

  std::mt19937 random_;
  ClassStream stream_;
};

// All streams: those of floats twice, with their flags in every rounding mode, and without.
inline std::vector<ClassStream> class_streams(uint32_t seed) {
  std::vector<ClassStream> streams;
  for (const InstructionClass& c : instruction_classes()) {
    if (c.streams == Streams::ends) continue;
    streams.push_back(ClassStreamBuilder(c, false, ++seed).build());
    if (c.streams == Streams::floats) {
      streams.push_back(ClassStreamBuilder(c, true, ++seed).build());
    }
  }
  return streams;
}

}  // namespace anynpu::npc
