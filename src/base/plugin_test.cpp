// SPDX-License-Identifier: Apache-2.0
#include "base/plugin.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace anynpu {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST(Plugin, OneThatIsNotThereSaysSoEachTime) {
  for (int i = 0; i < 2; ++i) {
    const auto symbol = plugin_symbol("no_such_part", "anynpu_no_such_part");
    ASSERT_FALSE(symbol.ok());
    EXPECT_EQ(symbol.status().code(), Code::unsupported_feature);
    EXPECT_THAT(symbol.status().message(),
                AllOf(HasSubstr("'no_such_part'"), HasSubstr("libanynpu_no_such_part.so"),
                      HasSubstr("docs/dependencies.md")));
  }
}

}  // namespace
}  // namespace anynpu
