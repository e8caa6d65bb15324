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

TEST(CompileOptions, FrameworksClearThePrecisionModeAndAllowHf32ByTwoDigits) {
  constexpr int kAllowHf32 = 14;
  EXPECT_TRUE(set_compile_option(kPrecisionMode, "").ok());
  EXPECT_EQ(compile_option(kPrecisionMode), "");
  for (const char* value : {"00", "01", "10", "11"}) {
    EXPECT_TRUE(set_compile_option(kAllowHf32, value).ok()) << value;
    EXPECT_EQ(compile_option(kAllowHf32), value);
  }
  EXPECT_EQ(set_compile_option(kAllowHf32, "12").code(), Code::invalid_argument);
  run_finalizers();
}

TEST(CompileOptions, CompilingOnTheFlyHasAValueFromTheStart) {
  constexpr int kJitCompile = 10;
  EXPECT_EQ(compile_option(kJitCompile), "enable");  // of the default chip, Ascend310P3
  EXPECT_TRUE(set_compile_option(kJitCompile, "disable").ok());
  char text[8];
  EXPECT_TRUE(copy_compile_option(kJitCompile, text, 8).ok());
  EXPECT_STREQ(text, "disable");
  run_finalizers();
}

}  // namespace
}  // namespace anynpu::service
