// SPDX-License-Identifier: Apache-2.0
#include "ops/gemm/grouped.h"

#include "ops/test_node.h"

namespace anynpu::ops::gemm {
namespace {

using Floats = std::vector<float>;

// Two groups of rows; the matrices multiply by 1 and by 10.
TestNode two_groups(std::vector<int64_t> sizes, int64_t kind) {
  return TestNode("GroupedMatMul", 1, "anynpu")
      .floats({3, 1}, {1, 2, 3})
      .ints(std::move(sizes))
      .absent()
      .absent()
      .absent()
      .absent()
      .absent()
      .floats({2, 1, 1}, {1, 10})
      .attr("list_type", kind);
}

TEST(GroupedMatMul, GroupsAreEndsOrSizes) {
  EXPECT_EQ(two_groups({1, 3}, 0).evaluate(), (Floats{1, 20, 30}));
  EXPECT_EQ(two_groups({2, 1}, 1).evaluate(), (Floats{1, 2, 30}));
  EXPECT_EQ(two_groups({0, 2}, 1).evaluate(), (Floats{10, 20, 0}));  // a row of no group
}

TEST(GroupedMatMul, TellsWhatDoesNotFit) {
  auto node = two_groups({2, 4}, 0);
  const auto context = node.infer();
  ASSERT_TRUE(context.ok());
  const auto failed = evaluate(*context);
  ASSERT_FALSE(failed.ok());
  EXPECT_NE(failed.status().to_string().find("entry 1 of the groups"), std::string::npos);
  EXPECT_NE(two_groups({3}, 0).shape_text().find("a list of 1 for 2 groups"), std::string::npos);
}

TEST(GroupedMatMul, ScalesWeightsSumsAndRows) {
  EXPECT_EQ(TestNode("GroupedMatMul", 1, "anynpu")
                .floats({2, 2}, {1, 2, 3, 4})
                .absent()
                .floats({1, 2, 1}, {10, 100})  // of each row of W
                .floats({1, 2, 1}, {1, 0})
                .floats({1, 1}, {5})
                .floats({1, 1}, {2})
                .floats({2}, {1, 0.5f})
                .floats({2, 1}, {1, 1})
                .evaluate(),
            (Floats{(20 + 200 + 5) * 2, 60 + 400 + 5}));
}

TEST(GroupedMatMul, AllKernelsAgree) {
  check_cases(
      {
          "GroupedMatMul domain=anynpu shape=33x40,_,_,_,_,_,_,1x40x50",
          "GroupedMatMul domain=anynpu shape=33x40,_,_,_,1x50,1x50,33,1x50x40 transB=1 bias_last=1",
          "GroupedMatMul domain=anynpu shape=7x64,_,1x4x17,1x4x17,1x17,_,_,64x17",
          "GroupedMatMul domain=anynpu shape=7x64,_,1x2x1,_,_,1x1,_,64x35 "
          "dtype=float32,int64,float32,"
          "float32,float32,float32,float32,float16",
          "GroupedMatMul domain=anynpu shape=9x30,_,_,_,_,_,_,30x21 axis=1",
          "GroupedMatMul domain=anynpu shape=5x8,_,_,_,_,_,_,8x1",
          "GroupedMatMul domain=anynpu shape=0x8,_,_,_,_,_,_,1x8x5",
      },
      10);
}

}  // namespace
}  // namespace anynpu::ops::gemm
