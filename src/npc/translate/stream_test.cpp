// SPDX-License-Identifier: Apache-2.0
// Random instruction streams in a loop: translated code against the interpreter, register by
// register, with memory, instructions and cycles.
#include <gtest/gtest.h>

#include <cstring>

#include "base/fault_guard.h"
#include "npc/image.h"
#include "npc/instruction_generator_for_test.h"
#include "npc/interpreter.h"
#include "npc/translate/host_core.h"
#include "npc/translate/jit_api.h"
#include "npc/translate/plugin.h"
#include "npc/translate/translation.h"

namespace anynpu::npc {
namespace {

constexpr uint32_t kLength = 150;
constexpr uint32_t kAround = 300;

class TranslatedStreamTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string why;
    jit = translator(why);
    if (!jit) {
#if defined(ANYNPU_HAS_TRANSLATOR) && !defined(__SANITIZE_THREAD__)
      FAIL() << why;
#endif
      GTEST_SKIP() << why;
    }
    auto made = Memory::create();
    ASSERT_TRUE(made.ok());
    memory = *made;
    code_at = *memory->take(Space::global, 1 << 16, kRead);
    data_at = *memory->take(Space::global, kDataBytes, kReadWrite);
    auto core = HostCore::create(memory, 0);
    ASSERT_TRUE(core.ok());
    host = std::move(*core);
    ASSERT_TRUE(host->view->update().ok());
    install_fault_guard();
  }

  void make_stream(Generator& g) {
    std::vector<uint8_t> code;
    for (uint32_t i = 0; i < kLength; ++i) {
      if (g.chance(20)) {
        for (int half = 0; half < 2; ++half) append(code, g.compressed(), 2);
      } else {
        append(code, g.instruction(kLength - i), 4);
      }
    }
    const auto back = static_cast<uint32_t>(-static_cast<int32_t>(code.size() + 4));
    append(code, 0xfff00013 | kTurns << 15 | kTurns << 7, 4);  // addi turns, turns, -1
    append(code,
           (back >> 12 & 1) << 31 | (back >> 5 & 63) << 25 | kTurns << 15 | 1 << 12 |
               (back >> 1 & 15) << 8 | (back >> 11 & 1) << 7 | 0x63,
           4);                    // bnez turns
    append(code, 0x00008067, 4);  // ret
    std::memcpy(memory->host(code_at), code.data(), code.size());
    image = std::make_unique<Image>();
    image->base = image->code_base = code_at;
    image->bytes = image->code_bytes = static_cast<uint32_t>(code.size());
    image->code = decode_all({memory->host(code_at), code.size()});
    image->weights = weigh(image->code);
    image->kernels["stream"] = code_at;
    image->symbols.push_back({code_at, image->code_bytes, true, true, "stream"});
  }

  Core start(Generator& g) const {
    Core core;
    core.image = image.get();
    core.memory = memory.get();
    core.local = memory->local(0);
    core.budget = 1 << 30;
    core.pc = code_at;
    for (uint32_t r = 1; r < 32; ++r) core.x[r] = g.value();
    for (uint32_t r = 0; r < 32; ++r) core.f[r] = g.value();
    core.x[kBase] = core.x[kStackBase] = data_at + 2048;
    core.x[kTurns] = kAround;
    core.x[1] = kReturnAddress;
    return core;
  }

  void compare(Generator& g, bool exact_floats, uint64_t& executed) {
    make_stream(g);
    Program program;
    program.image = image.get();
    find_functions(program);
    find_targets(program);
    program.whole_state = true;
    program.exact_floats = exact_floats;
    const auto translation = Translation::make(program, *jit);
    ASSERT_NE(translation->kernel(0), nullptr) << translation->why_not(0);

    const Core first = start(g);
    std::vector<uint8_t> data(kDataBytes), after(kDataBytes);
    for (auto& byte : data) byte = static_cast<uint8_t>(g.below(256));
    std::memcpy(memory->host(data_at), data.data(), kDataBytes);
    Core expected = first;
    Stop stop;
    do {
      stop = interpret(expected, 10'000);
    } while (stop == Stop::slice);
    std::memcpy(after.data(), memory->host(data_at), kDataBytes);

    std::memcpy(memory->host(data_at), data.data(), kDataBytes);
    Core core = first;
    PrintSink sink;
    prepare_host(core, *host, *translation, translation->kernel(0), sink);
    HostStop end;
    do {
      end = run_host(core, 10'000);
    } while (end == HostStop::slice);

    EXPECT_EQ(stop == Stop::finished, end == HostStop::finished) << core.trap.text;
    EXPECT_EQ(core.counters.instructions, expected.counters.instructions);
    EXPECT_EQ(core.clock, expected.clock);
    EXPECT_EQ(core.trap.text, expected.trap.text);
    EXPECT_EQ(std::memcmp(memory->host(data_at), after.data(), kDataBytes), 0);
    if (exact_floats) {
      EXPECT_EQ(core.float_flags, expected.float_flags);
    }
    executed += expected.counters.instructions;
    if (stop != Stop::finished) return;
    const HostState& state = host->view->state();
    for (uint32_t r = 1; r < 32; ++r) EXPECT_EQ(state.x[r], expected.x[r]) << "x" << r;
    for (uint32_t r = 0; r < 32; ++r) EXPECT_EQ(state.f[r], expected.f[r]) << "f" << r;
  }

  void run(bool exact_floats, uint64_t instructions) {
    uint64_t executed = 0;
    const auto base =
        static_cast<uint32_t>(testing::UnitTest::GetInstance()->random_seed()) * 10007u;
    for (uint32_t seed = base + 1; executed < instructions && !HasFailure(); ++seed) {
      Generator g(seed, exact_floats);
      compare(g, exact_floats, executed);
      if (HasFailure()) ADD_FAILURE() << "seed " << seed;
    }
  }

  Jit* jit = nullptr;
  std::shared_ptr<Memory> memory;
  std::unique_ptr<HostCore> host;
  std::unique_ptr<Image> image;
  uint32_t code_at = 0, data_at = 0;
};

TEST_F(TranslatedStreamTest, a_million_random_instructions_agree_with_the_interpreter) {
  run(false, 1'000'000);
}

TEST_F(TranslatedStreamTest, so_do_streams_that_once_did_not) {
  uint64_t executed = 0;
  for (const uint32_t seed : {506674442u}) {  // a call of fminf that could not be linked
    Generator g(seed, false);
    compare(g, false, executed);
  }
}

TEST_F(TranslatedStreamTest, so_do_those_that_read_float_flags_and_set_rounding_modes) {
  run(true, 300'000);
}

}  // namespace
}  // namespace anynpu::npc
