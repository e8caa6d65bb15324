// SPDX-License-Identifier: Apache-2.0
#include "service/media/block_pool.h"

#include "service/media/media_for_test.h"

namespace anynpu::media {
namespace {

class BlockPoolTest : public MediaTest {
 protected:
  BlockPools& pools = BlockPools::instance();
};

TEST_F(BlockPoolTest, blocks_are_given_until_none_is_left) {
  const uint32_t pool = *pools.create(1000, 2);
  const uint32_t first = *pools.take(pool, 1000), second = *pools.take(pool, 10);
  EXPECT_NE(first, second);
  EXPECT_EQ(pools.take(pool, 1).status().code(), Code::not_complete);
  auto* a = static_cast<uint8_t*>(*pools.address(first));
  auto* b = static_cast<uint8_t*>(*pools.address(second));
  EXPECT_GE(std::abs(a - b), 1000);
  a[999] = 1;
  EXPECT_TRUE(pools.release(first).ok());
  EXPECT_EQ(*pools.take(BlockPools::kAnyPool, 500), first);
  EXPECT_EQ(pools.take(pool, 2000).status().code(), Code::invalid_argument);
}

TEST_F(BlockPoolTest, a_block_is_free_when_its_last_reference_goes) {
  const uint32_t pool = *pools.create(64, 1);
  const uint32_t block = *pools.take(pool, 64);
  EXPECT_TRUE(pools.add_reference(block).ok());
  EXPECT_TRUE(pools.release(block).ok());
  EXPECT_EQ(pools.destroy(pool).code(), Code::bad_call_order);
  EXPECT_TRUE(pools.release(block).ok());
  EXPECT_EQ(pools.release(block).code(), Code::not_found);
  EXPECT_FALSE(pools.address(block).ok());
  EXPECT_TRUE(pools.destroy(pool).ok());
  EXPECT_EQ(pools.destroy(pool).code(), Code::not_found);
  EXPECT_EQ(pools.take(pool, 1).status().code(), Code::not_found);
}

TEST_F(BlockPoolTest, sizes_without_sense_are_refused) {
  EXPECT_EQ(pools.create(0, 1).status().code(), Code::invalid_argument);
  EXPECT_EQ(pools.create(64, 0).status().code(), Code::invalid_argument);
  EXPECT_EQ(pools.create(UINT64_MAX, 2).status().code(), Code::invalid_argument);
  EXPECT_EQ(pools.create(uint64_t{1} << 40, 65535).status().code(), Code::out_of_memory);
}

}  // namespace
}  // namespace anynpu::media
