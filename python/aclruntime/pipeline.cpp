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

bool Pipeline::stopped() {
  const std::lock_guard lock(mutex_);
  return stopped_;
}

void Pipeline::stop(size_t index, Failure failure) {
  const std::lock_guard lock(mutex_);
  if (stopped_) return;
  stopped_ = true;
  failure_ = std::move(failure);
  if (failure_) failure_.sentence = "feeds " + std::to_string(index) + ": " + failure_.sentence;
}

void Pipeline::wait_for_turn(size_t index) {
  for (size_t turn = turn_; turn != index; turn = turn_) turn_.wait(turn);
}

void Pipeline::end_turn(size_t index) {
  turn_ = index + 1;
  turn_.notify_all();
}

Failure Pipeline::compute(PipelineItem& item, Binding& binding) {
  if (Failure failure = binding.set_shapes(item.shapes)) return failure;
  if (Failure failure = binding.set_aipp(aipp_)) return failure;
  if (Failure failure = binding.execute(output_sizes_, loop_, item.times)) return failure;
  return binding.outputs(item.outputs);
}

// False when the pipeline stops. The turn is passed on whatever happens, so that nobody waits.
bool Pipeline::run_item(size_t index, PipelineItem& item, Binding& binding) {
  Failure failure = binding.put(item.feeds);
  wait_for_turn(index);
  const bool go_on = !failure && !stopped();
  if (go_on) failure = compute(item, binding);
  if (failure) stop(index, std::move(failure));
  end_turn(index);
  if (!go_on || stopped()) return false;
  for (Tensor& tensor : item.outputs) {
    if (Failure moved = move_to_host(tensor)) {
      stop(index, std::move(moved));
      return false;
    }
  }
  return true;
}

void Pipeline::run_lane(size_t lane, std::vector<PipelineItem>& items,
                        const std::function<bool()>* interrupted) {
  constexpr double kAskEachMs = 50;
  if (Failure failure = model_.context().use()) return stop(0, std::move(failure));
  double asked = now_ms();
  for (size_t i = next(items.size()); i < items.size(); i = next(items.size())) {
    if (!run_item(i, items[i], *bindings_[lane])) return;
    if (interrupted == nullptr || now_ms() - asked < kAskEachMs) continue;
    asked = now_ms();
    if ((*interrupted)()) return stop(i, {});
  }
}

size_t Pipeline::lanes_for(const PipelineItem& item) {
  constexpr size_t kWorthAThread = 64 << 10;  // bytes whose copies take as long as a wake-up
  size_t bytes = 0;
  for (const Feed& feed : item.feeds) bytes += feed.bytes;
  for (const Tensor& tensor : item.outputs) bytes += tensor.bytes;
  return bytes < kWorthAThread ? 1 : kLanes;
}

Failure Pipeline::run(std::vector<PipelineItem>& items, const std::function<bool()>& interrupted) {
  // The first item shows whether its copies are worth a second thread.
  const size_t first = next(items.size());
  if (first == items.size()) return {};
  if (!run_item(first, items[first], *bindings_[0])) return std::move(failure_);
  std::vector<std::thread> others;
  for (size_t lane = 1; lane < lanes_for(items[first]); ++lane) {
    others.emplace_back([this, lane, &items] { run_lane(lane, items, nullptr); });
  }
  run_lane(0, items, &interrupted);
  for (std::thread& other : others) other.join();
  return std::move(failure_);
}

}  // namespace anynpu::aclruntime
