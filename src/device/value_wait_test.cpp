// SPDX-License-Identifier: Apache-2.0
#include "device/value_wait.h"

#include <gtest/gtest.h>

#include <atomic>

namespace anynpu::device {
namespace {

std::shared_ptr<Stream> value_stream() {
  return std::make_shared<Stream>(nullptr, std::weak_ptr<Context>(), StreamOptions{});
}

TEST(ValueWait, ConditionsAreThoseOfTheReference) {
  using enum ValueCondition;
  EXPECT_TRUE(holds(at_least, 5, 5));
  EXPECT_TRUE(holds(at_least, 1, UINT64_MAX));  // the difference counts, so it may wrap round
  EXPECT_FALSE(holds(at_least, 4, 5));
  EXPECT_TRUE(holds(equal, 7, 7));
  EXPECT_FALSE(holds(equal, 7, 8));
  EXPECT_TRUE(holds(any_bit, 6, 2));
  EXPECT_FALSE(holds(any_bit, 6, 1));
  EXPECT_TRUE(holds(missing_bit, 6, 1));
  EXPECT_FALSE(holds(missing_bit, ~uint64_t{1}, 1));
}

TEST(ValueWait, AStreamWaitsForWhatAnotherStreamWrites) {
  alignas(8) uint64_t memory = 0;
  auto waits = value_stream();
  auto writes = value_stream();
  ASSERT_TRUE(wait_value(&memory, 3, ValueCondition::at_least, *waits).ok());
  EXPECT_EQ(waits->synchronize(Deadline::after_ms(5)).code(), Code::timeout);
  ASSERT_TRUE(write_value(&memory, 2, *writes).ok());
  EXPECT_TRUE(writes->synchronize().ok());
  EXPECT_EQ(waits->synchronize(Deadline::after_ms(5)).code(), Code::timeout);
  ASSERT_TRUE(write_value(&memory, 3, *writes).ok());
  EXPECT_TRUE(waits->synchronize().ok());
}

TEST(ValueWait, ManyParkedStreamsNeedNoThreadEach) {
  alignas(8) uint64_t memory = 0;
  std::vector<std::shared_ptr<Stream>> streams;
  for (int i = 0; i < 64; ++i) {
    streams.push_back(value_stream());
    ASSERT_TRUE(wait_value(&memory, 1, ValueCondition::equal, *streams.back()).ok());
  }
  auto writer = value_stream();
  ASSERT_TRUE(write_value(&memory, 1, *writer).ok());
  for (auto& stream : streams) EXPECT_TRUE(stream->synchronize().ok());
}

TEST(ValueWait, AnAbortedWaitEnds) {
  alignas(8) uint64_t memory = 0;
  auto stream = value_stream();
  ASSERT_TRUE(wait_value(&memory, 1, ValueCondition::equal, *stream).ok());
  EXPECT_EQ(stream->synchronize(Deadline::after_ms(3)).code(), Code::timeout);
  stream->abort();
  EXPECT_EQ(stream->synchronize().code(), Code::aborted);
}

TEST(ValueWait, WrongAddressesAreRefused) {
  alignas(8) uint64_t memory[2] = {};
  auto stream = value_stream();
  auto* odd = reinterpret_cast<uint8_t*>(memory) + 4;
  EXPECT_EQ(write_value(odd, 1, *stream).code(), Code::unaligned_address);
  EXPECT_EQ(wait_value(odd, 1, ValueCondition::equal, *stream).code(), Code::unaligned_address);
  EXPECT_EQ(write_value(nullptr, 1, *stream).code(), Code::invalid_address);
  EXPECT_EQ(wait_value(reinterpret_cast<void*>(8), 1, ValueCondition::equal, *stream).code(),
            Code::invalid_address);
}

}  // namespace
}  // namespace anynpu::device
