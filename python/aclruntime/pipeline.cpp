// SPDX-License-Identifier: Apache-2.0
#include "aclruntime/pipeline.h"

#include <chrono>
#include <thread>
#include <utility>

namespace anynpu::aclruntime {

bool Pipeline::enter(Stage stage, size_t index, const std::function<bool()>* interrupted) {
  // An item follows the stage before it; the first stage waits for a free binding of the ring.
  const auto may_enter = [&] {
    if (stopped_) return true;
    return stage == upload ? index < done_[download] + ring_.size() : index < done_[stage - 1];
  };
  std::unique_lock lock(mutex_);
  while (!may_enter()) {
    if (interrupted == nullptr) {
      changed_.wait(lock);
      continue;
    }
    if (changed_.wait_for(lock, std::chrono::milliseconds(50)) == std::cv_status::no_timeout) {
      continue;
    }
    lock.unlock();
    const bool stop = (*interrupted)();
    lock.lock();
    stopped_ = stopped_ || stop;
  }
  return !stopped_;
}

void Pipeline::leave(Stage stage, size_t index, Failure failure) {
  {
    const std::lock_guard lock(mutex_);
    done_[stage] = index + 1;
    if (failure && !stopped_) {
      stopped_ = true;
      failure_ = std::move(failure);
      failure_.sentence = "feeds " + std::to_string(index) + ": " + failure_.sentence;
    }
  }
  changed_.notify_all();
}

Failure Pipeline::upload_item(PipelineItem& item, Binding& binding) {
  return binding.put(item.feeds);
}

// Gears are state of the model: set here, where one item at a time passes.
Failure Pipeline::compute_item(PipelineItem& item, Binding& binding) {
  if (Failure failure = binding.set_shapes(item.shapes)) return failure;
  if (Failure failure = binding.set_aipp(aipp_)) return failure;
  if (Failure failure = binding.execute(output_sizes_, loop_, item.times)) return failure;
  return binding.outputs(item.outputs);
}

Failure Pipeline::download_item(PipelineItem& item) {
  for (Tensor& tensor : item.outputs) {
    if (Failure failure = move_to_host(tensor)) return failure;
  }
  return {};
}

template <typename Work>
void Pipeline::run_stage(Stage stage, std::vector<PipelineItem>& items,
                         const std::function<bool()>* interrupted, Work&& work) {
  Failure context = model_.context().use();
  for (size_t i = 0; i < items.size(); ++i) {
    if (!enter(stage, i, interrupted)) return;
    leave(stage, i, context ? context : work(items[i], *ring_[i % ring_.size()]));
  }
}

Failure Pipeline::run(std::vector<PipelineItem>& items, const std::function<bool()>& interrupted) {
  std::thread uploader([&] {
    run_stage(upload, items, nullptr, [this](auto& item, auto& b) { return upload_item(item, b); });
  });
  std::thread downloader([&] {
    run_stage(download, items, nullptr, [this](auto& item, auto&) { return download_item(item); });
  });
  run_stage(compute, items, &interrupted,
            [this](auto& item, auto& b) { return compute_item(item, b); });
  {  // The last item may still be on its way to the host.
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return stopped_ || done_[download] == items.size(); });
    stopped_ = stopped_ || failure_;
  }
  changed_.notify_all();
  uploader.join();
  downloader.join();
  return std::move(failure_);
}

}  // namespace anynpu::aclruntime
