// SPDX-License-Identifier: Apache-2.0
// Loading by configuration: a program fills in what to load and how, then loads. Guards itself.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "base/handle_table.h"
#include "service/model/queue_drive.h"

namespace anynpu::service {

// As the documents number them.
enum class LoadType : size_t {
  unset = 0,
  file = 1,
  file_with_memory = 2,
  memory = 3,
  memory_with_memory = 4,
  file_with_queues = 5,
  memory_with_queues = 6,
};

struct LoadConfig {
  mutable std::mutex mutex;
  LoadType type = LoadType::unset;
  std::string path;
  std::string weight_path;
  std::map<std::string, std::pair<void*, size_t>> weight_files;  // by name: memory of the program
  const void* memory = nullptr;
  size_t memory_size = 0;
  void* weight = nullptr;
  size_t weight_size = 0;
  void* work = nullptr;
  size_t work_size = 0;
  QueueIds queues;  // read when the model is loaded
};

// The weights of one file, which lie in memory of the program.
Status set_weight_file(Handle config, const char* name, void* address, size_t size);
// The id of the loaded model.
Result<uint32_t> load_by_config(Handle config, FailedRunReport report);

}  // namespace anynpu::service

namespace anynpu {
ANYNPU_HANDLE_TYPE(service::LoadConfig, model_config);
}
