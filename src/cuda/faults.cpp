// SPDX-License-Identifier: Apache-2.0
#include "cuda/faults.h"

#include <map>

#include "cuda/gpu.h"
#include "ops/elements/index_value.h"

namespace anynpu::device::cuda {

Result<Faults*> Faults::of(const Gpu& gpu) {
  static auto& mutex = *new std::mutex;
  static auto& all = *new std::map<int, Faults*>;
  const std::lock_guard lock(mutex);
  Faults*& faults = all[gpu.unit()];
  if (faults) return faults;
  ANYNPU_TRY(gpu.enter());
  void* board = nullptr;
  ANYNPU_TRY(
      cuda_status(driver().cuMemHostAlloc(&board, 3 * sizeof(int64_t),
                                          CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP),
                  "taking memory for what kernels report"));
  static_cast<int64_t*>(board)[0] = 0;
  return faults = new Faults(static_cast<int64_t*>(board));
}

uint64_t Faults::add(std::string label) {
  const std::lock_guard lock(mutex_);
  for (size_t i = 0; i < labels_.size(); ++i) {
    if (labels_[i] == label) return i + 1;
  }
  labels_.push_back(std::move(label));
  return labels_.size();
}

Status Faults::take() {
  if (!any()) return {};
  const std::lock_guard lock(mutex_);
  const auto number = static_cast<size_t>(board_[0]);
  if (number == 0 || number > labels_.size()) return {};
  const int64_t value = board_[1], extent = board_[2];
  board_[0] = 0;
  return ops::index_failure(labels_[number - 1], value, extent);
}

}  // namespace anynpu::device::cuda
