// SPDX-License-Identifier: Apache-2.0
#include "service/model/load_config.h"

#include <cstring>

#include "service/check_pointer.h"
#include "service/model/load.h"

namespace anynpu::service {

namespace {

bool has_queues(LoadType type) {
  return type == LoadType::file_with_queues || type == LoadType::memory_with_queues;
}

bool has_memory(LoadType type) {
  return type == LoadType::file_with_memory || type == LoadType::memory_with_memory;
}

// Weight files that the program gave in memory, then those in the folder it named. Empty when it
// said nothing.
om::WeightSource weight_source(const LoadConfig& config) {
  if (config.weight_files.empty() && config.weight_path.empty()) return {};
  return [&config](const std::string& name) -> Result<om::OwnedBytes> {
    const auto given = config.weight_files.find(name);
    if (given != config.weight_files.end()) {
      const auto [address, size] = given->second;
      ANYNPU_ASSIGN(device::Range range,
                    device::check_range(address, size, device::Access::read, "devPtr"));
      ANYNPU_ASSIGN(range, device::readable_range(std::move(range)));
      const auto bytes = std::as_bytes(std::span(range.address, size));
      return om::OwnedBytes{std::make_shared<device::Range>(std::move(range)), bytes};
    }
    if (!config.weight_path.empty()) return om::weights_in(config.weight_path)(name);
    if (!config.path.empty()) return om::weights_in(om::weight_folder(config.path))(name);
    return fail(Code::not_found,
                "the weights '{}' of the model were not given; call "
                "aclmdlSetExternalWeightAddress with this name, or set ACL_MDL_WEIGHT_PATH_PTR",
                name);
  };
}

Result<uint32_t> load(const LoadConfig& config, ModelQueues* queues) {
  ModelLoadOptions options;
  options.weights = weight_source(config);
  options.queues = queues;
  if (has_memory(config.type))
    options.given = {config.work, config.work_size, config.weight, config.weight_size};
  switch (config.type) {
    case LoadType::file:
    case LoadType::file_with_memory:
    case LoadType::file_with_queues:
      if (!config.path.empty()) return load_model_file(config.path.c_str(), options);
      return fail(Code::invalid_argument,
                  "the load configuration has no path; set ACL_MDL_PATH_PTR (2)");
    case LoadType::memory:
    case LoadType::memory_with_memory:
    case LoadType::memory_with_queues:
      if (config.memory && config.memory_size > 0)
        return load_model_memory(config.memory, config.memory_size, options);
      return fail(Code::invalid_argument,
                  "the load configuration has no model in memory; set ACL_MDL_MEM_ADDR_PTR (3) and "
                  "ACL_MDL_MEM_SIZET (4)");
    default:
      return fail(Code::invalid_argument,
                  "the load type is {}; set ACL_MDL_LOAD_TYPE_SIZET (1) to a number from 1 to 6",
                  static_cast<size_t>(config.type));
  }
}

}  // namespace

Status set_weight_file(Handle handle, const char* name, void* address, size_t size) {
  ANYNPU_TRY(check_pointer(name, "weightFileName"));
  const size_t length = std::strlen(name);
  if (length == 0 || length > 255) {
    return fail(Code::invalid_argument,
                "weightFileName has {} characters; expected the name of a file in the folder "
                "weight, 1 to 255",
                length);
  }
  ANYNPU_ASSIGN(auto config, resolve<LoadConfig>(handle));
  ANYNPU_TRY(check_pointer(address, "devPtr"));
  if (size == 0) return fail(Code::invalid_argument, "size is 0; pass the bytes of the file");
  ANYNPU_TRY(device::check_range(address, size, device::Access::read, "devPtr").status());
  const std::lock_guard lock(config->mutex);
  config->weight_files[name] = {address, size};
  return {};
}

Result<uint32_t> load_by_config(Handle handle, FailedRunReport report) {
  ANYNPU_ASSIGN(auto config, resolve<LoadConfig>(handle));
  const std::lock_guard lock(config->mutex);
  if (!has_queues(config->type)) return load(*config, nullptr);
  ANYNPU_ASSIGN(ModelQueues queues, find_queues(config->queues, report));
  return load(*config, &queues);
}

}  // namespace anynpu::service
