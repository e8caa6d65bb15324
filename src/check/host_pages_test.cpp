// SPDX-License-Identifier: Apache-2.0
#include "check/host_pages.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>

#include "acl/acl.h"
#include "check/findings_for_test.h"
#include "check/guard.h"

namespace anynpu::check {
namespace {

class HostPages : public testing::Test {
 protected:
  HostPages() { set_guard_mode(GuardMode::pinned); }
  ~HostPages() override { set_guard_mode(GuardMode::none); }
};

TEST_F(HostPages, SmallBlocksShareNoPage) {
  void *one = nullptr, *two = nullptr;
  ASSERT_EQ(aclrtMallocHost(&one, 8), ACL_SUCCESS);
  ASSERT_EQ(aclrtMallocHost(&two, 8), ACL_SUCCESS);
  const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  EXPECT_EQ(word(one) % page, 0u);
  EXPECT_NE(word(one) / page, word(two) / page);
  EXPECT_TRUE(owns_its_pages(word(one)));
  EXPECT_FALSE(owns_its_pages(word(one) + 1));
  std::memset(one, 1, 8);
  EXPECT_EQ(aclrtFreeHost(one), ACL_SUCCESS);
  EXPECT_FALSE(owns_its_pages(word(one)));
  EXPECT_NE(aclrtFreeHost(one), ACL_SUCCESS) << "once is enough";
  EXPECT_EQ(aclrtFreeHost(two), ACL_SUCCESS);
}

TEST_F(HostPages, WithoutGuardsBlocksAreAsTheLibraryGivesThem) {
  set_guard_mode(GuardMode::none);
  void* one = nullptr;
  ASSERT_EQ(aclrtMallocHost(&one, 8), ACL_SUCCESS);
  EXPECT_FALSE(owns_its_pages(word(one)));
  EXPECT_EQ(aclrtFreeHost(one), ACL_SUCCESS);
  EXPECT_NE(aclrtMallocHost(&one, 0), ACL_SUCCESS);
}

}  // namespace
}  // namespace anynpu::check
