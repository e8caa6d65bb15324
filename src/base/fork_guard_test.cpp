// SPDX-License-Identifier: Apache-2.0
#include "base/fork_guard.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace anynpu {
namespace {

// What `ask` returns in a forked child.
bool in_child(bool (*ask)()) {
  const pid_t child = fork();
  if (child == 0) _exit(ask() ? 1 : 0);
  int state = 0;
  EXPECT_EQ(waitpid(child, &state, 0), child);
  EXPECT_TRUE(WIFEXITED(state));
  return WEXITSTATUS(state) == 1;
}

TEST(ForkGuard, AChildOfAProcessThatUsedTheRuntimeIsKnown) {
  mark_runtime_used();
  mark_runtime_used();  // once is enough
  EXPECT_FALSE(in_forked_child());
  EXPECT_TRUE(in_child([] { return in_forked_child() && calls_are_gated(); }));
  EXPECT_FALSE(in_forked_child()) << "the parent goes on";
}

TEST(ForkGuard, TheMessageSaysWhatToDo) {
  const Status status = explain_fork();
  EXPECT_EQ(status.code(), Code::forked_process);
  EXPECT_NE(status.message().find("a fork before the first call"), std::string::npos);
}

TEST(ForkGuard, InjectedFaultsGateCallsInThisProcessToo) {
  EXPECT_TRUE(in_child([] {
    detail::calls_gated = false;
    gate_calls_for_faults();
    return calls_are_gated();
  }));
}

}  // namespace
}  // namespace anynpu
