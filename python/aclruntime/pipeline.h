// SPDX-License-Identifier: Apache-2.0
// Runs many executions of one model and overlaps their copies with computation. The calling thread
// computes, in the order of the items; a second thread copies inputs in and outputs out, and the
// caller helps it whenever no inputs are ready. So no thread is woken between two computations
// (50 us, where a copy of 4 MB takes 250), and what an execution writes stays in the caches of one
// core: alternating between two cores took three times as long where these share no cache. Small
// items run in the calling thread only. A failure stops all.
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "aclruntime/session.h"

namespace anynpu::aclruntime {

class Pipeline {
 public:
  static constexpr size_t kBindings = 4;  // one computes, the others are filled and emptied

  Pipeline(const Model& model, const std::vector<std::unique_ptr<Binding>>& bindings,
           const Aipp& aipp, const std::vector<size_t>& output_sizes, int loop,
           std::vector<PipelineItem>& items)
      : model_(model),
        bindings_(bindings),
        aipp_(aipp),
        output_sizes_(output_sizes),
        loop_(loop),
        items_(items) {}
  // `interrupted` is called on the calling thread, twenty times a second.
  Failure run(const std::function<bool()>& interrupted);

 private:
  enum class Role { computes, copies };
  enum class Work { put, compute, fetch, none };
  enum class State { free, busy, ready, computed };  // of a binding
  struct Task {
    Work step;
    size_t item;
  };

  State& state_of(size_t item) { return states_[item % kBindings]; }
  // Waits for and takes the next work for a thread in this role. Work::none when nothing is left or
  // the pipeline stops.
  Task take(Role role);
  Task find(Role role);  // with the mutex held; Work::none when there is nothing now
  void end(Task task, Failure failure);
  void stop(size_t item, Failure failure);
  void work(Role role, const std::function<bool()>& interrupted);
  Failure perform(Task task);
  Failure compute(PipelineItem& item, Binding& binding);
  Failure fetch(PipelineItem& item);

  const Model& model_;
  const std::vector<std::unique_ptr<Binding>>& bindings_;  // item i has number i % kBindings
  const Aipp& aipp_;
  const std::vector<size_t>& output_sizes_;
  const int loop_;
  std::vector<PipelineItem>& items_;

  std::atomic<int> computing_core_ = -1;

  std::mutex mutex_;  // of all below
  std::condition_variable changed_;
  std::array<State, kBindings> states_{};
  size_t count_ = 0;                                   // items to run
  size_t to_put_ = 0, to_compute_ = 0, to_fetch_ = 0;  // the next item of each step
  bool stopped_ = false;
  size_t failed_ = 0;  // the item of the failure
  Failure failure_;
};

}  // namespace anynpu::aclruntime
