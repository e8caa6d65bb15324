// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "import/singleop/op_for_test.h"

namespace anynpu::singleop {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TEST(LowerFunction, ANameOfTheTableIsOneNode) {
  EXPECT_THAT(OpForTest("Atan2").in({3}).in({3}).out().nodes(), ElementsAre("Atan2"));
  EXPECT_THAT(OpForTest("Lgamma").in({3}).out().nodes(), ElementsAre("Lgamma"));
}

TEST(LowerFunction, AMaskHasABitForEachElement) {
  EXPECT_EQ(OpForTest("DropOutGenMask").known({3, 100}).in({}).out().shape(), (Shape{48}));
}

TEST(LowerFunction, SpacesNeedANumberOfElements) {
  EXPECT_EQ(OpForTest("LinSpace").in({}).in({}).known({7}).out().shape(), (Shape{7}));
  EXPECT_THAT(OpForTest("LinSpace").in({}).in({}).known({0}).out().message(),
              HasSubstr("expected 1 to"));
}

TEST(LowerFunction, NormsHaveAPowerOfAtLeastOne) {
  EXPECT_THAT(OpForTest("LpNorm").in({3}).attr("p", int64_t{0}).out().message(),
              HasSubstr("p is 0"));
}

TEST(LowerFunction, TheEpsilonDoesNotDependOnTheValues) {
  EXPECT_THAT(OpForTest("Eps").in({3}).out().nodes(), Not(Contains("Mul")));
}

}  // namespace
}  // namespace anynpu::singleop
