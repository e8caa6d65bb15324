// SPDX-License-Identifier: Apache-2.0
#include "base/interrupt.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>

namespace anynpu {

namespace {

constexpr uint64_t kCheckEveryNs = 50'000'000;
constexpr uint64_t kLongWaitNs = 3'600'000'000'000;

std::atomic<bool (*)()> interrupt_check{nullptr};

bool is_main_thread() {
  thread_local const bool main = syscall(SYS_gettid) == getpid();
  return main;
}

}  // namespace

void set_interrupt_check(bool (*check)()) {
  interrupt_check.store(check, std::memory_order_release);
}

bool interrupted() {
  auto* check = interrupt_check.load(std::memory_order_acquire);
  return check && is_main_thread() && check();
}

WaitEnd wait_turn(std::condition_variable& wake, std::unique_lock<std::mutex>& lock,
                  const Deadline& deadline) {
  if (deadline.passed()) return WaitEnd::timed_out;
  const bool checks = interrupt_check.load(std::memory_order_acquire) && is_main_thread();
  if (!checks && deadline.is_never()) {
    wake.wait(lock);
    return WaitEnd::woken;
  }
  const uint64_t slice = deadline.left_ns(checks ? kCheckEveryNs : kLongWaitNs);
  const auto end = wake.wait_for(lock, std::chrono::nanoseconds(slice));
  if (end == std::cv_status::no_timeout) return WaitEnd::woken;
  if (checks) {
    lock.unlock();
    const bool stop = interrupted();
    lock.lock();
    if (stop) return WaitEnd::interrupted;
  }
  return deadline.passed() ? WaitEnd::timed_out : WaitEnd::woken;
}

}  // namespace anynpu

extern "C" __attribute__((visibility("default"))) void anynpu_set_interrupt_check(
    int (*check)(void)) {
  static std::atomic<int (*)(void)> c_check{nullptr};
  c_check.store(check);
  anynpu::set_interrupt_check(check ? [] { return c_check.load()() != 0; }
                                    : static_cast<bool (*)()>(nullptr));
}
