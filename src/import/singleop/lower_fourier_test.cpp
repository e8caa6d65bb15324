// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "import/singleop/op_for_test.h"

namespace anynpu::singleop {
namespace {

using testing::HasSubstr;

TEST(LowerFourier, RealNumbersHaveHalfASpectrum) {
  EXPECT_EQ(OpForTest("RFFT")
                .in({3, 8})
                .in({}, DType::undefined)
                .known({-1})
                .out({3, 5}, DType::c64)
                .shape(),
            (Shape{3, 5}));
  EXPECT_EQ(OpForTest("IRFFT")
                .in({3, 5}, DType::c64)
                .in({}, DType::undefined)
                .known({-1})
                .out({3, 8})
                .shape(),
            (Shape{3, 8}));
}

TEST(LowerFourier, ThereIsALengthForEachAxis) {
  EXPECT_THAT(
      OpForTest("FFTN").in({3, 8}).known({2, 3}).known({1}).out({3, 8}, DType::c64).message(),
      HasSubstr("2 lengths for 1 axes"));
}

TEST(LowerFourier, AnAxisIsTransformedOnce) {
  EXPECT_THAT(OpForTest("FFT2")
                  .in({3, 8})
                  .in({}, DType::undefined)
                  .known({1, 1})
                  .out({3, 8}, DType::c64)
                  .message(),
              HasSubstr("axis 1 is named more than once"));
}

}  // namespace
}  // namespace anynpu::singleop
