// SPDX-License-Identifier: Apache-2.0
#include "device/notify.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>

#include "device/stream.h"

namespace anynpu::device {
namespace {

std::shared_ptr<Stream> plain_stream() {
  return std::make_shared<Stream>(nullptr, std::weak_ptr<Context>(), StreamOptions{});
}

TEST(NotifyFlag, OneRecordReleasesOneWait) {
  auto notify = std::make_shared<Notify>(0);
  auto waits = plain_stream();
  auto records = plain_stream();
  ASSERT_TRUE(notify->wait_and_reset(*waits, 0).ok());
  ASSERT_TRUE(notify->wait_and_reset(*waits, 0).ok());
  EXPECT_EQ(waits->synchronize(Deadline::after_ms(5)).code(), Code::timeout);
  ASSERT_TRUE(notify->record(*records).ok());
  EXPECT_TRUE(waits->wait_for(1, Deadline::never()).ok());
  EXPECT_EQ(waits->synchronize(Deadline::after_ms(5)).code(), Code::timeout);
  ASSERT_TRUE(notify->record(*records).ok());
  EXPECT_TRUE(waits->synchronize().ok());
}

TEST(NotifyFlag, AWaitThatTimesOutFailsItsStream) {
  auto notify = std::make_shared<Notify>(0);
  auto waits = plain_stream();
  ASSERT_TRUE(notify->wait_and_reset(*waits, 3).ok());
  EXPECT_EQ(waits->synchronize().code(), Code::timeout);
}

TEST(NotifyFlag, ResetForgetsARecord) {
  auto notify = std::make_shared<Notify>(0);
  auto stream = plain_stream();
  ASSERT_TRUE(notify->record(*stream).ok());
  ASSERT_TRUE(stream->synchronize().ok());
  notify->reset();
  ASSERT_TRUE(notify->wait_and_reset(*stream, 3).ok());
  EXPECT_EQ(stream->synchronize().code(), Code::timeout);
}

TEST(NotifyFlag, AnAbortedWaitTakesNoRecord) {
  auto notify = std::make_shared<Notify>(0);
  auto aborted = plain_stream();
  ASSERT_TRUE(notify->wait_and_reset(*aborted, 0).ok());
  (void)aborted->synchronize(Deadline::after_ms(5));
  aborted->abort();
  (void)aborted->synchronize();
  auto waits = plain_stream();
  auto records = plain_stream();
  ASSERT_TRUE(notify->wait_and_reset(*waits, 0).ok());
  ASSERT_TRUE(notify->record(*records).ok());
  EXPECT_TRUE(waits->synchronize().ok());
}

TEST(NotifyFlag, AnImportedNotifyIsTheSameFlag) {
  auto notify = std::make_shared<Notify>(0);
  EXPECT_EQ(notify->let_in(std::array<int32_t, 1>{1}).code(), Code::bad_call_order);
  auto here = plain_stream();
  auto there = plain_stream();
  ASSERT_TRUE(notify->wait_and_reset(*here, 0).ok());  // waits already when it is exported
  (void)here->synchronize(Deadline::after_ms(2));
  const std::string key = *notify->export_key(SharedFile::Admit::listed);
  EXPECT_EQ(Notify::import(key, 0).status().code(), Code::permission_denied);
  ASSERT_TRUE(notify->let_in(std::array<int32_t, 1>{getpid()}).ok());
  auto imported = *Notify::import(key, 0);
  ASSERT_TRUE(imported->record(*there).ok());
  EXPECT_TRUE(here->synchronize().ok());
  ASSERT_TRUE(notify->record(*here).ok());
  ASSERT_TRUE(imported->wait_and_reset(*there, 0).ok());
  EXPECT_TRUE(there->synchronize().ok());
  EXPECT_EQ(imported->export_key(SharedFile::Admit::anyone).status().code(),
            Code::invalid_argument);
  EXPECT_EQ(Notify::import("anynpu-memory-1-1-1", 0).status().code(), Code::invalid_argument);
}

}  // namespace
}  // namespace anynpu::device
