// SPDX-License-Identifier: Apache-2.0
#include "service/collective/settings.h"

#include <gtest/gtest.h>

namespace anynpu::service {
namespace {

TEST(CollectiveSettings, AreReadBackAndChecked) {
  EXPECT_TRUE(set_collective_setting(0, 1).ok());
  EXPECT_EQ(*collective_setting(0), 1);
  EXPECT_EQ(set_collective_setting(0, 3).code(), Code::invalid_argument);
  EXPECT_EQ(set_collective_setting(1, 0).code(), Code::invalid_argument);
  EXPECT_EQ(collective_setting(1).status().code(), Code::invalid_argument);
  EXPECT_EQ(*collective_setting(0), 1);
  EXPECT_TRUE(set_collective_setting(0, 0).ok());
}

}  // namespace
}  // namespace anynpu::service
