// SPDX-License-Identifier: Apache-2.0
// What it costs to hand a stream a task, and to wait for it. Enqueueing on an idle stream has to
// wake a thread, so it is compared with a bare futex wake in the same run.
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <thread>

#include "../harness.h"
#include "device/stream.h"

namespace anynpu::bench {
namespace {

constinit device::TaskKind kEmpty{"empty", device::Engine::control};
constinit device::TaskKind kBlocker{"blocker", device::Engine::control};

std::shared_ptr<device::Stream> make_stream() {
  return std::make_shared<device::Stream>(nullptr, std::weak_ptr<device::Context>(),
                                          device::StreamOptions{});
}

Status nothing() { return {}; }

// Keeps a stream busy without using the CPU: its task sleeps until it is let go.
class Blocker {
 public:
  explicit Blocker(device::Stream& stream) {
    (void)stream.submit(kBlocker, [this] {
      std::unique_lock lock(mutex_);
      running_ = true;
      changed_.notify_all();
      changed_.wait(lock, [this] { return let_go_; });
      return Status();
    });
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return running_; });
  }
  void let_go() {
    std::lock_guard lock(mutex_);
    let_go_ = true;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool running_ = false;
  bool let_go_ = false;
};

double busy_enqueue_us() {
  auto stream = make_stream();
  Blocker blocker(*stream);
  const double ns = ns_per_call(10'000, [&] { (void)stream->submit(kEmpty, nothing); });
  blocker.let_go();
  (void)stream->synchronize();
  stream->close(device::Stream::Close::drain);
  return ns / 1e3;
}

// Spins: the program that enqueues is one that runs, only the helpers sleep.
void pause_us(int us) {
  const uint64_t end = now_ns() + static_cast<uint64_t>(us) * 1000;
  while (now_ns() < end) {
  }
}

// Long enough for every helper to have gone to sleep.
constexpr int kPauseUs = 300;
constexpr int kWakes = 20;

double idle_enqueue_us(device::Stream& stream) {
  uint64_t ns = 0;
  for (int i = 0; i < kWakes; ++i) {
    pause_us(kPauseUs);
    const uint64_t begin = now_ns();
    (void)stream.submit(kEmpty, nothing);
    ns += now_ns() - begin;
    while (!stream.idle()) pause_us(20);
  }
  return static_cast<double>(ns) / kWakes / 1e3;
}

// A thread that sleeps on a futex and goes back to sleep each time it is woken.
class Sleeper {
 public:
  Sleeper() : thread_([this] { sleep(); }) {}
  ~Sleeper() {
    stop_ = true;
    wake();
    thread_.join();
  }
  void wake() {
    word_.fetch_add(1);
    syscall(SYS_futex, reinterpret_cast<int*>(&word_), FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
  }

 private:
  void sleep() {
    while (!stop_) {
      const int seen = word_.load();
      if (stop_) break;
      syscall(SYS_futex, reinterpret_cast<int*>(&word_), FUTEX_WAIT_PRIVATE, seen, nullptr, nullptr,
              0);
    }
  }
  std::atomic<int> word_{0};
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

double futex_wake_us(Sleeper& sleeper) {
  uint64_t ns = 0;
  for (int i = 0; i < kWakes; ++i) {
    pause_us(kPauseUs);
    const uint64_t begin = now_ns();
    sleeper.wake();
    ns += now_ns() - begin;
  }
  return static_cast<double>(ns) / kWakes / 1e3;
}

}  // namespace

ANYNPU_BENCH(enqueue_busy) {
  report.add({"enqueue an empty task, busy stream", 0.5, "us", value_of(busy_enqueue_us), ""});
}

ANYNPU_BENCH(enqueue_idle) {
  auto stream = make_stream();
  Sleeper sleeper;
  const Estimate wake = value_of([&] { return futex_wake_us(sleeper); });
  char note[64];
  std::snprintf(note, sizeof note, "futex wake: %.2f us", wake.median);
  report.add({"enqueue an empty task, idle stream, over a futex wake", 0.5, "us",
              difference_of([&] { return idle_enqueue_us(*stream); },
                            [&] { return futex_wake_us(sleeper); }),
              note});
  stream->close(device::Stream::Close::drain);
}

ANYNPU_BENCH(enqueue_and_synchronize) {
  auto stream = make_stream();
  auto once = [&] {
    return ns_per_call(2'000,
                       [&] {
                         (void)stream->submit(kEmpty, nothing);
                         (void)stream->synchronize();
                       }) /
           1e3;
  };
  report.add({"empty task + stream synchronize", 15, "us", value_of(once), ""});
  stream->close(device::Stream::Close::drain);
}

}  // namespace anynpu::bench
