// SPDX-License-Identifier: Apache-2.0
#include "exec/kernel_arguments.h"

#include <gtest/gtest.h>

#include "device/memory.h"
#include "device/runtime.h"

namespace anynpu::exec {
namespace {

template <typename T>
Status add_value_to(KernelLaunch& launch, const T& value) {
  return add_argument(launch, std::as_bytes(std::span(&value, 1)));
}

TEST(KernelArguments, NumbersOfUpToFourBytesAreWords) {
  KernelLaunch launch;
  EXPECT_TRUE(add_value_to(launch, uint8_t{7}).ok());
  EXPECT_TRUE(add_value_to(launch, int32_t{-1}).ok());
  ASSERT_EQ(launch.arguments.size(), 2u);
  EXPECT_EQ(launch.arguments[0].word, 7u);
  EXPECT_EQ(launch.arguments[1].word, UINT32_MAX);
}

TEST(KernelArguments, EightBytesAreANumberThatFitsAWordOrRefused) {
  KernelLaunch launch;
  EXPECT_TRUE(add_value_to(launch, uint64_t{0}).ok());
  EXPECT_TRUE(add_value_to(launch, int64_t{-5}).ok());
  const Status refused = add_value_to(launch, uint64_t{1} << 40);
  EXPECT_EQ(refused.code(), Code::invalid_argument);
  EXPECT_NE(refused.message().find("argument 2"), std::string::npos) << refused.message();
}

TEST(KernelArguments, AnAddressInsideABlockBecomesItsRegionOnceForAllOfThem) {
  const auto device = device::Runtime::instance().device(0);
  ASSERT_TRUE(device.ok());
  const auto block = device::allocate_device(**device, 4096, {});
  ASSERT_TRUE(block.ok());
  const auto address = reinterpret_cast<uint64_t>(*block);
  KernelLaunch launch;
  ASSERT_TRUE(add_value_to(launch, address).ok());
  ASSERT_TRUE(add_value_to(launch, address + 100).ok());
  ASSERT_EQ(launch.regions.size(), 1u);
  EXPECT_EQ(launch.regions[0].data, *block);
  EXPECT_EQ(launch.arguments[1].kind, KernelArgument::Kind::region);
  EXPECT_EQ(launch.arguments[1].word, 100u);
  launch = {};
  EXPECT_TRUE(device::free_device(*block).ok());
}

TEST(KernelArguments, AnyOtherSizeIsACopy) {
  struct Tiling {
    int32_t rows, columns, step;
  };
  KernelLaunch launch;
  ASSERT_TRUE(add_value_to(launch, Tiling{1, 2, 3}).ok());
  ASSERT_EQ(launch.copies.size(), 1u);
  EXPECT_EQ(launch.copies[0].size(), sizeof(Tiling));
  EXPECT_EQ(launch.arguments[0].kind, KernelArgument::Kind::copy);
}

}  // namespace
}  // namespace anynpu::exec
