// SPDX-License-Identifier: Apache-2.0
#include "compile/c_entry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

namespace anynpu::compile {
namespace {

using testing::HasSubstr;

TEST(CEntry, AFailureIsAMessageThatIsCutToItsRoom) {
  const char* const models[] = {"/nowhere/a.om"};
  char few[8];
  std::memset(few, 'x', sizeof few);
  EXPECT_EQ(anynpu_bundle(models, 1, "/tmp/bundle.om", few, sizeof few), 1);
  EXPECT_LT(std::strlen(few), sizeof few);
}

TEST(CEntry, ABundleOfFilesThatAreNotThereFails) {
  char message[256];
  const char* const models[] = {"/nowhere/a.om"};
  EXPECT_EQ(anynpu_bundle(models, 1, "/tmp/bundle.om", message, sizeof message), 1);
  EXPECT_THAT(message, HasSubstr("/nowhere/a.om"));
  EXPECT_EQ(anynpu_bundle_list("/nowhere/bundle.om", nullptr, message, sizeof message), 1);
}

}  // namespace
}  // namespace anynpu::compile
