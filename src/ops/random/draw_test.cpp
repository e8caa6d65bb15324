// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "ops/test_node.h"

namespace anynpu::ops::random {
namespace {

std::vector<float> draw(const char* kind, int64_t seed, int64_t offset, float a, float b) {
  TestNode node("Draw", 1, "anynpu");
  node.ints(Shape{}, {seed}).ints(Shape{}, {offset}).floats({}, {a}).floats({}, {b});
  node.attr("kind", std::string(kind)).attr("shape", std::vector<int64_t>{100, 200});
  return node.evaluate();
}

struct Moments {
  double mean = 0, deviation = 0;
};
Moments moments(const std::vector<float>& values) {
  Moments m;
  for (float v : values) m.mean += v / static_cast<double>(values.size());
  for (float v : values) m.deviation += (v - m.mean) * (v - m.mean);
  m.deviation = std::sqrt(m.deviation / static_cast<double>(values.size()));
  return m;
}

TEST(Draw, HasTheMomentsOfItsKind) {
  const Moments uniform = moments(draw("uniform", 1, 0, -1, 3));
  EXPECT_NEAR(uniform.mean, 1, 0.05);
  EXPECT_NEAR(uniform.deviation, 4 / std::sqrt(12.0), 0.05);
  const Moments normal = moments(draw("normal", 1, 0, 2, 3));
  EXPECT_NEAR(normal.mean, 2, 0.1);
  EXPECT_NEAR(normal.deviation, 3, 0.1);
  EXPECT_NEAR(moments(draw("bernoulli", 1, 0, 0.3f, 0)).mean, 0.3, 0.02);
}

TEST(Draw, DependsOnSeedAndOffsetAlone) {
  const auto first = draw("uniform", 5, 8, 0, 1);
  EXPECT_EQ(draw("uniform", 5, 8, 0, 1), first);
  EXPECT_NE(draw("uniform", 5, 9, 0, 1), first);
  EXPECT_NE(draw("uniform", 6, 8, 0, 1), first);
  for (float value : first) EXPECT_TRUE(value >= 0 && value < 1) << value;
}

TEST(Draw, IntegersCoverTheirRange) {
  TestNode node("Draw", 1, "anynpu");
  node.ints(Shape{}, {1}).ints(Shape{}, {0}).ints(Shape{}, {-2}).ints(Shape{}, {3});
  node.attr("kind", std::string("integers")).attr("shape", std::vector<int64_t>{5000});
  const auto context = node.infer();
  ASSERT_TRUE(context.ok()) << context.status().to_string();
  const auto outputs = evaluate(*context);
  std::vector<int64_t> values(5000);
  std::memcpy(values.data(), (*outputs)[0].data(), 40000);
  std::array<int, 5> seen{};
  for (int64_t value : values) {
    ASSERT_TRUE(value >= -2 && value < 3) << value;
    ++seen[static_cast<size_t>(value + 2)];
  }
  for (int count : seen) EXPECT_NEAR(count, 1000, 150);
}

TEST(Draw, RefusesAKindThatItDoesNotKnow) {
  TestNode node("Draw", 1, "anynpu");
  node.ints(Shape{}, {1}).ints(Shape{}, {0}).floats({}, {0}).attr("kind", std::string("dice"));
  EXPECT_NE(node.shape_text().find("kind is 'dice'"), std::string::npos);
}

}  // namespace
}  // namespace anynpu::ops::random
