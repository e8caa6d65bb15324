// SPDX-License-Identifier: Apache-2.0
// Loading, for the entry points that load in one call and for the one that takes a configuration.
#pragma once

#include <cstddef>
#include <cstdint>

#include "api/acl/model_queues.h"
#include "base/result.h"
#include "device/memory.h"
#include "om/container.h"

namespace anynpu::acl {

// Memory of the program; a null address means that ours is used.
struct GivenMemory {
  void* work = nullptr;
  size_t work_size = 0;
  void* weight = nullptr;
  size_t weight_size = 0;
};

// The id of the loaded model. Needs a current context: the model belongs to its device.
// `weights` finds the files of a model whose weights lie apart; empty: beside the file. `queues`,
// which are moved from, drive it; null: calls execute it.
Result<uint32_t> load_model_file(const char* path, const GivenMemory& given,
                                 const om::WeightSource& weights = {},
                                 ModelQueues* queues = nullptr);
Result<uint32_t> load_model_memory(const void* data, size_t size, const GivenMemory& given,
                                   const om::WeightSource& weights = {},
                                   ModelQueues* queues = nullptr);

// A model that was read already; `bundle_id` as in Model.
Result<uint32_t> load_bundle_model(om::Model model, uint32_t bundle_id);

// The bytes of an offline model that the program holds.
Result<device::Range> check_model_memory(const void* model, size_t size);

}  // namespace anynpu::acl
