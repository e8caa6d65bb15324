// SPDX-License-Identifier: Apache-2.0
#include "device/shared_marks.h"

#include <gtest/gtest.h>

namespace anynpu::device {
namespace {

TEST(SharedMarks, AreTheSameForAllWhoOpenThem) {
  const auto made = *SharedMarks::create();
  const auto opened = *SharedMarks::open(made->key());
  EXPECT_EQ(opened->last(), 0u);
  EXPECT_TRUE(opened->passed(0)) << "nothing to wait for";
  EXPECT_EQ(made->add(), 1u);
  EXPECT_EQ(opened->add(), 2u);
  EXPECT_EQ(made->last(), 2u);
  made->pass(2);
  EXPECT_TRUE(opened->passed(2));
  made->pass(1);
  EXPECT_TRUE(opened->passed(2)) << "an older mark changes nothing";
}

TEST(SharedMarks, AKeyThatIsNoneIsRefused) {
  EXPECT_FALSE(SharedMarks::open({}).ok());
  SharedMarks::Key key = (*SharedMarks::create())->key();
  EXPECT_FALSE(SharedMarks::open(key).ok()) << "its creator is gone";
}

}  // namespace
}  // namespace anynpu::device
