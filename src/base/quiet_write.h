// SPDX-License-Identifier: Apache-2.0
// Writes that end no program. A write beyond RLIMIT_FSIZE raises SIGXFSZ and one into a pipe that
// nobody reads SIGPIPE, in the thread that writes, and both end a program that did not expect them.
// While an object lives the two are held back in this thread; at its end those that came are taken
// out. The call itself fails with EFBIG or EPIPE; errno is kept.
#pragma once

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>
#include <string_view>

namespace anynpu {

class QuietWrite {
 public:
  QuietWrite() {
    sigset_t both;
    sigemptyset(&both);
    sigaddset(&both, SIGXFSZ);
    sigaddset(&both, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &both, &before_);
  }
  ~QuietWrite() {
    const int error = errno;
    sigset_t came, taken;
    sigpending(&came);
    sigemptyset(&taken);
    bool any = false;
    for (const int signal : {SIGXFSZ, SIGPIPE}) {
      if (!sigismember(&came, signal) || sigismember(&before_, signal)) continue;
      sigaddset(&taken, signal);
      any = true;
    }
    const timespec now{};
    while (any && sigtimedwait(&taken, nullptr, &now) > 0) {
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    errno = error;
  }
  QuietWrite(const QuietWrite&) = delete;
  QuietWrite& operator=(const QuietWrite&) = delete;

 private:
  sigset_t before_;
};

// To standard error, as much of it as can be written.
inline void write_error_text(std::string_view text) {
  const QuietWrite quiet;
  while (!text.empty()) {
    const ssize_t done = ::write(STDERR_FILENO, text.data(), text.size());
    if (done <= 0) return;
    text.remove_prefix(static_cast<size_t>(done));
  }
}

}  // namespace anynpu
