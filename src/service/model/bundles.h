// SPDX-License-Identifier: Apache-2.0
// Bundles: several models of one file, loaded and unloaded in one call. Each model has an ordinary
// id too. One instance per process; thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

#include "base/result.h"
#include "om/model.h"

namespace anynpu::service {

class Bundles {
 public:
  static Bundles& instance();

  // Loads all models or none. Bundle ids are above those of models, so that they are not confused,
  // and are never reused.
  Result<uint32_t> load_file(const char* path);
  Result<uint32_t> load_memory(const void* data, size_t size);
  // The others fail with bundle_not_found for an id that no loaded bundle has.
  Status unload(uint32_t bundle_id);
  Result<size_t> model_count(uint32_t bundle_id);
  // Fails with model_not_found for a model that was unloaded by itself.
  Result<uint32_t> model_id(uint32_t bundle_id, size_t index);

 private:
  Bundles();
  Result<uint32_t> load(std::vector<om::Model> sources);
  void clear();

  std::mutex mutex_;
  uint32_t next_id_;
  std::map<uint32_t, std::vector<uint32_t>> models_;  // of each bundle
};

}  // namespace anynpu::service
