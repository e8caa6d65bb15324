// SPDX-License-Identifier: Apache-2.0
#include "exec/blas.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "device/queue.h"
#include "device/runtime.h"
#include "tensor/half.h"

namespace anynpu::exec {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class BlasTest : public testing::Test {
 protected:
  void SetUp() override {
    device_ = device::Runtime::instance().device(0).value();
    queue_ = device_->create_queue(0);
  }
  void TearDown() override { clear_gemm_plans(); }

  template <typename In, typename Out, typename Factor>
  void run(const Gemm& gemm, const std::vector<In>& a, const std::vector<In>& b,
           std::vector<Out>& c, Factor alpha, Factor beta) {
    ASSERT_TRUE(check_gemm(gemm).ok()) << check_gemm(gemm).to_string();
    const GemmBytes bytes = bytes_of(gemm);
    ASSERT_LE(bytes.a, a.size() * sizeof(In));
    ASSERT_LE(bytes.b, b.size() * sizeof(In));
    ASSERT_LE(bytes.c, c.size() * sizeof(Out));
    const Status status =
        run_gemm(gemm, {&alpha, a.data(), b.data(), &beta, c.data()}, device_, *queue_);
    ASSERT_TRUE(status.ok()) << status.to_string();
    ASSERT_TRUE(queue_->drain().ok());
  }

  std::shared_ptr<device::Device> device_;
  std::shared_ptr<device::Queue> queue_;
  const std::vector<float> a_ = {1, 2, 3, 4, 5, 6};     // 2 x 3
  const std::vector<float> b_ = {1, 0, 0, 1, 10, 100};  // 3 x 2
};

TEST_F(BlasTest, TheProductIsScaledAndAddedToWhatIsThere) {
  std::vector<float> c = {1, 1, 1, 1};
  run({.m = 2, .n = 2, .k = 3}, a_, b_, c, 1.0f, 0.0f);
  EXPECT_THAT(c, ElementsAre(31, 302, 64, 605));
  run({.m = 2, .n = 2, .k = 3}, a_, b_, c, 2.0f, -1.0f);
  EXPECT_THAT(c, ElementsAre(31, 302, 64, 605));
}

TEST_F(BlasTest, OperandsMayBeTransposed) {
  const std::vector<float> at = {1, 4, 2, 5, 3, 6}, bt = {1, 0, 10, 0, 1, 100};
  std::vector<float> c(4);
  run({.m = 2, .n = 2, .k = 3, .a = Trans::yes, .b = Trans::yes}, at, bt, c, 1.0f, 0.0f);
  EXPECT_THAT(c, ElementsAre(31, 302, 64, 605));
}

TEST_F(BlasTest, RowsMayBeApartAndWhatLiesBetweenStays) {
  const std::vector<float> a = {1, 2, 3, -9, 4, 5, 6, -9};
  std::vector<float> c = {0, 0, -7, 0, 0, -7};
  run({.m = 2, .n = 2, .k = 3, .lda = 4, .ldc = 3}, a, b_, c, 1.0f, 0.0f);
  EXPECT_THAT(c, ElementsAre(31, 302, -7, 64, 605, -7));
}

TEST_F(BlasTest, AVectorMayHaveSteps) {
  const std::vector<float> x = {1, -9, 1, -9, 2};
  std::vector<float> y = {5, 5, 5};
  run({.m = 2, .n = 1, .k = 3, .b_step = 2, .c_step = 2}, a_, x, y, 1.0f, 0.0f);
  EXPECT_THAT(y, ElementsAre(9, 5, 21));
}

TEST_F(BlasTest, BytesAreSummedAsWholeNumbers) {
  const std::vector<int8_t> a = {127, 127, 127, 1, 2, 3}, b = {127, 1, 127, 1, 127, 1};
  std::vector<int32_t> c = {1, 1, 1, 1};
  run({.m = 2, .n = 2, .k = 3, .a_type = DType::i8, .b_type = DType::i8, .c_type = DType::i32}, a,
      b, c, int32_t{2}, int32_t{10});
  EXPECT_THAT(c, ElementsAre(2 * 48387 + 10, 2 * 381 + 10, 2 * 762 + 10, 22));
}

TEST_F(BlasTest, HalvesGiveFloatsThatWereNotRounded) {
  const std::vector<F16> a = {to_f16(2048), to_f16(1)}, b = {to_f16(1), to_f16(1)};
  std::vector<float> c(1);
  run({.m = 1, .n = 1, .k = 2, .a_type = DType::f16, .b_type = DType::f16}, a, b, c, 1.0f, 0.0f);
  EXPECT_EQ(c[0], 2049) << "not a float16";
}

TEST_F(BlasTest, BlocksOfFractalNzAreRead) {
  std::vector<float> a(16 * 16, -9), c(4);  // a block of 16 x 16 holds 2 x 3
  for (size_t i = 0; i < 6; ++i) a[i / 3 * 16 + i % 3] = a_[i];
  const Gemm gemm{.m = 2, .n = 2, .k = 3, .a = Trans::nz};
  EXPECT_EQ(bytes_of(gemm).a, 16 * 16 * sizeof(float));
  run(gemm, a, b_, c, 1.0f, 0.0f);
  EXPECT_THAT(c, ElementsAre(31, 302, 64, 605));
}

TEST_F(BlasTest, WhatCannotBeComputedIsRefusedBeforehand) {
  const auto problem = [](const Gemm& gemm) { return check_gemm(gemm).message(); };
  EXPECT_THAT(problem({.m = 1, .n = 1, .k = 1, .b_type = DType::f16}),
              HasSubstr("float32 and float16 into float32"));
  EXPECT_THAT(problem({.m = 1, .n = 0, .k = 1}), HasSubstr("1, 0, 1"));
  EXPECT_THAT(problem({.m = 1, .n = 1, .k = 1, .c = Trans::yes}), HasSubstr("transC is 1"));
  EXPECT_THAT(problem({.m = 2, .n = 2, .k = 3, .lda = 2}), HasSubstr("lda is 2"));
  EXPECT_TRUE(check_gemm({.m = 2, .n = 2, .k = 3, .lda = 3}).ok());
}

}  // namespace
}  // namespace anynpu::exec
