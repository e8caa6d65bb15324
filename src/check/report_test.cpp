// SPDX-License-Identifier: Apache-2.0
#include "check/report.h"

#include <gtest/gtest.h>

#include "check/findings_for_test.h"

namespace anynpu::check {
namespace {

Site place(uint64_t line) {
  return std::make_shared<const Stack>(Stack{{"app.py", line, "main", false}});
}

TEST(Report, AFindingFromTheSamePlacesIsWrittenOnceAndCounted) {
  const Findings findings;
  const uint64_t before = reported_by_thread();
  report({"race", "first", {{"queued", place(1)}}});
  report({"race", "again", {{"queued", place(1)}}});
  report({"race", "elsewhere", {{"queued", place(2)}}});
  EXPECT_EQ(findings.kinds(), (Kinds{"race", "race"}));
  EXPECT_EQ(reported_by_thread() - before, 3u);
}

TEST(Report, ANameGetsItsArticle) {
  EXPECT_EQ(with_article("stream"), "a stream");
  EXPECT_EQ(with_article("event"), "an event");
}

TEST(Report, ACallThatReportedSomethingKnowsIt) {
  Function function = made_up("aclrtMemcpy");
  Call one(function, {});
  EXPECT_FALSE(one.told());
  report({"copy-kind", "the kind does not fit", {{"called", place(3)}}});
  EXPECT_TRUE(one.told());
}

TEST(Report, AFailedCallOfNativeCodeIsNotedForTheCommandToDecide) {
  const Findings findings;
  call("aclSomething", {}, 0);
  EXPECT_EQ(findings.all_kinds(), Kinds{});
  call("aclSomething", {}, 107000);
  EXPECT_EQ(findings.all_kinds(), Kinds{"ignored-error-in-native-code"});
  EXPECT_EQ(findings.kinds(), Kinds{});
}

TEST(Hooks, OfAFunctionAreFoundByItsName) {
  EXPECT_NE(hooks_of("aclrtMemcpy").before, nullptr);
  EXPECT_NE(hooks_of("aclrtSynchronizeStream").after, nullptr);
  EXPECT_EQ(hooks_of("aclrtGetVersion").before, nullptr);
  EXPECT_EQ(hooks_of("aclrtGetVersion").after, nullptr);
}

}  // namespace
}  // namespace anynpu::check
