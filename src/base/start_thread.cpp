// SPDX-License-Identifier: Apache-2.0
#include "base/start_thread.h"

#include <pthread.h>
#include <signal.h>

#include <system_error>

namespace anynpu {

namespace {

// All signals blocked for as long as it lives.
class NoSignals {
 public:
  NoSignals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~NoSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  NoSignals(const NoSignals&) = delete;
  NoSignals& operator=(const NoSignals&) = delete;

 private:
  sigset_t before_;
};

Result<std::thread> start(const char* name, std::function<void()> body) {
  try {
    std::thread thread(std::move(body));
    pthread_setname_np(thread.native_handle(), name);
    return thread;
  } catch (const std::system_error& error) {
    return fail(Code::host_out_of_memory,
                "the system gives no thread '{}': {}; raise the limit of processes (ulimit -u, "
                "pids.max of the container) or end other threads",
                name, error.code().message());
  }
}

}  // namespace

Result<std::thread> start_joined_thread(const char* name, Signals signals,
                                        std::function<void()> body) {
  if (signals == Signals::as_caller) return start(name, std::move(body));
  const NoSignals blocked;
  return start(name, std::move(body));
}

Status start_thread(const char* name, Signals signals, std::function<void()> body) {
  ANYNPU_ASSIGN(std::thread thread, start_joined_thread(name, signals, std::move(body)));
  thread.detach();
  return {};
}

}  // namespace anynpu
