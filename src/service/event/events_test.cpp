// SPDX-License-Identifier: Apache-2.0
#include "service/event/events.h"

#include <gtest/gtest.h>

#include "device/runtime.h"

namespace anynpu::service {
namespace {

using device::Event;
using device::EventUse;
using device::Runtime;

class EventService : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(Runtime::instance().set_device(0).ok()); }
  void TearDown() override { Runtime::instance().reset_all(); }
};

TEST_F(EventService, WhatAnEventMayBeUsedForDependsOnHowItWasMade) {
  const Handle plain = *create_event(kPlainEvent, Event::Maker::plain);
  const Handle flagged = *create_event(kEventSync, Event::Maker::flagged);
  const Handle extended = *create_event(kEventSync, Event::Maker::extended);
  EXPECT_EQ(reset_event(plain, 0).code(), Code::invalid_argument);
  EXPECT_TRUE(reset_event(flagged, 0).ok());
  EXPECT_EQ(reset_event(extended, 0).code(), Code::invalid_argument);
  EXPECT_TRUE(event_to_ask(plain, EventQuestion::completed).ok());
  EXPECT_FALSE(event_to_ask(extended, EventQuestion::completed).ok());
  EXPECT_TRUE(event_to_ask(extended, EventQuestion::recorded).ok());
  EXPECT_EQ(event_to_ask(flagged, EventQuestion::time).status().code(), Code::event_not_recorded);
  EXPECT_EQ(wait_event(0, flagged).code(), Code::event_not_recorded);
  EXPECT_TRUE(wait_event(0, extended).ok()) << "never recorded is complete";
  EXPECT_EQ(wait_event_for(0, extended, -1, EventUse::inside).code(), Code::invalid_argument);
  for (const Handle each : {plain, flagged, extended}) HandleTable::instance().remove<Event>(each);
}

// Copies between devices are ordered this way.
TEST_F(EventService, AStreamOfAnotherDeviceWaitsForAnExtendedEvent) {
  const Handle extended = *create_event(kEventSync, Event::Maker::extended);
  const Handle flagged = *create_event(kEventSync, Event::Maker::flagged);
  EXPECT_TRUE(record_event(extended, 0, EventUse::inside).ok());
  EXPECT_TRUE(record_event(flagged, 0, EventUse::inside).ok());
  ASSERT_TRUE(Runtime::instance().set_device(1).ok());
  EXPECT_TRUE(wait_event(0, extended).ok());
  EXPECT_EQ(wait_event(0, flagged).code(), Code::wrong_context);
  EXPECT_EQ(record_event(extended, 0, EventUse::inside).code(), Code::wrong_context);
  EXPECT_TRUE((*Runtime::instance().stream(0))->synchronize().ok());
  for (const Handle each : {flagged, extended}) HandleTable::instance().remove<Event>(each);
}

TEST_F(EventService, FlagsAreChecked) {
  const size_t before = free_events();
  EXPECT_FALSE(create_event(0, Event::Maker::flagged).ok());
  EXPECT_FALSE(create_event(4, Event::Maker::flagged).ok());
  EXPECT_FALSE(create_event(kEventShared | kEventSync, Event::Maker::extended).ok());
  EXPECT_FALSE(create_event(kEventExternal | kEventSync, Event::Maker::flagged).ok());
  EXPECT_EQ(free_events(), before);
}

TEST_F(EventService, ASharedEventIsOpenedByItsKey) {
  const Handle made = *create_event(kEventShared, Event::Maker::extended);
  const Handle opened = *open_shared_event(*share_event(made));
  ASSERT_TRUE(record_event(made, 0, EventUse::inside).ok());
  EXPECT_TRUE(wait_event(0, opened).ok());
  EXPECT_TRUE((*Runtime::instance().stream(0))->synchronize().ok());
  EXPECT_EQ((*event_to_ask(opened, EventQuestion::recorded))->state(),
            device::EventState::complete);
  EXPECT_FALSE(open_shared_event({}).ok());
  HandleTable::instance().remove<Event>(made);
  HandleTable::instance().remove<Event>(opened);
}

}  // namespace
}  // namespace anynpu::service
