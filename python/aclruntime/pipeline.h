// SPDX-License-Identifier: Apache-2.0
// Runs many executions of one model with the copies of one beside the computation of another: a
// thread copies inputs to the device, the calling thread computes, a thread copies outputs back.
// Items pass through a ring of bindings in order. The first failure stops all three.
#pragma once

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
  static constexpr size_t kDepth = 3;  // one item in each stage

  Pipeline(const Model& model, const std::vector<std::unique_ptr<Binding>>& ring, const Aipp& aipp,
           const std::vector<size_t>& output_sizes, int loop)
      : model_(model), ring_(ring), aipp_(aipp), output_sizes_(output_sizes), loop_(loop) {}
  Failure run(std::vector<PipelineItem>& items, const std::function<bool()>& interrupted);

 private:
  enum Stage { upload, compute, download };
  // Waits until item `index` may enter `stage`; false when the pipeline stops.
  bool enter(Stage stage, size_t index, const std::function<bool()>* interrupted);
  void leave(Stage stage, size_t index, Failure failure);
  Failure upload_item(PipelineItem& item, Binding& binding);
  Failure compute_item(PipelineItem& item, Binding& binding);
  Failure download_item(PipelineItem& item);
  template <typename Work>
  void run_stage(Stage stage, std::vector<PipelineItem>& items,
                 const std::function<bool()>* interrupted, Work&& work);

  const Model& model_;
  const std::vector<std::unique_ptr<Binding>>& ring_;
  const Aipp& aipp_;
  const std::vector<size_t>& output_sizes_;
  const int loop_;
  std::mutex mutex_;
  std::condition_variable changed_;
  size_t done_[3] = {0, 0, 0};  // items that have left each stage
  bool stopped_ = false;
  Failure failure_;
};

}  // namespace anynpu::aclruntime
