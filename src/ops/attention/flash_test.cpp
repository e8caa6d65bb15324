// SPDX-License-Identifier: Apache-2.0
#include "ops/attention/flash.h"

#include <cmath>

#include "ops/test_node.h"

namespace anynpu::ops::attention {
namespace {

using Floats = std::vector<float>;

// Scores of 0, so that every key that is seen has the same weight.
TestNode flat(int64_t rows, int64_t keys) {
  Floats values;
  for (int64_t i = 0; i < keys; ++i) values.push_back(static_cast<float>(1 << i));
  return TestNode("FlashAttention", 1, "anynpu")
      .floats({1, 1, rows, 1}, Floats(static_cast<size_t>(rows), 0))
      .floats({1, 1, keys, 1}, Floats(static_cast<size_t>(keys), 1))
      .floats({1, 1, keys, 1}, values);
}

TEST(FlashAttention, SeesTheKeysOfItsMode) {
  const auto mode = [](int64_t number) {
    return flat(2, 3).attr("mode", number).attr("before", int64_t{0}).attr("after", int64_t{0});
  };
  EXPECT_EQ(mode(2).evaluate(), (Floats{1, 1.5f}));
  EXPECT_EQ(mode(3).evaluate(), (Floats{1.5f, static_cast<float>(7.0 / 3)}));
  EXPECT_EQ(mode(4).evaluate(), (Floats{2, 4}));
  EXPECT_EQ(mode(6).attr("prefixes", std::vector<int64_t>{3}).evaluate(),
            (Floats{static_cast<float>(7.0 / 3), static_cast<float>(7.0 / 3)}));
  EXPECT_NE(mode(9).shape_text().find("sparse mode is 9"), std::string::npos);
  EXPECT_NE(mode(6).shape_text().find("0 prefixes"), std::string::npos);
}

TEST(FlashAttention, LengthsAndMasksShutKeysOut) {
  EXPECT_EQ(flat(2, 3).absent().absent().ints({1}).ints({2}).evaluate(), (Floats{1.5f, 0}));
  EXPECT_EQ(flat(1, 3).bools({1, 1, 1, 3}, {0, 1, 0}).evaluate(), (Floats{2.5f}));
  EXPECT_EQ(flat(1, 3).bools({1, 1, 1, 3}, {1, 1, 1}).evaluate(), (Floats{0}));
  auto node = flat(1, 3).absent().absent().absent().ints({4});
  const auto context = node.infer();
  ASSERT_TRUE(context.ok());
  const auto failed = evaluate(*context);
  ASSERT_FALSE(failed.ok());
  EXPECT_NE(failed.status().to_string().find("has the keys [0, 4)"), std::string::npos)
      << failed.status().to_string();
}

TEST(FlashAttention, ATableSaysWhichBlocksASampleHas) {
  // Three blocks of two tokens; the sample has the last one and one token of the first.
  EXPECT_EQ(TestNode("FlashAttention", 1, "anynpu")
                .floats({1, 1, 1, 1}, {0})
                .floats({3, 1, 2, 1}, {1, 1, 1, 1, 1, 1})
                .floats({3, 1, 2, 1}, {1, 2, 4, 8, 16, 32})
                .absent()
                .absent()
                .absent()
                .ints({3})
                .ints({1, 2}, {2, 0})
                .evaluate(),
            (Floats{static_cast<float>(49.0 / 3)}));
}

TEST(FlashAttention, TellsWhatDoesNotFit) {
  const auto node = [](Shape q, Shape k, Shape v) {
    return TestNode("FlashAttention", 1, "anynpu")
        .shape(std::move(q))
        .shape(std::move(k))
        .shape(std::move(v));
  };
  EXPECT_EQ(node({2, 1, 5, 8}, {2, 1, 3, 8}, {2, 1, 3, 4}).shape_text(), "2x1x5x4");
  EXPECT_NE(node({2, 1, 5, 8}, {2, 1, 3, 7}, {2, 1, 3, 4}).shape_text().find("do not fit"),
            std::string::npos);
  EXPECT_NE(node({2, 5, 8}, {2, 1, 3, 8}, {2, 1, 3, 4}).shape_text().find("not BNSD"),
            std::string::npos);
  EXPECT_NE(node({2, 1, 5, 8}, {2, 1, 3, 8}, {2, 1, 3, 4})
                .attr("heads", int64_t{3})
                .shape_text()
                .find("Q has 1 heads"),
            std::string::npos);
}

TEST(FlashAttention, AllKernelsAgree) {
  check_cases(
      {
          "FlashAttention domain=anynpu shape=2x4x5x16,2x2x70x16,2x2x70x16 heads=4 kv_heads=2 "
          "scale=0.25",
          "FlashAttention domain=anynpu shape=2x4x70x24,2x2x130x24,2x2x130x20 heads=4 kv_heads=2 "
          "scale=0.25 mode=3",
          "FlashAttention domain=anynpu shape=1x3x9x8,1x3x200x8,1x3x200x8 heads=3 kv_heads=3 "
          "mode=4 "
          "before=20 after=3",
          "FlashAttention domain=anynpu shape=2x5x32,2x40x16,2x40x16 heads=4 kv_heads=2 layout=BSH "
          "kv_layout=BSH out_layout=BSH dtype=float16",
          "FlashAttention domain=anynpu shape=2x5x4x8,2x40x2x8,2x40x2x8 heads=4 kv_heads=2 "
          "layout=BSND "
          "kv_layout=BSND out_layout=BNSD dtype=bfloat16",
          "FlashAttention domain=anynpu shape=2x4x5x16,2x2x70x16,2x2x70x16,_,1x4x5x70 heads=4 "
          "kv_heads=2 scale=0.25 pse_type=1",
          "FlashAttention domain=anynpu shape=2x4x5x16,2x2x70x16,2x2x70x16,_,1x4x1x1 heads=4 "
          "kv_heads=2 scale=0.25 pse_type=2",
          "FlashAttention domain=anynpu shape=3x4x1x32,3x1x0x32,3x1x0x32 heads=4 kv_heads=1",
          // Threads share the keys of one head.
          "FlashAttention domain=anynpu shape=1x8x2x32,1x1x2100x32,1x1x2100x24 heads=8 kv_heads=1 "
          "mode=3 scale=0.2",
          "FlashAttention domain=anynpu "
          "shape=1x4x1x16,1x1x1500x16,1x1x1500x16,_,_,_,_,_,_,_,_,_,_,_,4 heads=4 "
          "kv_heads=1 outputs=2",
      },
      20);
}

TEST(FlashAttentionGrad, NeedsWhatTheRunBeforeItGave) {
  const auto node = [] {
    return TestNode("FlashAttentionGrad", 1, "anynpu")
        .shape({1, 1, 2, 4})
        .shape({1, 1, 3, 4})
        .shape({1, 1, 3, 4});
  };
  EXPECT_NE(node().shape_text().find("dY is left out"), std::string::npos);
  auto paged = node();
  for (int i = 0; i < 4; ++i) paged.absent();
  EXPECT_NE(paged.shape({1, 2}, DType::i64).shape_text().find("gradients are of plain caches"),
            std::string::npos);
}

TEST(FlashAttentionGrad, AllKernelsAgree) {
  check_cases(
      {
          "FlashAttentionGrad domain=anynpu "
          "shape=2x4x5x16,2x2x70x16,2x2x70x12,_,_,_,_,_,_,_,_,_,_,_,_,_,_,_,"
          "2x4x5x12,2x4x5x12,2x4x5x1 heads=4 kv_heads=2 scale=0.25 outputs=3",
          "FlashAttentionGrad domain=anynpu "
          "shape=1x40x32,1x20x32,1x20x32,_,_,_,_,_,_,_,_,_,_,_,_,_,_,_,1x40x32,"
          "1x40x32,1x2x40x1 heads=2 kv_heads=2 layout=BSH kv_layout=BSH out_layout=BSH mode=3 "
          "scale=0.25 outputs=3",
      },
      4);
}

}  // namespace
}  // namespace anynpu::ops::attention
