// SPDX-License-Identifier: Apache-2.0
#include "service/lifecycle.h"

#include <gtest/gtest.h>

namespace anynpu::service {
namespace {

TEST(Lifecycle, TheReasonSaysWhichSideOfItsLifeTheLibraryIsOn) {
  EXPECT_FALSE(initialised());
  EXPECT_NE(explain_uninitialised().message().find("before aclInit"), std::string::npos);
  {
    LifeChange change;
    change.to(Life::initialised);
    EXPECT_TRUE(initialised());
    change.to(Life::finalised);
  }
  EXPECT_NE(explain_uninitialised().message().find("after aclFinalize"), std::string::npos);
  LifeChange().to(Life::fresh);
}

TEST(Lifecycle, InitialisationsAreCounted) {
  forget_initialisations();
  EXPECT_EQ(count_initialisation(), 1u);
  EXPECT_EQ(count_initialisation(), 2u);
  EXPECT_EQ(drop_initialisation(), 1u);
  EXPECT_EQ(drop_initialisation(), 0u);
  EXPECT_EQ(drop_initialisation(), 0u);
}

}  // namespace
}  // namespace anynpu::service
