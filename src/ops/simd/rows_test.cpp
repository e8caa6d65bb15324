// SPDX-License-Identifier: Apache-2.0
#include "ops/simd/rows.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace anynpu::ops {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

double exact(RowFunction function, double x) {
  const auto sigmoid = [](double v) { return 1 / (1 + std::exp(-v)); };
  switch (function) {
    case RowFunction::exp:
      return std::exp(x);
    case RowFunction::erf:
      return std::erf(x);
    case RowFunction::tanh:
      return std::tanh(x);
    case RowFunction::sigmoid:
      return sigmoid(x);
    case RowFunction::gelu:
      return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0)));
    case RowFunction::gelu_tanh:
      return 0.5 * x * (1 + std::tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)));
    case RowFunction::silu:
      return x * sigmoid(x);
  }
  return 0;
}

std::vector<Isa> present() {
  std::vector<Isa> list;
  for (Isa isa : {Isa::baseline, Isa::avx2, Isa::avx512}) {
    if (check_isa(isa).ok()) list.push_back(isa);
  }
  return list;
}

TEST(Rows, FunctionsAgreeWithTheLibraryOverTheirWholeRange) {
  std::vector<float> x;
  for (int i = -30000; i <= 30000; ++i) x.push_back(static_cast<float>(i) / 250.0f);
  for (float v : {1e-30f, -1e-30f, 1e-41f, 1e30f, -1e30f, 88.72f, -103.9f, 0.0f, -0.0f})
    x.push_back(v);
  for (Isa isa : present()) {
    for (RowFunction f :
         {RowFunction::exp, RowFunction::erf, RowFunction::tanh, RowFunction::sigmoid,
          RowFunction::gelu, RowFunction::gelu_tanh, RowFunction::silu}) {
      std::vector<float> y(x.size());
      row_set(isa).find(f)(x.data(), y.data(), static_cast<int64_t>(x.size()));
      for (size_t i = 0; i < x.size(); ++i) {
        const double want = exact(f, static_cast<double>(x[i]));
        if (want > 3.4e38) {
          EXPECT_EQ(y[i], kInfinity) << x[i];
          continue;
        }
        // 1 + erf(-5) is exact to the scale of 1 only, and gelu multiplies it by x.
        const bool gelu = f == RowFunction::gelu || f == RowFunction::gelu_tanh;
        const double room =
            6e-7 * std::fabs(want) + (gelu ? 3e-7 : 0) * std::fmin(std::fabs(x[i]), 8.0);
        const double tiny = 1.2e-38 * (1 + std::fabs(x[i]));  // less is no normal number
        ASSERT_NEAR(static_cast<double>(y[i]), want, room + tiny)
            << name_of(isa) << " function " << static_cast<int>(f) << " of " << x[i];
      }
    }
  }
}

TEST(Rows, NanAndInfinityComeOutAsTheLibraryGivesThem) {
  const float x[] = {kNan, kInfinity, -kInfinity};
  float y[3];
  for (Isa isa : present()) {
    const auto run = [&](RowFunction f) {
      row_set(isa).find(f)(x, y, 3);
      EXPECT_TRUE(std::isnan(y[0])) << name_of(isa) << static_cast<int>(f);
    };
    run(RowFunction::exp);
    EXPECT_EQ(y[1], kInfinity);
    EXPECT_EQ(y[2], 0);
    run(RowFunction::erf);
    EXPECT_EQ(y[1], 1);
    EXPECT_EQ(y[2], -1);
    run(RowFunction::tanh);
    EXPECT_EQ(y[1], 1);
    EXPECT_EQ(y[2], -1);
    run(RowFunction::sigmoid);
    EXPECT_EQ(y[1], 1);
    EXPECT_EQ(y[2], 0);
    run(RowFunction::gelu);
    EXPECT_EQ(y[1], kInfinity);
    run(RowFunction::silu);
    EXPECT_EQ(y[1], kInfinity);
    EXPECT_EQ(y[2], 0);
  }
}

TEST(Rows, EveryLengthIsComputedToItsLastElementAndNoFurther) {
  for (Isa isa : present()) {
    for (int64_t count = 0; count <= 70; ++count) {
      std::vector<float> x(static_cast<size_t>(count), 0.5f), y(static_cast<size_t>(count) + 1, 7);
      row_set(isa).find(RowFunction::exp)(x.data(), y.data(), count);
      for (int64_t i = 0; i < count; ++i) EXPECT_NEAR(y[static_cast<size_t>(i)], 1.6487213f, 1e-6f);
      row_set(isa).softmax(x.data(), nullptr, 1, y.data(), count);
      for (int64_t i = 0; i < count; ++i)
        EXPECT_NEAR(y[static_cast<size_t>(i)], 1.0f / static_cast<float>(count), 1e-7f);
      EXPECT_EQ(y.back(), 7);
    }
  }
}

TEST(Rows, SoftmaxOfLowestNumbersAndInfinitiesIsTheShareOfTheRest) {
  const float low = std::numeric_limits<float>::lowest();
  for (Isa isa : present()) {
    const float x[] = {1, 1, 500, 500}, mask[] = {0, 0, low, -kInfinity};
    float y[4];
    row_set(isa).softmax(x, mask, 0.5f, y, 4);
    EXPECT_EQ(std::vector<float>(y, y + 4), (std::vector<float>{0.5f, 0.5f, 0, 0}));
    row_set(isa).softmax(x, nullptr, 0, y, 3);
    EXPECT_NEAR(y[2], 1 / 3.0f, 1e-7f);
    const float spoilt[] = {1, kNan, 2};
    row_set(isa).softmax(spoilt, nullptr, 1, y, 3);
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(std::isnan(y[i]));
  }
}

TEST(Rows, LayerNormKeepsItsPrecisionFarFromZero) {
  for (Isa isa : present()) {
    std::vector<float> x(5000), scale(5000, 1.0f), y(5000);
    for (size_t i = 0; i < x.size(); ++i) x[i] = 1000.0f + (i % 2 ? 1.0f : -1.0f);
    NormRow row;
    row.x = x.data(), row.y = y.data(), row.scale = scale.data(), row.count = 5000;
    row_set(isa).layer_norm(row);
    EXPECT_NEAR(row.mean, 1000, 1e-4);
    EXPECT_NEAR(row.inverse, 1, 1e-5);
    EXPECT_NEAR(y[0], -1, 1e-4f);
    EXPECT_NEAR(y[4999], 1, 1e-4f);
  }
}

}  // namespace
}  // namespace anynpu::ops
