// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "import/singleop/op_for_test.h"

namespace anynpu::singleop {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(BuilderAttrs, AWrongTypeIsNamed) {
  EXPECT_THAT(OpForTest("ReduceSumD").in({2, 3}).out().attr("axes", std::string("one")).message(),
              HasSubstr("'axes'"));
}

TEST(BuilderAttrs, AMissingOneIsNamed) {
  EXPECT_THAT(OpForTest("GroupNorm").in({1, 6, 4, 4}).in({6}).in({6}).out().message(),
              HasSubstr("'num_groups' (int) is missing"));
}

}  // namespace
}  // namespace anynpu::singleop
