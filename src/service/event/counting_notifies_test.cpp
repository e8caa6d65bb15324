// SPDX-License-Identifier: Apache-2.0
#include "service/event/counting_notifies.h"

#include <gtest/gtest.h>

#include "device/runtime.h"

namespace anynpu::service {
namespace {

using device::CountingNotify;
using device::Runtime;

class CountingNotifies : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(Runtime::instance().set_device(0).ok()); }
  void TearDown() override { Runtime::instance().reset_all(); }
};

TEST_F(CountingNotifies, ModesAndValuesAreChecked) {
  EXPECT_EQ(create_counting_notify(1).status().code(), Code::invalid_argument);
  const Handle notify = *create_counting_notify(0);
  EXPECT_EQ(record_counting_notify(notify, 0, 3, 1).code(), Code::invalid_argument);
  EXPECT_EQ(record_counting_notify(notify, 0, 1, 0).code(), Code::invalid_argument);
  EXPECT_EQ(wait_counting_notify(notify, 0, 5, {}).code(), Code::invalid_argument);
  EXPECT_TRUE(record_counting_notify(notify, 0, 1, 4).ok());
  CountingNotify::Wait wait;
  wait.value = 4;
  EXPECT_TRUE(wait_counting_notify(notify, 0, 1, wait).ok());
  EXPECT_TRUE(reset_counting_notify(notify, 0).ok());
  EXPECT_TRUE((*Runtime::instance().stream(0))->synchronize().ok());
  HandleTable::instance().remove<CountingNotify>(notify);
  EXPECT_EQ(reset_counting_notify(notify, 0).code(), Code::invalid_handle);
}

}  // namespace
}  // namespace anynpu::service
