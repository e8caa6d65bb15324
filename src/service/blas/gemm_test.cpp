// SPDX-License-Identifier: Apache-2.0
#include "service/blas/gemm.h"

#include <gtest/gtest.h>

namespace anynpu::service {
namespace {

TEST(Gemm, CodesAndStepsAreChecked) {
  EXPECT_TRUE(check_gemm_codes({0, 3}, 1).ok());
  EXPECT_EQ(check_gemm_codes({4}, 0).code(), Code::invalid_argument);
  EXPECT_EQ(check_gemm_codes({0}, 2).code(), Code::invalid_argument);
  EXPECT_EQ(submit_gemv({}, 0, 1, 0, {}, 0).code(), Code::invalid_argument);
  EXPECT_EQ(submit_gemv({}, -1, -2, 0, {}, 0).code(), Code::invalid_argument);
}

}  // namespace
}  // namespace anynpu::service
