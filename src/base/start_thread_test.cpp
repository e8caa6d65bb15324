// SPDX-License-Identifier: Apache-2.0
#include "base/start_thread.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/thread_pool.h"

namespace anynpu {
namespace {

// What `body` returns in a child that gets no thread: its address space has no room for a stack.
int in_child_without_threads(int (*body)()) {
  const pid_t child = fork();
  if (child == 0) {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    // Threads get a stack that no address space holds.
    if (pthread_attr_setstacksize(&attributes, size_t{1} << 47) != 0) _exit(99);
    if (pthread_setattr_default_np(&attributes) != 0) _exit(98);
    _exit(body());
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

TEST(StartThread, SaysWhyThereIsNoneAndLeavesTheSignals) {
  EXPECT_EQ(in_child_without_threads([] {
              sigset_t before, after;
              pthread_sigmask(SIG_SETMASK, nullptr, &before);
              const Status status = start_thread("t", Signals::none, [] {});
              pthread_sigmask(SIG_SETMASK, nullptr, &after);
              if (status.ok()) return 1;
              if (status.to_string().find("ulimit -u") == std::string::npos) return 2;
              for (int signal = 1; signal < 32; ++signal) {
                if (sigismember(&before, signal) != sigismember(&after, signal)) return 3;
              }
              return 0;
            }),
            0);
}

// GoogleTest runs suites of this name first: there must be no pool yet when it forks.
TEST(StartThreadDeathTest, APoolWithoutThreadsIsNotReadyAndLoopsRunInTheCaller) {
  EXPECT_EQ(in_child_without_threads([] {
              ThreadPool& pool = ThreadPool::instance();
              if (helpers_ready().ok()) return 1;
              std::atomic<size_t> counted{0};
              pool.parallel_for(1000, 1, [&](size_t begin, size_t end) { counted += end - begin; });
              return counted.load() == 1000 ? 0 : 2;
            }),
            0);
}

TEST(StartThread, AThreadTakesNoSignals) {
  int blocked = 0;
  auto thread = start_joined_thread("t", Signals::none, [&] {
    sigset_t mask;
    pthread_sigmask(SIG_SETMASK, nullptr, &mask);
    blocked = sigismember(&mask, SIGTERM);
  });
  ASSERT_TRUE(thread.ok()) << thread.status().to_string();
  thread->join();
  EXPECT_EQ(blocked, 1);
}

}  // namespace
}  // namespace anynpu
