// SPDX-License-Identifier: Apache-2.0
#include "exec/fault_observer.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <string>

namespace anynpu::exec {
namespace {

StepView step_of(const std::string& op, const std::string& name) { return {0, op, name, {}, {}}; }

// The variable is read once, so each case runs in a child process.
template <typename Case>
void with_faults(const char* faults, Case&& run) {
  const auto in_child = [&] {
    setenv("ANYNPU_FAULT", faults, 1);
    run();
    _exit(testing::Test::HasFailure() ? 1 : 0);
  };
  EXPECT_EXIT(in_child(), testing::ExitedWithCode(0), "");
}

TEST(FaultObserver, WithoutOperatorsThereIsNone) {
  with_faults("aclrtMalloc=100@1", [] { EXPECT_EQ(make_fault_observer(), nullptr); });
}

TEST(FaultObserver, OperatorsFailByTypeAndByName) {
  with_faults("op:Conv,op:last", [] {
    const auto observer = make_fault_observer();
    ASSERT_NE(observer, nullptr);
    EXPECT_TRUE(observer->wants("Conv", "a"));
    EXPECT_TRUE(observer->wants("Relu", "last"));
    EXPECT_FALSE(observer->wants("Relu", "a"));
    observer->begin();
    const std::string conv = "Conv", relu = "Relu", name = "last", other = "a";
    const Status failed = observer->before(step_of(conv, other));
    EXPECT_EQ(failed.code(), Code::task_failed);
    EXPECT_NE(failed.message().find("Conv 'a' fails in run 0"), std::string::npos)
        << failed.message();
    EXPECT_FALSE(observer->before(step_of(relu, name)).ok());
    EXPECT_TRUE(observer->before(step_of(relu, other)).ok());
  });
}

TEST(FaultObserver, AFaultOfOneRunLeavesTheOthersAlone) {
  with_faults("op:Conv@1", [] {
    const auto observer = make_fault_observer();
    const std::string conv = "Conv", name = "a";
    for (int run = 0; run < 3; ++run) {
      observer->begin();
      EXPECT_EQ(observer->before(step_of(conv, name)).ok(), run != 1) << run;
    }
  });
}

}  // namespace
}  // namespace anynpu::exec
