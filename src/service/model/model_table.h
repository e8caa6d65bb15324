// SPDX-License-Identifier: Apache-2.0
// Loaded models by id. Ids are small positive numbers that are not reused soon, because programs
// print and keep them. Lookup takes no lock. Thread-safe; queued executions hold a reference, so
// unloading while they wait is safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "base/handle_table.h"
#include "device/memory.h"
#include "exec/shaped_model.h"
#include "service/model/failed_ops.h"
#include "service/model/queue_drive.h"

namespace anynpu::service {

// A loaded model and the device it was loaded on.
struct Model {
  std::shared_ptr<exec::ShapedModel> shaped;
  std::shared_ptr<const om::Meta> meta;
  int32_t device_id = 0;
  uint32_t bundle_id = 0;                        // 0: loaded by itself
  std::atomic<size_t> current_gear{0};           // the one that was set last
  std::vector<OpInfo> ops;                       // for the report of failures
  std::shared_ptr<exec::StepObserver> observer;  // dump and injected faults; null: none
  std::vector<device::Range> memory;             // of the program; not freed while the model lives
  std::shared_ptr<void> own_memory;              // device memory that it takes besides
  std::shared_ptr<QueueDrive> drive;             // null: calls execute the model
};

}  // namespace anynpu::service

namespace anynpu {
ANYNPU_HANDLE_TYPE(service::Model, model);
}

namespace anynpu::service {

class ModelTable {
 public:
  static constexpr uint32_t kMaxModels = 65535;  // at a time
  using Pin = HandleTable::Pin<Model>;

  static ModelTable& instance();

  // The id of `model` from now on. Fails with limit_exceeded when every id is in use.
  Result<uint32_t> add(std::shared_ptr<Model> model);
  // Fails with model_not_found.
  Result<Pin> find(uint32_t id);
  Status remove(uint32_t id);
  // Removes a model that the bundle still has. False when it is gone, or its id is another's.
  bool remove_of_bundle(uint32_t id, uint32_t bundle_id);
  // Stops the queue-fed models on this device, when it is reset.
  void stop_drives(int32_t device_id);
  // Unloads everything, at finalize.
  void clear();

 private:
  static void retire(uint32_t id, const Model& model);
  std::mutex mutex_;  // guards adding
  uint32_t next_ = 1;
  std::atomic<Handle> handles_[kMaxModels + 1] = {};
};

}  // namespace anynpu::service
