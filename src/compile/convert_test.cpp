// SPDX-License-Identifier: Apache-2.0
#include "compile/convert.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace anynpu::compile {
namespace {

TEST(Convert, FrameworksOfLaterReleasesAreRefusedByName) {
  EXPECT_TRUE(parse_framework("5").ok());
  EXPECT_TRUE(parse_framework("0").ok());
  EXPECT_TRUE(parse_framework("3").ok());
  EXPECT_EQ(parse_framework("1").status().code(), Code::unsupported_feature);
  EXPECT_EQ(parse_framework("7").status().code(), Code::invalid_argument);
  EXPECT_EQ(parse_framework("").status().code(), Code::invalid_argument);
}

}  // namespace
}  // namespace anynpu::compile
