// SPDX-License-Identifier: Apache-2.0
// What succeeds here and what the documents rule out.
#include <gtest/gtest.h>

#include "check/findings_for_test.h"
#include "check/hooks.h"

namespace anynpu::check {
namespace {

const Kinds kNone, kOne{"card-may-refuse"};

Kinds found(Hook hook, std::vector<uint64_t> arguments) {
  static constexpr Parameter kParameters[8] = {};
  const Findings findings;
  Function function{"aclrtSomething", "-", "libascendcl.so", kParameters, true};
  Call one(function, arguments);
  hook(one);
  return findings.kinds();
}

TEST(CardRules, RegisteredMemoryBeginsOnAPage) {
  EXPECT_EQ(found(before_host_register, {0x10000, 64, 0, 0}), kNone);
  EXPECT_EQ(found(before_host_register, {0x10040, 64, 0, 0}), kOne);
}

TEST(CardRules, TimeLimitsAreNotZero) {
  for (const uint64_t allowed : {uint64_t{10}, word(-1)}) {
    EXPECT_EQ(found(before_synchronize_with_timeout, {1, allowed}), kNone);
    EXPECT_EQ(found(before_synchronize_device_with_timeout, {allowed}), kNone);
  }
  EXPECT_EQ(found(before_synchronize_with_timeout, {1, 0}), kOne);
  EXPECT_EQ(found(before_synchronize_device_with_timeout, {0}), kOne);
}

TEST(CardRules, ReservedAddressesHaveNoAlignmentAndLieIn16To24T) {
  constexpr uint64_t kTiB = uint64_t{1} << 40;
  EXPECT_EQ(found(before_reserve_address, {1, 4096, 0, 0, 0}), kNone);
  EXPECT_EQ(found(before_reserve_address, {1, 4096, 0, 16 * kTiB, 0}), kNone);
  EXPECT_EQ(found(before_reserve_address, {1, 4096, 4096, 0, 0}), kOne);
  EXPECT_EQ(found(before_reserve_address, {1, 4096, 0, 24 * kTiB, 0}), kOne);
}

TEST(CardRules, SharedMemoryBeginsOnAPageAndItsKeyHas65Bytes) {
  EXPECT_EQ(found(before_export_key, {0x10000, 64, 1, 65, 0}), kNone);
  EXPECT_EQ(found(before_export_key, {0x10040, 64, 1, 65, 0}), kOne);
  EXPECT_EQ(found(before_export_key, {0x10000, 64, 1, 66, 0}), kOne);
}

TEST(CardRules, ADeviceIsNoPeerOfItself) {
  EXPECT_EQ(found(before_can_access_peer, {1, 0, 1}), kNone);
  EXPECT_EQ(found(before_can_access_peer, {1, 3, 3}), kOne);
}

}  // namespace
}  // namespace anynpu::check
