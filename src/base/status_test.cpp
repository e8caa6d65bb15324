// SPDX-License-Identifier: Apache-2.0
#include "base/status.h"

#include <gtest/gtest.h>

#include "base/result.h"

namespace anynpu {
namespace {

Result<int> half(int value) {
  if (value % 2) return fail(Code::invalid_argument, "half: {} is odd; pass an even number", value);
  return value / 2;
}

Result<int> quarter(int value) {
  ANYNPU_ASSIGN(int h, half(value), "while halving {}", value);
  ANYNPU_ASSIGN(int q, half(h), "while halving {} again", h);
  return q;
}

TEST(Status, OkIsEmptyAndPrintsOk) {
  EXPECT_TRUE(Status().ok());
  EXPECT_EQ(Status().to_string(), "ok");
  EXPECT_EQ(Status().code(), Code::ok);
}

TEST(Status, FailureKeepsMessageAndNotes) {
  auto result = quarter(6);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.status().code(), Code::invalid_argument);
  EXPECT_EQ(result.status().message(), "half: 3 is odd; pass an even number");
  EXPECT_EQ(result.status().to_string(),
            "half: 3 is odd; pass an even number\n  while halving 3 again");
}

TEST(Status, AnotherCodeKeepsMessageAndNotes) {
  const Status status = quarter(6).status().with_code(Code::not_found);
  EXPECT_EQ(status.code(), Code::not_found);
  EXPECT_EQ(status.to_string(), quarter(6).status().to_string());
  EXPECT_TRUE(Status().with_code(Code::not_found).ok());
}

TEST(Status, BytesThatCutAMessageOrSteerATerminalAreWrittenOut) {
  const std::string name("a\0b\x1b[2J\x7f", 8);
  const Status status = fail(Code::not_found, "no '{}';\n\tuse another", name).with_note(name);
  EXPECT_EQ(status.to_string(),
            "no 'a\\x00b\\x1b[2J\\x7f';\n\tuse another\n  a\\x00b\\x1b[2J\\x7f");
}

TEST(Status, ResultCarriesTheValue) { EXPECT_EQ(quarter(8).value(), 2); }

TEST(Status, EveryCodeHasANameAndAMeaning) {
  for (int i = 0; i <= static_cast<int>(Code::kernel_timeout); ++i) {
    EXPECT_FALSE(code_name(static_cast<Code>(i)).empty());
    EXPECT_FALSE(code_meaning(static_cast<Code>(i)).empty());
  }
}

}  // namespace
}  // namespace anynpu
