// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "ops/test_node.h"

namespace anynpu::ops::random {
namespace {

struct Moments {
  double mean = 0, deviation = 0, low = INFINITY, high = -INFINITY;
};
Moments moments(const std::vector<float>& values) {
  Moments m;
  for (float v : values) {
    m.mean += v / static_cast<double>(values.size());
    m.low = std::min<double>(m.low, v);
    m.high = std::max<double>(m.high, v);
  }
  for (float v : values) m.deviation += (v - m.mean) * (v - m.mean);
  m.deviation = std::sqrt(m.deviation / static_cast<double>(values.size()));
  return m;
}

std::vector<float> like(const char* op, graph::Attr seed) {
  return TestNode(op, 22)
      .floats({100, 100}, std::vector<float>(10000, 0.25f))
      .attr("seed", seed)
      .evaluate();
}

TEST(Random, UniformNumbersFillTheirRange) {
  const Moments m = moments(like("RandomUniformLike", 1.0f));
  EXPECT_NEAR(m.mean, 0.5, 0.02);
  EXPECT_NEAR(m.deviation, std::sqrt(1 / 12.0), 0.01);
  EXPECT_GE(m.low, 0);
  EXPECT_LT(m.high, 1);
}

TEST(Random, NormalNumbersHaveTheirMeanAndDeviation) {
  const auto values = TestNode("RandomNormalLike", 22)
                          .floats({10000}, std::vector<float>(10000))
                          .attr("mean", 3.0f)
                          .attr("scale", 2.0f)
                          .evaluate();
  const Moments m = moments(values);
  EXPECT_NEAR(m.mean, 3, 0.1);
  EXPECT_NEAR(m.deviation, 2, 0.1);
}

TEST(Random, BernoulliFollowsTheProbabilities) {
  const Moments m = moments(like("Bernoulli", 2.0f));
  EXPECT_NEAR(m.mean, 0.25, 0.02);
  EXPECT_EQ(m.low, 0);
  EXPECT_EQ(m.high, 1);
}

TEST(Random, DropoutInTrainingDropsItsPartAndKeepsTheSum) {
  const auto run = [](float ratio, bool training) {
    return TestNode("Dropout", 22)
        .floats({10000}, std::vector<float>(10000, 2.0f))
        .floats({}, {ratio})
        .flag(training)
        .attr("seed", int64_t{3})
        .evaluate();
  };
  const auto dropped = run(0.75f, true);
  EXPECT_NEAR(std::count(dropped.begin(), dropped.end(), 0.0f) / 10000.0, 0.75, 0.02);
  EXPECT_NEAR(moments(dropped).mean, 2, 0.1);
  EXPECT_EQ(moments(dropped).high, 8);
  EXPECT_EQ(run(0.0f, true), std::vector<float>(10000, 2.0f));
  EXPECT_EQ(run(0.75f, false), std::vector<float>(10000, 2.0f));
}

TEST(Random, DropoutOutsideOfTrainingIsACopy) { check_cases({"Dropout shape=3x4 opset=13"}); }

TEST(Random, TheSameSeedGivesTheSameNumbersAndAnotherOthers) {
  EXPECT_EQ(like("RandomUniformLike", 1.0f), like("RandomUniformLike", 1.0f));
  EXPECT_NE(like("RandomUniformLike", 1.0f), like("RandomUniformLike", 2.0f));
}

TEST(Random, MultinomialChoosesLikelyClassesMoreOften) {
  std::vector<float> weights = {std::log(0.1f), std::log(0.7f), std::log(0.2f)};
  const auto values = TestNode("Multinomial", 22)
                          .floats({1, 3}, weights)
                          .attr("sample_size", int64_t{5000})
                          .attr("dtype", int64_t{1})
                          .evaluate();
  double counts[3] = {};
  for (float v : values) ++counts[static_cast<int>(v)];
  for (int c = 0; c < 3; ++c) EXPECT_NEAR(counts[c] / 5000, std::exp(weights[c]), 0.03);
}

}  // namespace
}  // namespace anynpu::ops::random
