// SPDX-License-Identifier: Apache-2.0
#include "service/instance/build.h"

#include "service/instance/instance_for_test.h"

namespace anynpu::service {
namespace {

constexpr uint32_t kPersistent = 4;

using Built = InstanceTest;

TEST_F(Built, StreamsAreBoundRecordedAndUnbound) {
  const Handle instance = *begin_build();
  const Handle head = make_stream(kPersistent);
  EXPECT_EQ(bind_stream(instance, s_, kHeadStream).code(), Code::invalid_argument);
  EXPECT_EQ(bind_stream(instance, head, 3).code(), Code::invalid_argument);
  ASSERT_TRUE(bind_stream(instance, head, kHeadStream).ok());
  EXPECT_EQ(bind_stream(instance, head, kHeadStream).code(), Code::bad_call_order);
  EXPECT_TRUE(leave('a', head).ok());
  EXPECT_TRUE(add_end_task(instance, head).ok());
  EXPECT_EQ(execute_instance(instance, -1).code(), Code::bad_call_order);
  ASSERT_TRUE(end_build(instance).ok());
  EXPECT_EQ(end_build(instance).code(), Code::bad_call_order);
  EXPECT_EQ(leave('b', head).code(), Code::bad_call_order);
  EXPECT_TRUE(execute_instance(instance, -1).ok());
  EXPECT_EQ(take(), "a");
  EXPECT_TRUE(unbind_stream(instance, head).ok());
  EXPECT_EQ(unbind_stream(instance, head).code(), Code::stream_not_of_instance);
}

TEST_F(Built, ActivationsAndSwitchesNeedStreamsOfTheSameInstance) {
  const Handle instance = *begin_build(), other = *begin_build();
  const Handle head = make_stream(kPersistent), stranger = make_stream(kPersistent);
  ASSERT_TRUE(bind_stream(instance, head, kHeadStream).ok());
  ASSERT_TRUE(bind_stream(other, stranger, kHeadStream).ok());
  EXPECT_EQ(activate_stream(stranger, head).code(), Code::stream_not_of_instance);
  EXPECT_EQ(activate_stream(s_, head).code(), Code::stream_not_of_instance);
  EXPECT_EQ(activate_stream(0, head).code(), Code::invalid_handle);
  EXPECT_EQ(switch_stream({nullptr, nullptr, 6, 0}, head, head).code(), Code::invalid_argument);
  EXPECT_TRUE(is_bound(*stream(head)));
  EXPECT_FALSE(is_bound(*stream(s_)));
}

TEST_F(Built, CleaningDropsTheTasksOfAStream) {
  const Handle instance = *begin_build();
  const Handle head = make_stream(kPersistent);
  ASSERT_TRUE(bind_stream(instance, head, kHeadStream).ok());
  EXPECT_TRUE(leave('a', head).ok());
  EXPECT_EQ(clean_persistent_tasks(s_).code(), Code::invalid_argument);
  EXPECT_TRUE(clean_persistent_tasks(head).ok());
  EXPECT_FALSE((*find_instance(instance))->has_tasks());
}

}  // namespace
}  // namespace anynpu::service
