// SPDX-License-Identifier: Apache-2.0
// Loading and unloading of offline models, from files and from memory, with our own memory or the
// program's, executed by calls or fed by queues. Loading needs a current context: the model belongs
// to its device. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/result.h"
#include "device/memory.h"
#include "exec/shaped_model.h"
#include "om/container.h"
#include "service/model/queue_drive.h"

namespace anynpu::service {

// Memory of the program; a null address means that ours is used.
struct GivenMemory {
  void* work = nullptr;
  size_t work_size = 0;
  void* weight = nullptr;
  size_t weight_size = 0;
};

struct ModelLoadOptions {
  GivenMemory given = {};
  om::WeightSource weights = {};  // of a model whose weights lie apart; empty: beside the file
  ModelQueues* queues = nullptr;  // moved from; they drive the model. Null: calls execute it
};

// The id of the loaded model.
Result<uint32_t> load_model_file(const char* path, const ModelLoadOptions& options = {});
Result<uint32_t> load_model_memory(const void* data, size_t size,
                                   const ModelLoadOptions& options = {});
// The same for models that are fed by queues.
Result<uint32_t> load_queue_model_file(const char* path, const QueueIds& queues,
                                       FailedRunReport report);
Result<uint32_t> load_queue_model_memory(const void* data, size_t size, const QueueIds& queues,
                                         FailedRunReport report);
// A model of a bundle that was read before.
Result<uint32_t> load_bundle_model(om::Model model, uint32_t bundle_id);

// Bytes of device memory that a model takes. Loads nothing.
Result<exec::Sizes> query_file_sizes(const char* path);
Result<exec::Sizes> query_memory_sizes(const void* data, size_t size);

// The bytes of an offline model that the program holds.
Result<device::Range> check_model_memory(const void* model, size_t size);

}  // namespace anynpu::service
