// SPDX-License-Identifier: Apache-2.0
#include "ops/test_node.h"

namespace anynpu::ops {
namespace {

TEST(FusedAttention, AveragesTheValuesByTheSoftmaxOfTheScores) {
  // Equal scores: the mean of the values; a mask that shuts one out: the other.
  const auto node = [] {
    return TestNode("FusedAttention", 1, "anynpu")
        .floats({1, 1, 2}, {0, 0})
        .floats({1, 2, 2}, {1, 2, 3, 4})
        .floats({1, 2, 2}, {2, 4, 6, 8});
  };
  EXPECT_EQ(node().evaluate(), (std::vector<float>{4, 6}));
  EXPECT_EQ(node().floats({1, 2}, {0, -1e9f}).evaluate(), (std::vector<float>{2, 4}));
}

TEST(FusedAttention, RefusesHeadsThatDoNotDivideTheWidth) {
  EXPECT_NE(TestNode("FusedAttention", 1, "anynpu")
                .shape({1, 4, 8})
                .shape({1, 4, 8})
                .shape({1, 4, 8})
                .attr("heads", int64_t{3})
                .shape_text()
                .find("3 heads"),
            std::string::npos);
}

TEST(FusedAttention, EveryKernelAgreesWithTheReference) {
  check_cases(
      {
          "FusedAttention shape=1x128x64,1x128x64,1x128x64 heads=1 scale=0.125 domain=anynpu "
          "opset=1",
          "FusedAttention shape=2x17x48,2x33x48,2x33x24 heads=3 scale=0.5 domain=anynpu opset=1",
          "FusedAttention shape=2x5x32,2x7x32,2x7x32,2x1x1x7 heads=2 domain=anynpu opset=1",
          "FusedAttention shape=1x5x32,1x7x32,1x7x32,2x5x7 heads=2 domain=anynpu opset=1",
          "FusedAttention shape=1x5x32,1x7x32,1x7x32,5x1 heads=2 domain=anynpu opset=1",
          "FusedAttention shape=1x1x5,1x1x5,1x1x3 domain=anynpu opset=1",
          "FusedAttention shape=0x4x8,0x4x8,0x4x8 heads=2 domain=anynpu opset=1",
          "FusedAttention shape=1x0x8,1x4x8,1x4x8 heads=2 domain=anynpu opset=1",
          "FusedAttention shape=1x3x8,1x4x8,1x4x8 heads=2 dtype=float16 domain=anynpu opset=1",
          "FusedAttention shape=2x17x48,2x33x48,2x33x24 heads=3 scale=0.5 dtype=bfloat16 "
          "domain=anynpu opset=1",
          "FusedAttention shape=2x5x32,2x7x32,2x7x32,2x1x1x7 heads=2 dtype=float16 domain=anynpu "
          "opset=1",
          "FusedAttention shape=2x19x32,2x37x32,2x37x32,2x1x1x37 heads=2 "
          "dtype=bfloat16,bfloat16,bfloat16,float32 domain=anynpu opset=1",
          "FusedAttention shape=2x19x32,2x37x32,2x37x32,2x1x1x37 heads=2 "
          "dtype=float32,float32,float32,bfloat16 domain=anynpu opset=1",
          "FusedAttention shape=1x3x8,1x4x8,1x4x8,3x4 heads=2 "
          "dtype=float16,float16,float16,float64 domain=anynpu opset=1",
      },
      32);
}

}  // namespace
}  // namespace anynpu::ops
