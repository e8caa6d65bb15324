// SPDX-License-Identifier: Apache-2.0
#include "npc/host/kernel_profile.h"

#include <gtest/gtest.h>

namespace anynpu::npc {
namespace {

LaunchStats launch_of(const char* kernel) {
  LaunchStats stats;
  stats.kernel = kernel;
  return stats;
}

TEST(KernelProfile, CallsOutOfOrderAreRefused) {
  KernelProfile profile;
  EXPECT_EQ(profile.enable().code(), Code::bad_call_order);
  EXPECT_EQ(profile.release().code(), Code::bad_call_order);
  EXPECT_EQ(profile.collected().status().code(), Code::bad_call_order);
  EXPECT_TRUE(profile.create().ok());
  EXPECT_EQ(profile.create().code(), Code::bad_call_order);
  EXPECT_EQ(profile.disable().code(), Code::bad_call_order);
  EXPECT_TRUE(profile.enable().ok());
  EXPECT_EQ(profile.release().code(), Code::bad_call_order);
  EXPECT_TRUE(profile.disable().ok());
  EXPECT_TRUE(profile.release().ok());
}

TEST(KernelProfile, EnableStartsFromNothing) {
  KernelProfile profile;
  ASSERT_TRUE(profile.create().ok());
  ASSERT_TRUE(profile.enable().ok());
  profile.add(launch_of("first"));
  ASSERT_TRUE(profile.disable().ok());
  profile.add(launch_of("late"));  // submitted while it was on
  EXPECT_EQ(profile.collected()->size(), 2u);
  ASSERT_TRUE(profile.enable().ok());
  EXPECT_TRUE(profile.collected()->empty());
}

TEST(KernelProfile, AReleasedContextTakesNothing) {
  KernelProfile profile;
  ASSERT_TRUE(profile.create().ok());
  ASSERT_TRUE(profile.enable().ok());
  profile.release_any();
  EXPECT_FALSE(profile.enabled());
  profile.add(launch_of("late"));
  ASSERT_TRUE(profile.create().ok());
  ASSERT_TRUE(profile.enable().ok());
  EXPECT_TRUE(profile.collected()->empty());
}

TEST(KernelProfile, WhatWasGivenOutLivesUntilTheNextOrTheRelease) {
  auto& profile = KernelProfile::instance();
  const auto first = std::make_shared<int>(1), second = std::make_shared<int>(2);
  profile.keep(first);
  EXPECT_EQ(first.use_count(), 2);
  profile.keep(second);
  EXPECT_EQ(first.use_count(), 1);
  profile.release_any();
  EXPECT_EQ(second.use_count(), 1);
}

}  // namespace
}  // namespace anynpu::npc
