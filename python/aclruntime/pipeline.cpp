// SPDX-License-Identifier: Apache-2.0
#include "aclruntime/pipeline.h"

#include <thread>
#include <utility>

#include "aclruntime/copy_times.h"

namespace anynpu::aclruntime {

size_t Pipeline::next(size_t count) {
  const std::lock_guard lock(mutex_);
  return stopped_ || taken_ == count ? count : taken_++;
}

void Pipeline::stop(size_t index, Failure failure) {
  const std::lock_guard lock(mutex_);
  if (stopped_) return;
  stopped_ = true;
  failure_ = std::move(failure);
  if (failure_) failure_.sentence = "feeds " + std::to_string(index) + ": " + failure_.sentence;
}

Failure Pipeline::compute(PipelineItem& item, Binding& binding) {
  // The shapes that AscendCL reports for a gear are those of the model's last execution.
  std::unique_lock<std::mutex> turn(gear_, std::defer_lock);
  if (model_.gear_input() >= 0) turn.lock();
  if (Failure failure = binding.set_shapes(item.shapes)) return failure;
  if (Failure failure = binding.set_aipp(aipp_)) return failure;
  if (Failure failure = binding.execute(output_sizes_, loop_, item.times)) return failure;
  return binding.outputs(item.outputs);
}

Failure Pipeline::run_item(PipelineItem& item, Binding& binding) {
  if (Failure failure = binding.put(item.feeds)) return failure;
  if (Failure failure = compute(item, binding)) return failure;
  for (Tensor& tensor : item.outputs) {
    if (Failure failure = move_to_host(tensor)) return failure;
  }
  return {};
}

void Pipeline::run_lane(size_t lane, std::vector<PipelineItem>& items,
                        const std::function<bool()>* interrupted) {
  constexpr double kAskEachMs = 50;
  if (Failure failure = model_.context().use()) return stop(0, std::move(failure));
  double asked = now_ms();
  for (size_t i = next(items.size()); i < items.size(); i = next(items.size())) {
    if (Failure failure = run_item(items[i], *bindings_[lane])) return stop(i, std::move(failure));
    if (interrupted == nullptr || now_ms() - asked < kAskEachMs) continue;
    asked = now_ms();
    if ((*interrupted)()) return stop(i, {});
  }
}

Failure Pipeline::run(std::vector<PipelineItem>& items, const std::function<bool()>& interrupted) {
  std::vector<std::thread> others;
  for (size_t lane = 1; lane < kLanes; ++lane) {
    others.emplace_back([this, lane, &items] { run_lane(lane, items, nullptr); });
  }
  run_lane(0, items, &interrupted);
  for (std::thread& other : others) other.join();
  return std::move(failure_);
}

}  // namespace anynpu::aclruntime
