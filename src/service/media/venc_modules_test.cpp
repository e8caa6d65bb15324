// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "service/media/venc_channel.h"

namespace anynpu::media {
namespace {

TEST(VencModulesTest, modules_keep_what_a_program_wrote) {
  ASSERT_TRUE(set_venc_module(5, Record(4, std::byte{8}), "").ok());
  EXPECT_EQ(*venc_module(5), Record(4, std::byte{8}));
  EXPECT_TRUE(venc_module(4)->empty());
  ASSERT_TRUE(set_venc_module(5, {}, "").ok());
  EXPECT_TRUE(venc_module(5)->empty());
}

TEST(VencModulesTest, there_are_five) {
  for (const int32_t none : {-1, 0, 6}) {
    EXPECT_EQ(set_venc_module(none, {}, "").code(), Code::invalid_argument) << none;
    EXPECT_EQ(venc_module(none).status().code(), Code::invalid_argument) << none;
  }
}

TEST(VencModulesTest, a_map_of_qps_has_one_for_each_block_in_rows_of_sixteen) {
  EXPECT_EQ(qp_map_stride(16), 16u);
  EXPECT_EQ(qp_map_stride(100), 16u);
  EXPECT_EQ(qp_map_stride(257), 32u);
  EXPECT_EQ(qp_map_bytes(100, 40), 48u);
  EXPECT_EQ(qp_map_bytes(100, 48), 48u);
  EXPECT_EQ(qp_map_bytes(100, 49), 64u);
}

}  // namespace
}  // namespace anynpu::media
