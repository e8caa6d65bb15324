// SPDX-License-Identifier: Apache-2.0
#include "check/call.h"

#include <gtest/gtest.h>

#include "check/findings_for_test.h"
#include "check/report.h"

namespace anynpu::check {
namespace {

int befores = 0, afters = 0;
uint64_t seen_result = 0;

// A function whose hooks count.
Function counting(const char* name = "aclSomething") {
  Function function = made_up(name);
  function.before = [](Call&) { ++befores; };
  function.after = [](Call& call) {
    ++afters;
    seen_result = call.result();
  };
  befores = afters = 0;
  return function;
}

TEST(CheckCall, HooksRunBeforeAndAfterTheRealFunction) {
  Function function = counting();
  const uint64_t arguments[] = {0x10, 2, 3};
  Call one(function, arguments);
  EXPECT_EQ(befores, 1);
  EXPECT_EQ(afters, 0);
  EXPECT_EQ(one.finish(7), 7);
  EXPECT_EQ(afters, 1);
  EXPECT_EQ(seen_result, 7u);
  EXPECT_EQ(one.argument(1), 2u);
  EXPECT_EQ(one.pointer<char>(0), reinterpret_cast<char*>(0x10));
  EXPECT_TRUE(one.counts());
}

TEST(CheckCall, ACallInsideAnotherPassesThrough) {
  Function function = counting();
  Function outer_function = made_up("aclOuter");
  {
    Call outer(outer_function, {});
    Call inner(function, {});
    EXPECT_FALSE(inner.counts());
    inner.finish(0);
    outer.finish(0);
  }
  EXPECT_EQ(befores + afters, 0);
  Call later(function, {});
  EXPECT_TRUE(later.counts());
}

TEST(CheckCall, CallsInsideCallbacksAreTheProgramsOwn) {
  Function function = counting();
  Function runner = made_up("aclrtProcessReport");
  runner.runs_callbacks = true;
  Call outer(runner, {});
  Call inner(function, {});
  EXPECT_TRUE(inner.counts());
  EXPECT_EQ(befores, 1);
}

TEST(CheckCall, QuestionsOfTheCheckerAreUnseen) {
  Function function = counting();
  {
    const Unseen unseen;
    Call one(function, {});
    one.finish(0);
  }
  EXPECT_EQ(befores + afters, 0);
}

TEST(CheckCall, ACodeOtherThanZeroIsAFailureAndAnObjectIsNone) {
  Function code = made_up("aclSomething"), object = made_up("aclCreateSomething", false);
  Call failed(code, {}), made(object, {});
  failed.finish(100000);
  made.finish(nullptr);
  EXPECT_FALSE(failed.worked());
  EXPECT_TRUE(made.worked());
}

TEST(CheckCall, KnowsWhetherSomethingAboutItWasReported) {
  Function function = made_up("aclSomething");
  Call one(function, {});
  EXPECT_FALSE(one.told());
  report({"test-finding", "of call_test", {{"called", one.site()}}});
  EXPECT_TRUE(one.told());
}

TEST(CheckCall, TheRealFunctionComesWithItsHooks) {
  Function function = made_up("aclrtMemcpy");
  EXPECT_EQ(function.resolve(), find_real("aclrtMemcpy"));
  EXPECT_NE(function.before, nullptr);
  EXPECT_FALSE(function.runs_callbacks);
  Function report = made_up("aclrtProcessReport");
  EXPECT_NE(report.resolve(), nullptr);
  EXPECT_TRUE(report.runs_callbacks);
}

}  // namespace
}  // namespace anynpu::check
