// SPDX-License-Identifier: Apache-2.0
#include "base/handle_table.h"

#include <gtest/gtest.h>

#include <thread>

namespace anynpu {

struct FakeStream {
  int value = 0;
};
struct FakeEvent {
  std::atomic<int>* destroyed = nullptr;
  ~FakeEvent() {
    if (destroyed) ++*destroyed;
  }
};
ANYNPU_HANDLE_TYPE(FakeStream, stream);
ANYNPU_HANDLE_TYPE(FakeEvent, event);

namespace {

HandleTable& table() { return HandleTable::instance(); }

TEST(HandleTable, AHandleFindsItsObjectUntilItIsRemoved) {
  const Handle handle = table().insert(std::make_shared<FakeStream>(FakeStream{7}));
  EXPECT_GT(static_cast<int64_t>(handle), 0);
  EXPECT_EQ(table().find<FakeStream>(handle)->value, 7);
  EXPECT_NE(table().remove<FakeStream>(handle), nullptr);
  EXPECT_FALSE(table().find<FakeStream>(handle));
  EXPECT_EQ(table().remove<FakeStream>(handle), nullptr);
}

TEST(HandleTable, NullStaleWrongTypeAndGarbageGiveDifferentMessages) {
  const Handle stream = table().insert(std::make_shared<FakeStream>());
  EXPECT_NE(resolve<FakeStream>(0).status().message().find("null"), std::string::npos);
  EXPECT_NE(resolve<FakeEvent>(stream).status().message().find("is a stream handle"),
            std::string::npos);
  EXPECT_NE(resolve<FakeStream>(0x7f0012345678).status().message().find("not a handle"),
            std::string::npos);
  table().remove<FakeStream>(stream);
  EXPECT_NE(resolve<FakeStream>(stream).status().message().find("destroyed already"),
            std::string::npos);
  EXPECT_EQ(resolve<FakeStream>(stream).status().code(), Code::invalid_handle);
}

TEST(HandleTable, AReusedSlotDoesNotReviveAnOldHandle) {
  const Handle old = table().insert(std::make_shared<FakeStream>());
  table().remove<FakeStream>(old);
  const Handle young = table().insert(std::make_shared<FakeStream>());
  EXPECT_NE(old, young);
  EXPECT_FALSE(table().find<FakeStream>(old));
  table().remove<FakeStream>(young);
}

TEST(HandleTable, APinKeepsTheObjectAliveAfterRemoval) {
  std::atomic<int> destroyed{0};
  const Handle handle = table().insert(std::make_shared<FakeEvent>(FakeEvent{nullptr}));
  {
    auto pin = table().find<FakeEvent>(handle);
    pin->destroyed = &destroyed;
    table().remove<FakeEvent>(handle);
    EXPECT_EQ(destroyed, 0);
  }
  EXPECT_EQ(destroyed, 1);
}

TEST(HandleTable, MorePinsThanAThreadHasCellsKeepTheirObjectsToo) {
  std::atomic<int> destroyed{0};
  auto event = std::make_shared<FakeEvent>();
  event->destroyed = &destroyed;
  const Handle handle = table().insert(std::move(event));
  {
    std::vector<HandleTable::Pin<FakeEvent>> pins;
    for (size_t i = 0; i < PinRow::kCells + 3; ++i) pins.push_back(table().find<FakeEvent>(handle));
    for (const auto& pin : pins) ASSERT_TRUE(pin);
    table().remove<FakeEvent>(handle);
    EXPECT_FALSE(table().find<FakeEvent>(handle));
    while (pins.size() > 1) {
      pins.erase(pins.begin());
      EXPECT_EQ(destroyed, 0);
    }
  }
  EXPECT_EQ(destroyed, 1);
}

TEST(HandleTable, APinMayEndInAnotherThreadThanItBegan) {
  std::atomic<int> destroyed{0};
  auto event = std::make_shared<FakeEvent>();
  event->destroyed = &destroyed;
  const Handle handle = table().insert(std::move(event));
  HandleTable::Pin<FakeEvent> pin;
  std::thread([&] { pin = table().find<FakeEvent>(handle); }).join();  // its thread is gone
  ASSERT_TRUE(pin);
  table().remove<FakeEvent>(handle);
  EXPECT_EQ(destroyed, 0);
  std::thread([&] { pin = HandleTable::Pin<FakeEvent>(); }).join();
  EXPECT_EQ(destroyed, 1);
}

TEST(HandleTable, WhoeverLetsGoLastFreesTheObject) {
  std::atomic<int> destroyed{0};
  constexpr int kRounds = 300;
  for (int round = 0; round < kRounds; ++round) {
    auto event = std::make_shared<FakeEvent>();
    event->destroyed = &destroyed;
    const Handle handle = table().insert(std::move(event));
    std::atomic<int> holding{0};
    std::thread user([&] {
      auto pin = table().find<FakeEvent>(handle);
      ++holding;
      while (holding == 1) std::this_thread::yield();
    });
    while (holding == 0) std::this_thread::yield();
    ++holding;  // both let go at about the same time
    table().remove<FakeEvent>(handle);
    user.join();
    ASSERT_EQ(destroyed, round + 1);
  }
}

TEST(HandleTable, AllGenerationsOfASlotAreUsedAndThenItRetires) {
  const Handle first = table().insert(std::make_shared<FakeStream>());
  const uint64_t index = first & 0x7fff'ffff;
  table().remove<FakeStream>(first);
  auto object = std::make_shared<FakeStream>();
  bool retired = false;
  for (int i = 0; i <= 1 << 24 && !retired; ++i) {
    const Handle handle = table().insert(object);
    retired = (handle & 0x7fff'ffff) != index;
    table().remove<FakeStream>(handle);
  }
  EXPECT_TRUE(retired);
}

TEST(HandleTable, ThreadsThatLookUpWhileOthersRemoveSeeAnObjectOrNothing) {
  std::atomic<bool> stop{false};
  std::atomic<Handle> shared{0};
  std::atomic<int> destroyed{0};
  int created = 0;
  std::vector<std::thread> readers;
  for (int i = 0; i < 3; ++i) {
    readers.emplace_back([&] {
      while (!stop) {
        if (auto pin = table().find<FakeEvent>(shared.load())) {
          EXPECT_EQ(pin->destroyed, &destroyed);
        }
      }
    });
  }
  for (; created < 20000; ++created) {
    auto event = std::make_shared<FakeEvent>();
    event->destroyed = &destroyed;
    shared = table().insert(std::move(event));
    table().remove<FakeEvent>(shared);
  }
  stop = true;
  for (auto& reader : readers) reader.join();
  EXPECT_EQ(destroyed, created);
}

}  // namespace
}  // namespace anynpu
