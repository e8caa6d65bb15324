// SPDX-License-Identifier: Apache-2.0
#include "service/group/core_group.h"

#include <gtest/gtest.h>

#include "base/thread_pool.h"
#include "service/model/model_for_test.h"

namespace anynpu::service {
namespace {

class CoreGroupTest : public ServiceTest {
 protected:
  HandleForTest<GroupInfo> info_{std::make_shared<GroupInfo>()};
};

TEST_F(CoreGroupTest, ADeviceIsOneGroupWithAllItsCores) {
  EXPECT_EQ(*count_groups(), 1u);
  EXPECT_TRUE(use_group(0).ok());
  EXPECT_EQ(use_group(1).code(), Code::invalid_argument);
  EXPECT_EQ(group_attribute(info_, 0, GroupAttribute::cores).status().code(), Code::bad_call_order);
  ASSERT_TRUE(fill_group_info(info_).ok());
  EXPECT_EQ(*group_attribute(info_, 0, GroupAttribute::cores), ThreadPool::instance().threads());
  EXPECT_EQ(*group_attribute(info_, 0, GroupAttribute::group_id), 0u);
  EXPECT_EQ(group_attribute(info_, 1, GroupAttribute::cores).status().code(),
            Code::invalid_argument);
  EXPECT_EQ(group_attribute(info_, 0, static_cast<GroupAttribute>(6)).status().code(),
            Code::invalid_argument);
}

TEST_F(CoreGroupTest, NeedsAContext) {
  device::Runtime::instance().reset_all();
  EXPECT_EQ(count_groups().status().code(), Code::no_context);
  EXPECT_EQ(fill_group_info(info_).code(), Code::no_context);
}

}  // namespace
}  // namespace anynpu::service
