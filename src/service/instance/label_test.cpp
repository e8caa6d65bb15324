// SPDX-License-Identifier: Apache-2.0
#include "service/instance/label.h"

#include "service/instance/instance_for_test.h"

namespace anynpu::service {
namespace {

using Labels = InstanceTest;

TEST_F(Labels, AreSetOnceInABoundStream) {
  const Handle label = *create_label();
  EXPECT_EQ(set_label(label, s_).code(), Code::stream_not_of_instance);
  const Handle instance = *begin_build();
  const Handle head = make_stream(4);
  ASSERT_TRUE(bind_stream(instance, head, kHeadStream).ok());
  EXPECT_TRUE(set_label(label, head).ok());
  EXPECT_EQ(set_label(label, head).code(), Code::bad_call_order);
  EXPECT_TRUE(destroy_label(label).ok());
  EXPECT_EQ(destroy_label(label).code(), Code::invalid_handle);
}

TEST_F(Labels, ListsHaveOneAndMore) {
  EXPECT_EQ(create_label_list({}).status().code(), Code::invalid_argument);
  const Handle labels[] = {*create_label(), *create_label()};
  const Handle list = *create_label_list(labels);
  EXPECT_EQ(switch_label(nullptr, 3, list, s_).code(), Code::invalid_argument);
  EXPECT_TRUE(destroy_label_list(list).ok());
  const Handle wrong[] = {labels[0], 0};
  EXPECT_EQ(create_label_list(wrong).status().code(), Code::invalid_handle);
}

TEST_F(Labels, OfAnotherContextAreRefused) {
  const Handle label = *create_label();
  const Handle other = *device::Runtime::instance().create_context(0);
  const Handle instance = *begin_build();
  const Handle head = make_stream(4);
  ASSERT_TRUE(bind_stream(instance, head, kHeadStream).ok());
  EXPECT_EQ(set_label(label, head).code(), Code::label_of_other_context);
  EXPECT_TRUE(Instance::destroy(instance).ok());
  EXPECT_TRUE(device::Runtime::instance().destroy_context(other).ok());
}

}  // namespace
}  // namespace anynpu::service
