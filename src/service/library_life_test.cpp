// SPDX-License-Identifier: Apache-2.0
#include "service/library_life.h"

#include <gtest/gtest.h>

#include "service/finalize.h"
#include "service/lifecycle.h"

namespace anynpu::service {
namespace {

class LibraryLife : public testing::Test {
 protected:
  void TearDown() override { LifeChange().to(Life::fresh); }
};

int released = 0;

TEST_F(LibraryLife, EndingReleasesWhatServicesRegistered) {
  released = 0;
  on_finalize([] { ++released; });
  ASSERT_TRUE(start_library(nullptr).ok());
  EXPECT_TRUE(initialised());
  EXPECT_EQ(released, 0);
  EXPECT_TRUE(end_library().ok());
  EXPECT_FALSE(initialised());
  EXPECT_EQ(released, 1);
}

TEST_F(LibraryLife, ASecondStartIsRefusedAndASecondEndToo) {
  ASSERT_TRUE(start_library(nullptr).ok());
  EXPECT_EQ(start_library(nullptr).code(), Code::already_initialized);
  EXPECT_TRUE(end_library().ok());
  EXPECT_EQ(end_library().code(), Code::already_finalized);
}

TEST_F(LibraryLife, TheLastStartThatIsDroppedEndsIt) {
  ASSERT_TRUE(start_library(nullptr).ok());
  EXPECT_EQ(start_library(nullptr).code(), Code::already_initialized);  // counts
  uint64_t left = 0;
  EXPECT_TRUE(drop_library_start(&left).ok());
  EXPECT_EQ(left, 1u);
  EXPECT_TRUE(initialised());
  EXPECT_TRUE(drop_library_start(&left).ok());
  EXPECT_EQ(left, 0u);
  EXPECT_FALSE(initialised());
}

TEST_F(LibraryLife, AConfigurationThatCannotBeReadStartsNothing) {
  EXPECT_FALSE(start_library("/nowhere/acl.json").ok());
  EXPECT_FALSE(initialised());
}

}  // namespace
}  // namespace anynpu::service
