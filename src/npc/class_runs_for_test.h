// SPDX-License-Identifier: Apache-2.0
// Runs the streams of class_stream_for_test.h, all from the same registers and data, and compares
// what they leave.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <set>

#include "npc/class_stream_for_test.h"
#include "npc/core.h"
#include "npc/fuzz_seed_for_test.h"
#include "npc/image_for_test.h"
#include "npc/interpreter.h"
#include "npc/plain_interpreter_for_test.h"

namespace anynpu::npc {

// What a stream leaves.
struct Outcome {
  uint32_t x[32] = {}, f[32] = {}, float_state = 0;
  uint64_t instructions = 0, cycles = 0;
  std::vector<uint8_t> data;
};

class ClassRuns : public testing::Test {
 public:
  static constexpr uint32_t kBeforeStreams = 64;  // bytes of the code that qemu's program uses

 protected:
  const uint32_t seed = fuzz_seed();
  static constexpr uint32_t kNoCall = static_cast<uint32_t>(-38);  // what Linux answers (ENOSYS)

  void SetUp() override {
    auto made = Memory::create();
    ASSERT_TRUE(made.ok());
    memory = *made;
    ASSERT_TRUE(memory->take(Space::global, 0x100000, kNone).ok());  // where qemu may map programs
    code_at = *memory->take(Space::global, 1 << 20, kRead);
    data_at = *memory->take(Space::global, kStreamData, kReadWrite);
    data = class_data(seed);
    streams = class_streams(seed);
    uint32_t at = code_at + kBeforeStreams;
    for (const ClassStream& stream : streams) {
      ASSERT_LE(stream.results.size() * 4, kMostResults);
      places.push_back(at);
      at += (static_cast<uint32_t>(stream.code.size()) + 63) / 64 * 64;
    }
    ASSERT_LE(at, code_at + (1 << 20));
    std::mt19937 random(seed);
    for (uint32_t& word : first_x) word = random();
    for (uint32_t& word : first_f) word = random();
    first_x[0] = 0;
    first_x[1] = kReturnAddress;
    first_x[kWindow] = data_at + kWindowAt;
    first_x[kRecord] = data_at + kRecordsAt;
    first_x[kResults] = data_at + kResultsAt;
    first_x[kLeft] = kClassTurns;
  }

  uint32_t data_bytes(const ClassStream& stream) const {
    return kResultsAt + kClassTurns * 4 * static_cast<uint32_t>(stream.results.size());
  }

  // One instruction at a time; `executed` gets the instructions that ran.
  Outcome plain(size_t index, std::set<const Instruction*>* executed = nullptr) const {
    const ClassStream& stream = streams[index];
    PlainCore core;
    core.pc = core.code_base = places[index];
    core.code = stream.code;
    core.data_base = data_at;
    core.data = data;
    core.data.resize(data_bytes(stream));
    std::memcpy(core.x, first_x, sizeof first_x);
    std::memcpy(core.f, first_f, sizeof first_f);
    std::vector<bool> seen(stream.code.size());
    while (core.pc != kReturnAddress) {
      const uint32_t offset = core.pc - core.code_base, word = core.fetch();
      if (executed && !seen[offset]) {
        for (const Instruction& i : stream.instructions->instructions) {
          if (i.bytes == ((word & 3) == 3 ? 4 : 2) && i.matches(word)) executed->insert(&i);
        }
        seen[offset] = true;
      }
      if (core.step()) continue;
      if (word != instruction("ecall").encode({})) {
        ADD_FAILURE() << format("{:#x} at offset {:#x} is no instruction", word, offset);
        break;
      }
      core.x[10] = kNoCall;
      core.pc += 4, ++core.count, ++core.cycles;
    }
    Outcome o;
    std::memcpy(o.x, core.x, sizeof o.x);
    std::memcpy(o.f, core.f, sizeof o.f);
    o.float_state = core.flags | core.frm << 5;
    o.instructions = core.count;
    o.cycles = core.cycles;
    o.data = std::move(core.data);
    return o;
  }

  Core start(const Image& image) {
    std::memcpy(memory->host(data_at), data.data(), data.size());
    Core core;
    core.image = &image;
    core.memory = memory.get();
    core.local = memory->local(0);
    core.budget = 1 << 30;
    core.pc = image.code_base;
    std::copy(std::begin(first_x), std::end(first_x), core.x.begin());
    std::copy(std::begin(first_f), std::end(first_f), core.f.begin());
    return core;
  }

  Outcome outcome(const Core& core, const ClassStream& stream) const {
    EXPECT_EQ(core.trap.text, "");
    Outcome o;
    std::copy_n(core.x.begin(), 32, o.x);
    std::copy_n(core.f.begin(), 32, o.f);
    o.float_state = core.float_flags | core.rounding << 5;
    o.instructions = core.counters.instructions;
    o.cycles = core.clock;
    const auto* bytes = reinterpret_cast<const uint8_t*>(memory->host(data_at));
    o.data.assign(bytes, bytes + data_bytes(stream));
    return o;
  }

  Outcome interpreted(size_t index) {
    const auto image = image_of(*memory, places[index], streams[index].code);
    Core core = start(*image);
    for (;;) {
      const Stop stop = interpret(core, 1000);
      if (stop == Stop::service) core.x[10] = kNoCall;
      if (stop == Stop::finished || stop == Stop::trap) break;
    }
    return outcome(core, streams[index]);
  }

  // Registers (not those that hold the way back), results one by one, and the rest of the data.
  void expect_same(const ClassStream& stream, const Outcome& expected, const Outcome& got) const {
    ASSERT_EQ(got.data.size(), expected.data.size());
    const uint32_t row = 4 * static_cast<uint32_t>(stream.results.size());
    int shown = 0;
    for (uint32_t turn = 0; turn < kClassTurns; ++turn) {
      for (uint32_t result = 0; result < stream.results.size() && shown < 10; ++result) {
        const uint32_t at = kResultsAt + turn * row + 4 * result;
        uint32_t a, b;
        std::memcpy(&a, expected.data.data() + at, 4);
        std::memcpy(&b, got.data.data() + at, 4);
        if (a == b) continue;
        Record r;
        std::memcpy(&r, data.data() + kRecordsAt + turn * sizeof r, sizeof r);
        ADD_FAILURE() << format(
            "{}: {:#x}, expected {:#x}; operands {:#x} {:#x}, {:#x} {:#x} {:#x}, {:#x} {:#x} "
            "{:#x}, rounding {}",
            stream.results[result], b, a, r.integers[0], r.integers[1], r.singles[0], r.singles[1],
            r.singles[2], r.halves[0], r.halves[1], r.halves[2], r.rounding);
        ++shown;
      }
    }
    EXPECT_EQ(std::memcmp(got.data.data(), expected.data.data(), kResultsAt), 0);
    for (uint32_t r = 2; r < 32; ++r) {
      EXPECT_TRUE(r == kBack || got.x[r] == expected.x[r]) << "x" << r;
    }
    for (uint32_t r = 0; r < 32; ++r) EXPECT_EQ(got.f[r], expected.f[r]) << "f" << r;
  }

  std::shared_ptr<Memory> memory;
  uint32_t code_at = 0, data_at = 0;
  std::vector<uint8_t> data;
  std::vector<ClassStream> streams;
  std::vector<uint32_t> places;  // of each stream's code
  uint32_t first_x[32], first_f[32];
};

}  // namespace anynpu::npc
