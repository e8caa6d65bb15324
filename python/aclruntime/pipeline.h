// SPDX-License-Identifier: Apache-2.0
// Runs many executions of one model, the copies of one beside the computation of another: two
// threads take one item after the other and do all of it, each with a binding of its own. Data that
// a thread has copied is in its core's cache when it computes; with a thread for each stage
// instead, every item moves between cores twice, which cost more here than the overlap saved. The
// first failure stops both.
#pragma once

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
  // The next item's index; items.size() when there is none left or the pipeline stops.
  size_t next(size_t count);
  void stop(size_t index, Failure failure);
  void run_lane(size_t lane, std::vector<PipelineItem>& items,
                const std::function<bool()>* interrupted);
  Failure run_item(PipelineItem& item, Binding& binding);
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
  std::mutex gear_;
};

}  // namespace anynpu::aclruntime
