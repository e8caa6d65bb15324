// SPDX-License-Identifier: Apache-2.0
#include "base/recent_failure.h"

#include <gtest/gtest.h>

#include <thread>

namespace anynpu {
namespace {

TEST(RecentFailure, InterfacesHaveTheirOwnNumbersAndMessages) {
  keep_last_number(Interface::acl, 7);
  keep_message(Interface::hpe, "of hpe");
  EXPECT_EQ(last_number(Interface::hpe), 0);
  EXPECT_EQ(take_last_number(Interface::acl), 7);
  EXPECT_EQ(take_last_number(Interface::acl), 0);
  EXPECT_STREQ(take_message(Interface::acl), "");
  EXPECT_STREQ(last_message(Interface::hpe), "of hpe");
  EXPECT_STREQ(take_message(Interface::hpe), "of hpe");
  EXPECT_STREQ(take_message(Interface::hpe), "");
}

TEST(RecentFailure, AMessageIsTheThreadsUnlessTheScopeIsTheProcess) {
  std::thread([] { keep_message(Interface::acl, "alone"); }).join();
  EXPECT_STREQ(take_message(Interface::acl), "");
  set_message_scope(MessageScope::process);
  std::thread([] { keep_message(Interface::acl, "shared"); }).join();
  EXPECT_STREQ(take_message(Interface::acl), "shared");
  std::thread([] { keep_message(Interface::hpe, "alone"); }).join();
  EXPECT_STREQ(take_message(Interface::hpe), "");
  set_message_scope(MessageScope::thread);
}

}  // namespace
}  // namespace anynpu
