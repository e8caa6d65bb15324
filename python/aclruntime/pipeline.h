// SPDX-License-Identifier: Apache-2.0
// Runs many executions of one model, the copies of one beside the computation of another. Two
// threads take one item after the other and do all of it, each with a binding of its own; one of
// them computes at a time, in the order of the items, so that times, memory and results are those
// of a single computing thread. Data that a thread has copied is in its core's cache when it
// computes; with a thread for each stage instead, every item moves between cores twice, which cost
// more here than the overlap saved. Items that are small run in the calling thread alone. The first
// failure stops all.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "aclruntime/session.h"

namespace anynpu::aclruntime {

class Pipeline {
 public:
  static constexpr size_t kLanes = 2;  // the calling thread and one more

  Pipeline(const Model& model, const std::vector<std::unique_ptr<Binding>>& bindings,
           const Aipp& aipp, const std::vector<size_t>& output_sizes, int loop)
      : model_(model), bindings_(bindings), aipp_(aipp), output_sizes_(output_sizes), loop_(loop) {}
  // `interrupted` is asked on the calling thread, twenty times a second.
  Failure run(std::vector<PipelineItem>& items, const std::function<bool()>& interrupted);

 private:
  static size_t lanes_for(const PipelineItem& item);
  // The next item's index; items.size() when there is none left or the pipeline stops.
  size_t next(size_t count);
  bool stopped();
  void stop(size_t index, Failure failure);
  void wait_for_turn(size_t index);
  void end_turn(size_t index);
  void run_lane(size_t lane, std::vector<PipelineItem>& items,
                const std::function<bool()>* interrupted);
  bool run_item(size_t index, PipelineItem& item, Binding& binding);
  Failure compute(PipelineItem& item, Binding& binding);

  const Model& model_;
  const std::vector<std::unique_ptr<Binding>>& bindings_;
  const Aipp& aipp_;
  const std::vector<size_t>& output_sizes_;
  const int loop_;
  std::mutex mutex_;  // of the three below
  size_t taken_ = 0;
  bool stopped_ = false;
  Failure failure_;
  std::atomic<size_t> turn_ = 0;  // the item that may compute
};

}  // namespace anynpu::aclruntime
