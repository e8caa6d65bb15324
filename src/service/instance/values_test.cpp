// SPDX-License-Identifier: Apache-2.0
#include "service/instance/values.h"

#include "device/memory.h"
#include "service/instance/instance_for_test.h"

namespace anynpu::service {
namespace {

using Values = InstanceTest;

TEST_F(Values, ARecordedOneSaysWhatItWritesAndWaitsFor) {
  uint64_t* value = static_cast<uint64_t*>(*device::allocate_host(16));
  value[0] = value[1] = 0;
  ASSERT_TRUE(begin_capture(s_, 0).ok());
  ASSERT_TRUE(submit_value_write(value, 5, s_).ok());
  ASSERT_TRUE(submit_value_wait(value, 4, 0, s_).ok());
  const Handle handle = *end_capture(s_);
  const auto& tasks = (*find_instance(handle))->lanes()[0].tasks;
  EXPECT_EQ(tasks[0]->value->value, 5u);
  EXPECT_EQ(tasks[1]->value->value, 4u);
  ASSERT_TRUE(run(handle).ok());
  EXPECT_EQ(value[0], 5u);
  EXPECT_EQ(submit_value_wait(value, 4, 4, s_).code(), Code::invalid_argument);
  EXPECT_TRUE(device::free_host(value).ok());
}

}  // namespace
}  // namespace anynpu::service
