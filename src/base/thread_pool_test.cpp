// SPDX-License-Identifier: Apache-2.0
#include "base/thread_pool.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>
#include <chrono>
#include <future>
#include <set>
#include <thread>
#include <vector>

#include "base/clock.h"

namespace anynpu {
namespace {

ThreadPool& pool() { return ThreadPool::instance(); }

TEST(ThreadPool, ParallelForCoversEveryIndexOnce) {
  for (size_t count : {0u, 1u, 2u, 7u, 1000u}) {
    std::vector<std::atomic<int>> hits(count);
    pool().parallel_for(count, 1, [&](size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i) ++hits[i];
    });
    for (auto& hit : hits) EXPECT_EQ(hit, 1);
  }
}

TEST(ThreadPool, ParallelForSplitsTheSameWayEveryTime) {
  std::set<std::pair<size_t, size_t>> first, again;
  std::mutex mutex;
  auto collect = [&](auto& into) {
    pool().parallel_for(101, 10, [&](size_t begin, size_t end) {
      std::lock_guard lock(mutex);
      into.insert({begin, end});
    });
  };
  collect(first);
  for (int i = 0; i < 20; ++i) {
    again.clear();
    collect(again);
    EXPECT_EQ(again, first);
  }
}

TEST(ThreadPool, ShortLoopsInARowAreWholeWhoeverEndsThemLast) {
  const ThreadPool::SpinScope spin(pool());
  for (size_t turn = 0; turn < 20000; ++turn) {
    std::atomic<size_t> sum{0};
    pool().parallel_for(4, 1, [&](size_t begin, size_t end) {
      for (size_t i = 0; i < turn % 7 * begin; ++i)
        std::atomic_signal_fence(std::memory_order_seq_cst);
      sum += turn * (end - begin);
    });
    ASSERT_EQ(sum, 4 * turn);
  }
}

TEST(ThreadPool, ParallelForReturnsAfterTheSlowestHelperHoweverLongItTakes) {
  if (pool().threads() < 2) GTEST_SKIP() << "needs two threads";
  const std::thread::id caller = std::this_thread::get_id();
  for (int round = 0; round < 3; ++round) {  // long enough for the caller to go to sleep
    std::atomic<int> done{0};
    pool().parallel_for(pool().threads(), 1, [&](size_t, size_t) {
      const bool slow = std::this_thread::get_id() != caller;
      std::this_thread::sleep_for(std::chrono::milliseconds(slow ? 20 : 2));
      ++done;
    });
    EXPECT_EQ(done, static_cast<int>(pool().threads()));
  }
}

TEST(ThreadPool, ParallelForRunsInsideJobsAndFromManyThreads) {
  std::atomic<size_t> total{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i) {
        pool().parallel_for(64, 1, [&](size_t begin, size_t end) {
          pool().parallel_for(end - begin, 1, [&](size_t b, size_t e) { total += e - b; });
        });
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(total, 4u * 50 * 64);
}

TEST(ThreadPool, JobsRunInOrderOfPriority) {
  struct OrderedJob : ThreadPool::Job {
    std::vector<int>* order = nullptr;
    std::promise<void>* last = nullptr;
  };
  std::promise<void> gate, done;
  auto gate_open = gate.get_future().share();
  std::atomic<size_t> through{0};
  struct GateJob : ThreadPool::Job {
    std::shared_future<void> open;
    std::atomic<size_t>* through = nullptr;
  };
  // Every helper is held, then three jobs queue up behind.
  const size_t helpers = pool().threads();
  std::vector<GateJob> gates(helpers);
  for (auto& job : gates) {
    job.open = gate_open;
    job.through = &through;
    job.run = [](ThreadPool::Job& j) {
      auto& job = static_cast<GateJob&>(j);
      job.open.wait();
      job.through->fetch_add(1);
    };
    pool().submit(job);
  }
  while (pool().has_waiting_jobs()) std::this_thread::yield();
  std::vector<int> order;
  std::array<OrderedJob, 3> jobs;
  for (int i = 0; i < 3; ++i) {
    jobs[i].priority = 2 - i;
    jobs[i].order = &order;
    jobs[i].last = &done;
    jobs[i].run = [](ThreadPool::Job& j) {
      auto& job = static_cast<OrderedJob&>(j);
      static std::mutex mutex;
      std::lock_guard lock(mutex);
      job.order->push_back(job.priority);
      if (job.order->size() == 3) job.last->set_value();
    };
    pool().submit(jobs[i]);
  }
  gate.set_value();
  done.get_future().wait();
  // One helper may have run all three while another still stands at the gate.
  while (through < helpers) std::this_thread::yield();
  if (helpers == 1) {
    EXPECT_EQ(order, (std::vector<int>{0, 1, 2}));
  } else {
    EXPECT_EQ(order.size(), 3u);
  }
}

TEST(ThreadPool, AJobIsHelpedWhileTheThreadThatSubmittedItSleeps) {
  if (pool().threads() < 2) GTEST_SKIP() << "needs two threads";
  struct HelpedJob : ThreadPool::Job {
    std::promise<bool> met;
  } job;
  job.run = [](ThreadPool::Job& j) {
    std::atomic<int> inside{0};
    std::atomic<bool> met{true};
    pool().parallel_for(2, 1, [&](size_t, size_t) {
      ++inside;
      const uint64_t start = now_ns();
      while (inside < 2 && met) {
        std::this_thread::yield();
        if (now_ns() - start > 60'000'000'000) met = false;  // each range waits for the other
      }
    });
    static_cast<HelpedJob&>(j).met.set_value(met);
  };
  pool().submit(job);
  EXPECT_TRUE(job.met.get_future().get());
}

TEST(ThreadPool, HelpersMayUseAllCoresOfTheProcessAfterTheyWereWoken) {
  cpu_set_t mine;
  ASSERT_EQ(sched_getaffinity(0, sizeof mine, &mine), 0);
  for (int round = 0; round < 20; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));  // most of them go to sleep
    pool().parallel_for(pool().threads(), 1, [&](size_t, size_t) {
      cpu_set_t its;
      EXPECT_EQ(sched_getaffinity(0, sizeof its, &its), 0);
      EXPECT_TRUE(CPU_EQUAL(&its, &mine));
      std::this_thread::sleep_for(std::chrono::microseconds(200));  // so that others come too
    });
  }
}

TEST(ThreadPool, ATimerRunsNoEarlierThanAsked) {
  std::promise<uint64_t> fired;
  const uint64_t start = now_ns();
  pool().submit_after(3'000'000, [&] { fired.set_value(now_ns()); });
  EXPECT_GE(fired.get_future().get() - start, 3'000'000u);
}

}  // namespace
}  // namespace anynpu
