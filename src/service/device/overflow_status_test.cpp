// SPDX-License-Identifier: Apache-2.0
#include "service/device/overflow_status.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "exec/dump.h"
#include "service/model/model_for_test.h"

namespace anynpu::service {
namespace {

constexpr size_t kBytes = 64;

class OverflowStatusTest : public ServiceTest {
 protected:
  void SetUp() override {
    ServiceTest::SetUp();
    const auto current = device::Runtime::instance().current();
    auto memory = device::allocate_device(*(*current)->device(), 2 * kBytes, {});
    ASSERT_TRUE(memory.ok()) << memory.status().to_string();
    memory_ = static_cast<uint8_t*>(*memory);
    std::fill_n(memory_, 2 * kBytes, uint8_t{0xee});
  }
  void TearDown() override {
    exec::reset_overflow(0);
    EXPECT_TRUE(device::free_device(memory_).ok());
    ServiceTest::TearDown();
  }
  static Status synchronize() {
    ANYNPU_ASSIGN(auto stream, device::Runtime::instance().stream(0));
    return stream->synchronize();
  }

  uint8_t* memory_ = nullptr;
};

TEST_F(OverflowStatusTest, SixtyFourBytesAreWrittenTheBitsFirst) {
  exec::add_overflow(0, 0x120);
  ASSERT_TRUE(read_overflow_status(0, memory_, kBytes).ok());
  ASSERT_TRUE(synchronize().ok());
  uint32_t bits = 0;
  std::memcpy(&bits, memory_, sizeof bits);
  EXPECT_EQ(bits, 0x120u);
  EXPECT_TRUE(std::all_of(memory_ + sizeof bits, memory_ + kBytes, [](int b) { return b == 0; }));
  EXPECT_EQ(memory_[kBytes], 0xee) << "nothing behind them is touched";
}

TEST_F(OverflowStatusTest, BothCallsAreTasksInTheOrderOfTheStream) {
  exec::add_overflow(0, 0x10);
  ASSERT_TRUE(read_overflow_status(0, memory_, kBytes).ok());
  ASSERT_TRUE(reset_overflow_status(0).ok());
  ASSERT_TRUE(read_overflow_status(0, memory_ + kBytes, kBytes).ok());
  ASSERT_TRUE(synchronize().ok());
  EXPECT_EQ(memory_[0], 0x10);
  EXPECT_EQ(memory_[kBytes], 0);
  EXPECT_EQ(exec::overflow_bits(0), 0u);
}

TEST_F(OverflowStatusTest, TooLittleRoomMemoryAndStreamsThatAreNoneAreRefused) {
  EXPECT_FALSE(read_overflow_status(0, memory_, kBytes - 1).ok());
  EXPECT_FALSE(read_overflow_status(0, nullptr, kBytes).ok());
  EXPECT_FALSE(read_overflow_status(12, memory_, kBytes).ok());
  EXPECT_FALSE(reset_overflow_status(12).ok());
  ASSERT_TRUE(synchronize().ok());
  EXPECT_EQ(memory_[0], 0xee);
}

}  // namespace
}  // namespace anynpu::service
