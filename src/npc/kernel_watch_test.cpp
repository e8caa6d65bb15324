// SPDX-License-Identifier: Apache-2.0
// Whole kernels under `anynpu check` are in tests/python/check/test_bugs.py; here the names of
// allocations in messages, which every program sees.
#include "npc/kernel_watch.h"

#include <gtest/gtest.h>

#include "npc/cluster.h"
#include "npc/core.h"
#include "npc/memory.h"

namespace anynpu::npc {
namespace {

TEST(KernelWatch, IsOffWithoutAChecker) {
  EXPECT_FALSE(KernelWatch::is_on());
  EXPECT_EQ(Memory::footprint(1), kPageBytes) << "no page behind an allocation";
  EXPECT_EQ(Memory::footprint(kPageBytes), kPageBytes);
}

TEST(KernelWatch, AnAddressBehindAnAllocationIsCalledByIt) {
  Cluster* cluster = *Cluster::get(2);
  const uint32_t block = *cluster->allocate(4000);
  Core core;
  core.memory = cluster->memory().get();
  EXPECT_EQ(allocation_text(core, block, 4), "") << "inside";
  const std::string behind = allocation_text(core, block + 4008, 4);
  EXPECT_EQ(behind.rfind("8 bytes past the end of the allocation of 4000 bytes", 0), 0u) << behind;
  const std::string over = allocation_text(core, block + 3998, 4);
  EXPECT_EQ(over.rfind("2 bytes run over the end of the allocation of 4000 bytes", 0), 0u) << over;
  EXPECT_EQ(allocation_text(core, block + (1u << 20), 4), "") << "too far to name it";
  ASSERT_TRUE(cluster->release(block).ok());
}

}  // namespace
}  // namespace anynpu::npc
