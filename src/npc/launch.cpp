// SPDX-License-Identifier: Apache-2.0
#include "npc/launch.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

#include "base/clock.h"
#include "base/fault_guard.h"
#include "base/interrupt.h"
#include "base/thread_pool.h"
#include "npc/cycles.h"
#include "npc/image.h"
#include "npc/interpreter.h"
#include "npc/kernel_watch.h"
#include "npc/translate/translation.h"
#include "npc/trap_report.h"

namespace anynpu::npc {

namespace {

constexpr uint64_t kAloneNs = 50'000;    // then helpers are asked
constexpr uint64_t kShortSlice = 5'000;  // instructions per turn while alone
constexpr uint64_t kLongSlice = 100'000;
constexpr uint64_t kHostFactor = 10;  // translated code does so many more in the same time
constexpr uint64_t kInterruptNs = 50'000'000;

// Puts a core at the start of its kernel.
using StartBlock = std::function<void(Core&)>;

// The turns of all cores. One mutex guards the lists; it is taken twice per turn.
class Turns {
 public:
  // `next_block` is called when a core ends one of several blocks.
  Turns(std::vector<Core>& cores, const StartBlock& next_block, PrintSink& sink,
        uint64_t deadline_ns)
      : cores_(cores), next_block_(next_block), sink_(sink), deadline_ns_(deadline_ns) {
    for (size_t i = 0; i < cores.size(); ++i) runnable_.push_back(i);
    live_ = cores.size();
  }

  void run() {
    if (cores_.front().watch) return work(kLongSlice, UINT64_MAX, true);  // on one thread
    work(kShortSlice, now_ns() + kAloneNs, true);
    if (finished()) return;
    const auto caller = std::this_thread::get_id();
    ThreadPool& pool = ThreadPool::instance();
    const size_t threads = std::min(pool.threads(), cores_.size());
    pool.parallel_for(threads, 1, [&](size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i) {
        work(kLongSlice, UINT64_MAX, std::this_thread::get_id() == caller);
      }
    });
    if (!finished()) work(kLongSlice, UINT64_MAX, true);
  }

  bool was_interrupted() const { return interrupted_; }
  bool was_late() const { return late_; }

 private:
  enum class TurnEnd : uint8_t { slice, sync, finished, trap };

  bool finished() {
    std::lock_guard lock(mutex_);
    return live_ == 0;
  }

  // Takes turns until all cores are done or the time is up. Only the calling thread stays when
  // there is nothing to do and other work waits for the pool.
  void work(uint64_t slice, uint64_t until, bool is_caller) {
    uint64_t next_interrupt = now_ns() + kInterruptNs;
    std::unique_lock lock(mutex_);
    while (live_ > 0) {
      if (stopping_) drop_runnable();
      if (runnable_.empty()) {
        if (live_ == 0) break;
        if (!is_caller && ThreadPool::instance().has_waiting_jobs()) return;
        wake_.wait_for(lock, std::chrono::microseconds(500));
        continue;
      }
      const size_t index = runnable_.front();
      runnable_.pop_front();
      lock.unlock();
      TurnEnd end = turn(cores_[index], slice);
      if (end == TurnEnd::finished && take_next_block(cores_[index])) end = TurnEnd::slice;
      const uint64_t now = now_ns();
      const bool stop = is_caller && now >= next_interrupt && interrupted();
      if (now >= next_interrupt) next_interrupt = now + kInterruptNs;
      lock.lock();
      if (stop) stopping_ = interrupted_ = true;
      settle(index, end);
      if (now >= deadline_ns_ && live_ > 0) {
        stopping_ = late_ = true;
        drop_runnable();
      }
      if (now >= until && live_ > 0) return;
    }
    wake_.notify_all();
  }

  // Which core runs which block does not depend on times: counters are the same in every run.
  bool take_next_block(Core& core) {
    const int next = core.block + core.core_num;
    if (next >= core.blocks) return false;
    core.block = next;
    next_block_(core);
    return true;
  }

  TurnEnd turn(Core& core, uint64_t slice) {
    return core.host ? host_turn(core, slice * kHostFactor) : interpreter_turn(core, slice);
  }

  TurnEnd host_turn(Core& core, uint64_t slice) {
    switch (run_host(core, slice)) {
      case HostStop::slice:
        return TurnEnd::slice;
      case HostStop::sync:
        return TurnEnd::sync;
      case HostStop::finished:
        return TurnEnd::finished;
      default:
        return TurnEnd::trap;
    }
  }

  TurnEnd interpreter_turn(Core& core, uint64_t slice) {
    for (;;) {
      switch (interpret(core, slice)) {
        case Stop::slice:
          return TurnEnd::slice;
        case Stop::finished:
          return TurnEnd::finished;
        case Stop::trap:
          return TurnEnd::trap;
        case Stop::service:
          break;
      }
      const Served served = serve(core, sink_);
      if (served == Served::sync) return TurnEnd::sync;
      if (served == Served::finished) return TurnEnd::finished;
      if (served == Served::trap) return TurnEnd::trap;
    }
  }

  void settle(size_t index, TurnEnd end) {
    switch (end) {
      case TurnEnd::slice:
        runnable_.push_back(index);
        break;
      case TurnEnd::sync:
        waiting_.push_back(index);
        break;
      case TurnEnd::trap:
        stopping_ = true;
        [[fallthrough]];
      case TurnEnd::finished:
        --live_;
        break;
    }
    if (stopping_) {
      drop_runnable();
    } else if (!waiting_.empty() && waiting_.size() == live_) {
      release_waiting();
    }
    if (end != TurnEnd::slice) wake_.notify_all();
  }

  // After a trap the other cores stop where they are.
  void drop_runnable() {
    live_ -= runnable_.size() + waiting_.size();
    runnable_.clear();
    waiting_.clear();
    if (live_ == 0) wake_.notify_all();
  }

  // The last core of a sync() has come (cores that ended no longer count).
  void release_waiting() {
    if (KernelWatch* watch = cores_.front().watch) watch->sync();
    uint64_t latest = 0;
    for (const size_t i : waiting_) latest = std::max(latest, cores_[i].clock);
    for (const size_t i : waiting_) {
      Core& core = cores_[i];
      auto& events = core.counters.events;
      ++events[kSYN_INST];
      events[kSYN_WAIT_CYCLE] += latest - core.clock;
      events[kSYN_CYCLE] += latest - core.clock + cycles::kSync;
      core.clock = latest + cycles::kSync;
    }
    // In order of core: the turns after a sync do not depend on who arrived last.
    std::sort(waiting_.begin(), waiting_.end());
    runnable_.insert(runnable_.end(), waiting_.begin(), waiting_.end());
    waiting_.clear();
  }

  std::vector<Core>& cores_;
  const StartBlock& next_block_;
  PrintSink& sink_;
  const uint64_t deadline_ns_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<size_t> runnable_;
  std::vector<size_t> waiting_;
  size_t live_ = 0;
  bool stopping_ = false;
  bool interrupted_ = false;
  bool late_ = false;
};

void put_initial(const InitialData& piece, std::byte* to) {
  if (piece.data.empty()) {
    std::memset(to, 0, piece.bytes);
  } else {
    std::memcpy(to, piece.data.data(), piece.data.size());
  }
}

void prepare_core(Core& core, int id, const LaunchFrame& frame, const LaunchSetup& setup) {
  core.id = core.block = id;
  core.core_num = setup.core_num;
  core.blocks = setup.blocks;
  core.image = setup.image;
  core.memory = frame.memory.get();
  core.local = frame.memory->local(id);
  core.stack_low = stack_of(frame.stacks, static_cast<uint32_t>(id));
  core.setup = &setup;
}

// Registers and stack as the ABI requires them at the entry of a function.
void prepare_block(Core& core, const LaunchFrame& frame, const LaunchSetup& setup) {
  const Image& image = *setup.image;
  core.x = {};
  core.f = {};
  core.float_flags = core.rounding = 0;
  core.reserved_address = 1;
  core.calls.clear();
  core.budget = setup.budget;
  core.pc = setup.entry;
  uint32_t top = core.stack_low + kStackBytes;
  if (setup.args.size() > 8) {
    const auto rest = static_cast<uint32_t>(setup.args.size() - 8);
    top = (top - rest * 4) & ~15u;
    std::memcpy(frame.memory->host(top), setup.args.data() + 8, size_t{rest} * 4);
  }
  for (size_t i = 0; i < setup.args.size() && i < 8; ++i) core.x[10 + i] = setup.args[i];
  core.x[1] = kReturnAddress;
  core.x[2] = top;
  core.x[4] = image.thread_base + image.thread_bytes * static_cast<uint32_t>(core.id);
  for (const InitialData& piece : image.local)
    put_initial(piece, core.local + (piece.address - kLocalBase));
  for (const InitialData& piece : image.thread) {
    put_initial(piece, frame.memory->host(core.x[4] + piece.address));
  }
  if (core.watch) core.watch->start_block(core);
}

void collect(const std::vector<Core>& cores, LaunchStats& stats) {
  stats.cores.clear();
  for (const Core& core : cores) {
    stats.cores.push_back(core.counters);
    for (int i = 0; i < kDmaEvents; ++i) {
      const bool last_transfer = i % 8 == 2 || i % 8 == 5;
      if (!last_transfer) {
        stats.dma[i] += core.dma[i];
      } else if (core.dma[i] != 0) {
        stats.dma[i] = core.dma[i];
      }
    }
  }
  stats.dma[kSYSDMA0_DMA_ID - kCoreEvents] = 0;
  stats.dma[kSYSDMA1_DMA_ID - kCoreEvents] = 1;
}

// The host's code of the kernel when every core can run it; null: interpret.
void* host_kernel(LaunchFrame& frame, const LaunchSetup& setup) {
  const auto& translation = setup.image->translation;
  if (!translation) return nullptr;
  void* kernel = translation->kernel(setup.entry - setup.image->code_base);
  if (!kernel) return nullptr;
  for (int i = 0; i < setup.core_num; ++i) {
    std::unique_ptr<HostCore>& host = frame.hosts[i];
    if (!host) {
      auto made = HostCore::create(frame.memory, i);
      if (!made.ok()) return nullptr;
      host = std::move(*made);
    }
    if (!host->view->update().ok()) return nullptr;
  }
  return kernel;
}

}  // namespace

Status run_launch(LaunchFrame& frame, const LaunchSetup& setup, PrintSink& sink,
                  LaunchStats& stats) {
  std::vector<Core> cores(static_cast<size_t>(setup.core_num));
  const auto watch = KernelWatch::create(setup, *frame.memory);
  void* const kernel = watch ? nullptr : host_kernel(frame, setup);
  const StartBlock start = [&](Core& core) {
    prepare_block(core, frame, setup);
    if (!kernel) return;
    prepare_host(core, *frame.hosts[core.id], *setup.image->translation, kernel, sink);
  };
  for (int i = 0; i < setup.core_num; ++i) {
    prepare_core(cores[i], i, frame, setup);
    cores[i].watch = watch.get();
    start(cores[i]);
  }
  for (const InitialData& piece : setup.image->shared) {
    put_initial(piece, frame.memory->host(piece.address));
  }
  stats.translated = kernel != nullptr;
  if (kernel) install_fault_guard();
  stats.start_ns = now_ns();
  Turns turns(cores, start, sink,
              setup.timeout_ns ? stats.start_ns + setup.timeout_ns : UINT64_MAX);
  turns.run();
  stats.end_ns = now_ns();
  collect(cores, stats);
  const auto trapped = std::find_if(cores.begin(), cores.end(), [](const Core& core) {
    return core.trap.kind != TrapKind::none;
  });
  if (trapped != cores.end()) {
    if (watch) watch->note_trap(*trapped);
    stats.trap_report = trap_report(stats.cluster, setup.kernel, cores);
    return fail(Code::task_failed, "kernel '{}' on cluster {}: {}: {}: {}; see the call stack",
                setup.kernel, stats.cluster, place_of(*trapped), name_of(trapped->trap.kind),
                trapped->trap.text);
  }
  if (turns.was_late()) {
    if (setup.is_default_timeout) {
      return fail(Code::kernel_timeout,
                  "kernel '{}' on cluster {} ran for {} s and was stopped: a kernel may run for {} "
                  "s; set ANYNPU_NPC_TIMEOUT to more seconds, or to 0 for no limit",
                  setup.kernel, stats.cluster, (stats.end_ns - stats.start_ns) / 1'000'000'000,
                  setup.timeout_ns / 1'000'000'000);
    }
    return fail(Code::kernel_timeout,
                "kernel '{}' on cluster {} ran for {} us and was stopped; its launch allows {}",
                setup.kernel, stats.cluster, (stats.end_ns - stats.start_ns) / 1000,
                setup.timeout_ns / 1000);
  }
  if (turns.was_interrupted()) {
    return fail(Code::cancelled, "kernel '{}' on cluster {} was interrupted and stopped",
                setup.kernel, stats.cluster);
  }
  return {};
}

}  // namespace anynpu::npc
