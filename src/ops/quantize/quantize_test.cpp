// SPDX-License-Identifier: Apache-2.0
#include "ops/test_node.h"

namespace anynpu::ops::quantize {
namespace {

std::vector<uint8_t> bytes_of_first(TestNode& node) {
  const auto context = node.infer();
  EXPECT_TRUE(context.ok()) << context.status().to_string();
  if (!context.ok()) return {};
  const auto y = evaluate(*context);
  EXPECT_TRUE(y.ok()) << y.status().to_string();
  std::vector<uint8_t> bytes;
  if (y.ok()) {
    for (std::byte b : (*y)[0]) bytes.push_back(std::to_integer<uint8_t>(b));
  }
  return bytes;
}

TEST(QuantizeLinear, RoundsHalvesToEvenAndSaturates) {
  TestNode node("QuantizeLinear");
  node.floats({5}, {-4, 1, 3, 2, 1000}).floats({}, {2});
  EXPECT_EQ(bytes_of_first(node), (std::vector<uint8_t>{0, 0, 2, 1, 255}));
}

TEST(QuantizeLinear, ScaleMustFitTheAxis) {
  EXPECT_NE(TestNode("QuantizeLinear").shape({2, 3}).shape({2}).shape_text().find("does not fit"),
            std::string::npos);
}

TEST(DynamicQuantizeLinear, KeepsZeroExact) {
  TestNode node("DynamicQuantizeLinear");
  node.node.outputs = {1000, 1001, 1002};
  node.floats({3}, {0, 2.55f, 1});
  EXPECT_EQ(bytes_of_first(node), (std::vector<uint8_t>{0, 255, 100}));
}

}  // namespace
}  // namespace anynpu::ops::quantize
