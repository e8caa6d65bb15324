// SPDX-License-Identifier: Apache-2.0
#include "prof/collector.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>

#include "base/start_thread.h"
#include "prof/os_calls.h"
#include "prof/stamps.h"

namespace anynpu::prof {

namespace {

constinit std::atomic<uint32_t> g_wake{0};

// Runs in the recording thread: a system call now and then.
void wake() {
  if (g_wake.exchange(1, std::memory_order_release) == 0) {
    syscall(SYS_futex, &g_wake, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
  }
}

void pause_until_woken(uint64_t ns) {
  const timespec pause{static_cast<time_t>(ns / 1'000'000'000u),
                       static_cast<long>(ns % 1'000'000'000u)};
  if (g_wake.load(std::memory_order_acquire) == 0) {
    syscall(SYS_futex, &g_wake, FUTEX_WAIT_PRIVATE, 0, &pause, nullptr, 0);
  }
  g_wake.store(0, std::memory_order_release);
}

class ToSinks : public trace::DrainVisitor {
 public:
  ToSinks(const std::vector<std::shared_ptr<Sink>>& sinks, const ClockLine& clock)
      : sinks_(sinks), clock_(clock) {}
  void on_events(const trace::ThreadInfo& thread, std::span<const trace::Event> events) override {
    for (const auto& sink : sinks_) sink->take(thread, events, clock_);
  }
  void on_lost(const trace::ThreadInfo& thread, uint64_t count) override {
    for (const auto& sink : sinks_) sink->take_lost(thread, count);
  }

 private:
  const std::vector<std::shared_ptr<Sink>>& sinks_;
  const ClockLine& clock_;
};

}  // namespace

Collector& Collector::instance() {
  static auto* one = new Collector;  // never destroyed: its thread may outlive main
  return *one;
}

Status Collector::add(std::shared_ptr<Sink> sink) {
  const std::lock_guard lock(mutex_);
  if (!thread_runs_) ANYNPU_TRY(start(), "the profiler cannot start");
  if (sinks_.empty()) {
    trace::discard();
    forget_open_stamps();
    clock_.restart();
    trace::set_fill_hook(wake);
  }
  sinks_.push_back(std::move(sink));
  set_mask_locked();
  return {};
}

void Collector::remove(const std::shared_ptr<Sink>& sink) {
  std::unique_lock lock(mutex_);
  const auto found = std::find(sinks_.begin(), sinks_.end(), sink);
  if (found == sinks_.end()) return;
  drain_locked(lock);
  sinks_.erase(std::find(sinks_.begin(), sinks_.end(), sink));
  set_mask_locked();
  if (sinks_.empty()) {
    trace::set_fill_hook(nullptr);
    thread_runs_ = false;
    ++generation_;
    lock.unlock();
    wake();
  }
}

void Collector::drain() {
  std::unique_lock lock(mutex_);
  drain_locked(lock);
}

void Collector::drain_locked(std::unique_lock<std::mutex>&) {
  ToSinks visitor(sinks_, clock_);
  trace::drain(visitor);
  clock_.advance();
  for (const auto& sink : sinks_) sink->rest();
}

void Collector::set_mask_locked() {
  trace::Mask mask = 0;
  for (const auto& sink : sinks_) mask |= sink->wants();
  trace::set_mask(mask);
}

uint64_t Collector::pause_locked() const {
  uint64_t least = 1'000'000'000;
  for (const auto& sink : sinks_) least = std::min(least, sink->pause_ns());
  return least;
}

// The thread waits for the mutex, which the caller holds. It takes no signals, SIGPIPE of a pipe's
// reader included.
Status Collector::start() {
  ANYNPU_TRY(start_thread("anynpu-prof", Signals::none, [this] { run(); }));
  thread_runs_ = true;
  return {};
}

void Collector::run() {
  ignore_os_calls_of_this_thread();
  std::unique_lock lock(mutex_);
  const uint64_t mine = generation_;
  while (generation_ == mine) {
    const uint64_t pause = pause_locked();
    lock.unlock();
    pause_until_woken(pause);
    lock.lock();
    if (generation_ == mine) drain_locked(lock);
  }
}

}  // namespace anynpu::prof
