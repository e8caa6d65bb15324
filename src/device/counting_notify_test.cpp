// SPDX-License-Identifier: Apache-2.0
#include "device/counting_notify.h"

#include <gtest/gtest.h>

#include "device/stream.h"

namespace anynpu::device {
namespace {

using Change = CountingNotify::Change;
using Until = CountingNotify::Until;

std::shared_ptr<Stream> make_stream() {
  return std::make_shared<Stream>(nullptr, std::weak_ptr<Context>(), StreamOptions{});
}

TEST(CountingNotify, AWaitPassesWhenTheCountIsThere) {
  const auto notify = std::make_shared<CountingNotify>();
  const auto records = make_stream(), waits = make_stream();
  ASSERT_TRUE(notify->wait(*waits, {Until::at_least, 3, 0, true}).ok());
  ASSERT_TRUE(notify->record(*records, Change::add, 2).ok());
  ASSERT_TRUE(records->synchronize().ok());
  EXPECT_EQ(waits->synchronize(Deadline::after_ms(5)).code(), Code::timeout);
  ASSERT_TRUE(notify->record(*records, Change::add, 2).ok());
  EXPECT_TRUE(waits->synchronize().ok());
  ASSERT_TRUE(notify->wait(*waits, {Until::equal, 0, 0, false}).ok());
  EXPECT_TRUE(waits->synchronize().ok()) << "the wait cleared it";
}

TEST(CountingNotify, AWaitOfAnAbortedStreamTakesNothing) {
  const auto notify = std::make_shared<CountingNotify>();
  const auto records = make_stream(), dropped = make_stream(), waits = make_stream();
  ASSERT_TRUE(notify->wait(*dropped, {Until::equal, 1, 0, true}).ok());
  EXPECT_EQ(dropped->synchronize(Deadline::after_ms(5)).code(), Code::timeout);
  dropped->abort();
  EXPECT_EQ(dropped->synchronize().code(), Code::aborted);
  ASSERT_TRUE(notify->record(*records, Change::set, 1).ok());
  ASSERT_TRUE(notify->wait(*waits, {Until::equal, 1, 0, false}).ok());
  EXPECT_TRUE(records->synchronize().ok());
  EXPECT_TRUE(waits->synchronize().ok());
}

}  // namespace
}  // namespace anynpu::device
