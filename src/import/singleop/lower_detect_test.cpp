// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "import/singleop/op_for_test.h"

namespace anynpu::singleop {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(LowerDetect, SuppressionIsSizedByItsData) {
  EXPECT_TRUE(sized_by_values(*find_vendor_op("NonMaxSuppressionV3")));
}

TEST(LowerDetect, AnUpsampleIsNearestAlone) {
  EXPECT_EQ(OpForTest("Upsample").in({1, 2, 3, 3}).out().shape().size(), 4u);
  EXPECT_THAT(
      OpForTest("Upsample").in({1, 2, 3, 3}).out().attr("mode", std::string("bilinear")).message(),
      HasSubstr("mode must be nearest"));
}

TEST(LowerDetect, RoisHaveFiveColumns) {
  EXPECT_THAT(OpForTest("ROIAlign")
                  .in({1, 2, 8, 8})
                  .in({3, 4})
                  .out()
                  .attr("spatial_scale", 1.0f)
                  .attr("pooled_height", int64_t{2})
                  .attr("pooled_width", int64_t{2})
                  .message(),
              HasSubstr("[n, 5]"));
}

}  // namespace
}  // namespace anynpu::singleop
