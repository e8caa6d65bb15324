// SPDX-License-Identifier: Apache-2.0
#include "base/quiet_write.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>

namespace anynpu {
namespace {

// How a child ends that does `work` with the signals as a program in C has them.
int status_of(const std::function<bool()>& work) {
  const pid_t child = fork();
  if (child == 0) {
    ::signal(SIGXFSZ, SIG_DFL);
    ::signal(SIGPIPE, SIG_DFL);
    const rlimit none{0, 0};
    setrlimit(RLIMIT_CORE, &none);
    _exit(work() ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

bool is_too_large() {
  const rlimit few{100, 100};
  setrlimit(RLIMIT_FSIZE, &few);
  const int file = memfd_create("quiet_write_test", MFD_CLOEXEC);
  return ftruncate(file, 1000) != 0 && errno == EFBIG;
}

bool nobody_reads() {
  int ends[2];
  if (pipe(ends) != 0 || close(ends[0]) != 0) return false;
  return write(ends[1], "x", 1) < 0 && errno == EPIPE;
}

TEST(QuietWrite, ALargeFileAndADeadPipeEndNoProgram) {
  EXPECT_EQ(WTERMSIG(status_of(is_too_large)), SIGXFSZ) << "what the system does";
  EXPECT_EQ(WTERMSIG(status_of(nobody_reads)), SIGPIPE);
  EXPECT_EQ(status_of([] {
              const QuietWrite quiet;
              return is_too_large() && nobody_reads();
            }),
            0);
  EXPECT_EQ(status_of([] {
              {
                const QuietWrite quiet;
                if (!is_too_large() || !nobody_reads()) return false;
              }
              return errno == EPIPE;
            }),
            0)
      << "the signals were taken out, and errno is kept";
}

TEST(QuietWrite, TheSignalsOfTheProgramStayItsOwn) {
  EXPECT_EQ(status_of([] {
              sigset_t pipe_signal, waiting;
              sigemptyset(&pipe_signal);
              sigaddset(&pipe_signal, SIGPIPE);
              sigprocmask(SIG_BLOCK, &pipe_signal, nullptr);  // the program asks for it itself
              {
                const QuietWrite quiet;
                nobody_reads();
              }
              sigpending(&waiting);
              sigprocmask(SIG_SETMASK, nullptr, &pipe_signal);
              return sigismember(&waiting, SIGPIPE) == 1 &&
                     sigismember(&pipe_signal, SIGPIPE) == 1 &&
                     sigismember(&pipe_signal, SIGXFSZ) == 0;
            }),
            0);
}

}  // namespace
}  // namespace anynpu
