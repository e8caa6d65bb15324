// SPDX-License-Identifier: Apache-2.0
#include "service/op/compile_options.h"

#include <gtest/gtest.h>

#include "service/finalize.h"

namespace anynpu::service {
namespace {

constexpr int kPrecisionMode = 0, kDebugDir = 6;

TEST(CompileOptions, WordsAreCheckedAndForgottenAtTheEnd) {
  EXPECT_EQ(set_compile_option(kPrecisionMode, "fast").code(), Code::invalid_argument);
  EXPECT_EQ(set_compile_option(17, "x").code(), Code::invalid_argument);
  EXPECT_EQ(set_compile_option(kDebugDir, nullptr).code(), Code::invalid_argument);
  EXPECT_EQ(need_compile_option(kPrecisionMode).status().code(), Code::not_found);
  EXPECT_TRUE(set_compile_option(kPrecisionMode, "force_fp16").ok());
  EXPECT_EQ(compile_option(kPrecisionMode), "force_fp16");
  char text[16];
  EXPECT_EQ(copy_compile_option(kPrecisionMode, text, 10).code(), Code::invalid_argument);
  EXPECT_TRUE(copy_compile_option(kPrecisionMode, text, 11).ok());
  EXPECT_STREQ(text, "force_fp16");
  run_finalizers();
  EXPECT_FALSE(compile_option(kPrecisionMode));
}

}  // namespace
}  // namespace anynpu::service
