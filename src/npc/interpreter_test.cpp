// SPDX-License-Identifier: Apache-2.0
// Random instruction streams: the interpreter with decoded code against the plain one, register by
// register; and float arithmetic against the host's.
#include "npc/interpreter.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <random>

#include "npc/core.h"
#include "npc/fuzz_seed_for_test.h"
#include "npc/image_for_test.h"
#include "npc/instruction_generator_for_test.h"
#include "npc/plain_interpreter_for_test.h"
#include "tensor/half.h"

namespace anynpu::npc {
namespace {

class StreamTest : public testing::Test {
 protected:
  void SetUp() override {
    auto made = Memory::create();
    ASSERT_TRUE(made.ok());
    memory = *made;
    code_at = *memory->take(Space::global, 1 << 16, kRead);
    data_at = *memory->take(Space::global, kDataBytes, kReadWrite);
  }

  // Runs one stream on both; true when all state agrees.
  void compare(Generator& g, uint32_t length, uint64_t& executed) {
    std::vector<uint8_t> code = g.stream(length);
    append(code, 0x00008067, 4);  // ret
    const auto image = image_of(*memory, code_at, code);
    Core core;
    PlainCore plain;
    core.image = image.get();
    core.memory = memory.get();
    core.local = memory->local(0);
    core.budget = 1 << 30;
    core.pc = plain.pc = plain.code_base = code_at;
    plain.code = code;
    plain.data_base = data_at;
    for (uint32_t r = 1; r < 32; ++r) core.x[r] = plain.x[r] = g.value();
    for (uint32_t r = 0; r < 32; ++r) core.f[r] = plain.f[r] = g.value();
    core.x[kBase] = plain.x[kBase] = core.x[kStackBase] = plain.x[kStackBase] = data_at + 2048;
    core.x[1] = plain.x[1] = kReturnAddress;
    plain.data.resize(kDataBytes);
    for (auto& byte : plain.data) byte = static_cast<uint8_t>(g.below(256));
    std::memcpy(memory->host(data_at), plain.data.data(), kDataBytes);

    const auto ends = [&] { return plain.pc < code_at || plain.pc >= code_at + code.size(); };
    bool legal = true;
    while (!ends() && legal && plain.count < 100000) legal = plain.step();
    Stop stop;
    do {
      stop = interpret(core, 1 + g.below(64));
    } while (stop == Stop::slice && core.counters.instructions < 100000);

    EXPECT_EQ(stop == Stop::trap && core.trap.kind == TrapKind::illegal_instruction, !legal)
        << core.trap.text;
    EXPECT_EQ(core.counters.instructions, plain.count);
    for (uint32_t r = 1; r < 32; ++r) EXPECT_EQ(core.x[r], plain.x[r]) << "x" << r;
    for (uint32_t r = 0; r < 32; ++r) EXPECT_EQ(core.f[r], plain.f[r]) << "f" << r;
    EXPECT_EQ(core.float_flags, plain.flags);
    EXPECT_EQ(std::memcmp(memory->host(data_at), plain.data.data(), kDataBytes), 0);
    executed += plain.count;
  }

  std::shared_ptr<Memory> memory;
  uint32_t code_at = 0, data_at = 0;
};

TEST_F(StreamTest, a_million_random_instructions_agree_with_the_plain_interpreter) {
  uint64_t executed = 0;
  for (uint32_t seed = fuzz_seed() + 1; executed < 1'000'000 && !HasFailure(); ++seed) {
    Generator g(seed);
    compare(g, 600, executed);
    if (HasFailure()) ADD_FAILURE() << "seed " << seed;
  }
}

TEST_F(StreamTest, infinity_times_zero_is_invalid_even_when_a_quiet_nan_is_added) {
  std::vector<uint8_t> code;
  append(code, 0x1820f043, 4);  // fmadd.s ft0, ft1, ft2, ft3
  append(code, 0x00008067, 4);  // ret
  const auto image = image_of(*memory, code_at, code);
  Core core;
  core.image = image.get();
  core.memory = memory.get();
  core.budget = 100;
  core.pc = code_at;
  core.x[1] = kReturnAddress;
  core.f[1] = 0;
  core.f[2] = Single::kInfinity;
  core.f[3] = Single::kNan;
  EXPECT_EQ(interpret(core, 10), Stop::finished);
  EXPECT_EQ(core.f[0], Single::kNan);
  EXPECT_EQ(core.float_flags, kInvalid);
}

float as_float(uint32_t bits) { return std::bit_cast<float>(bits); }
uint32_t canonical(float value) {
  return value != value ? Single::kNan : std::bit_cast<uint32_t>(value);
}

TEST(FloatOps, nearest_results_are_those_of_the_host) {
  Generator g(7);
  for (int i = 0; i < 300000; ++i) {
    const uint32_t a = g.value(), b = g.value(), c = g.value();
    uint32_t flags = 0;
    ASSERT_EQ(float_op<Single>(FloatOp::add, a, b, kNearestEven, flags),
              canonical(as_float(a) + as_float(b)));
    ASSERT_EQ(float_op<Single>(FloatOp::mul, a, b, kNearestEven, flags),
              canonical(as_float(a) * as_float(b)));
    ASSERT_EQ(float_op<Single>(FloatOp::div, a, b, kNearestEven, flags),
              canonical(as_float(a) / as_float(b)));
    ASSERT_EQ(float_op<Single>(FloatOp::sqrt, a, a, kNearestEven, flags),
              canonical(std::sqrt(as_float(a))));
    ASSERT_EQ(float_fma<Single>(a, b, c, kNearestEven, flags),
              canonical(std::fma(as_float(a), as_float(b), as_float(c))));
    if (as_float(a) == as_float(a)) {
      ASSERT_EQ(single_to_half(a, kNearestEven, flags), to_f16(as_float(a)).bits);
    }
  }
}

TEST(FloatOps, every_half_survives_the_way_to_single_and_back) {
  for (uint32_t h = 0; h < 65536; ++h) {
    uint32_t flags = 0;
    const uint32_t single = half_to_single(h, flags);
    if ((h & 0x7fff) > 0x7c00) {
      EXPECT_EQ(single, Single::kNan);
    } else {
      ASSERT_EQ(single_to_half(single, kDown, flags), h);
      ASSERT_EQ(flags, 0u);
    }
  }
}

TEST(FloatOps, directed_modes_bracket_the_exact_value) {
  uint32_t flags = 0;
  const uint32_t one = 0x3f800000, three = 0x40400000;
  EXPECT_EQ(float_op<Single>(FloatOp::div, one, three, kDown, flags), 0x3eaaaaaau);
  EXPECT_EQ(float_op<Single>(FloatOp::div, one, three, kUp, flags), 0x3eaaaaabu);
  EXPECT_EQ(float_op<Single>(FloatOp::div, one, three, kToZero, flags), 0x3eaaaaaau);
  EXPECT_EQ(flags, kInexact);
  // 1 + 2^-24 is a tie: to even stays, away goes up.
  EXPECT_EQ(float_op<Single>(FloatOp::add, one, 0x33800000, kNearestEven, flags), one);
  EXPECT_EQ(float_op<Single>(FloatOp::add, one, 0x33800000, kNearestAway, flags), one + 1);
  flags = 0;
  EXPECT_EQ(float_op<Single>(FloatOp::div, one, 0, kNearestEven, flags), Single::kInfinity);
  EXPECT_EQ(flags, kDivZero);
  flags = 0;
  EXPECT_EQ(float_to_i32<Single>(0x4f000000, kToZero, flags), 0x7fffffffu);  // 2^31
  EXPECT_EQ(flags, kInvalid);
  flags = 0;
  EXPECT_EQ(float_to_i32<Single>(0x40200000, kNearestEven, flags), 2u);  // 2.5
  EXPECT_EQ(float_to_i32<Single>(0x40200000, kNearestAway, flags), 3u);
  EXPECT_EQ(float_to_u32<Single>(0xbf000000, kToZero, flags), 0u);  // -0.5
  EXPECT_EQ(flags, kInexact);
  flags = 0;  // the smallest single halved underflows to zero, or to itself upwards
  EXPECT_EQ(float_op<Single>(FloatOp::mul, 1, 0x3f000000, kNearestEven, flags), 0u);
  EXPECT_EQ(flags, kUnderflow | kInexact);
  EXPECT_EQ(float_op<Single>(FloatOp::mul, 1, 0x3f000000, kUp, flags), 1u);
}

}  // namespace
}  // namespace anynpu::npc
