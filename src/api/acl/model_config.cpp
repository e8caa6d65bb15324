// SPDX-License-Identifier: Apache-2.0
// Loading by configuration: aclmdlConfigHandle gathers attributes, aclmdlLoadWithConfig loads by
// them. Also the options of one execution, aclmdlExecConfigHandle.
#include <cstring>

#include "acl/mdl/config.h"
#include "acl/mdl/execute.h"
#include "api/acl/entry.h"
#include "api/acl/model_load.h"
#include "api/acl/model_objects.h"

namespace anynpu::acl {

namespace {

// `value` points to the attribute, which has a fixed size for each attribute.
template <typename T>
Status read_value(const void* value, size_t size, T& out) {
  ANYNPU_TRY(check_pointer(value, "attrValue"));
  if (size != sizeof(T)) {
    return fail(Code::invalid_argument, "valueSize is {}, expected {} for this attribute", size,
                sizeof(T));
  }
  std::memcpy(&out, value, sizeof(T));
  return {};
}

// Of an attribute that says nothing here: its value has the right type.
template <typename T>
Status check_value(const void* value, size_t size) {
  T unused{};
  return read_value(value, size, unused);
}

Status read_path(const void* value, size_t size, std::string& out) {
  const char* text = nullptr;
  ANYNPU_TRY(read_value(value, size, text));
  ANYNPU_TRY(check_pointer(text, "the path behind attrValue"));
  out = text;
  return {};
}

Status set_attribute(ModelConfig& config, aclmdlConfigAttr attr, const void* value, size_t size) {
  switch (attr) {
    case ACL_MDL_LOAD_TYPE_SIZET:
      return read_value(value, size, config.load_type);
    case ACL_MDL_PATH_PTR:
      return read_path(value, size, config.path);
    case ACL_MDL_MEM_ADDR_PTR:
      return read_value(value, size, config.memory);
    case ACL_MDL_MEM_SIZET:
      return read_value(value, size, config.memory_size);
    case ACL_MDL_WEIGHT_ADDR_PTR:
      return read_value(value, size, config.weight);
    case ACL_MDL_WEIGHT_SIZET:
      return read_value(value, size, config.weight_size);
    case ACL_MDL_WORKSPACE_ADDR_PTR:
      return read_value(value, size, config.work);
    case ACL_MDL_WORKSPACE_SIZET:
      return read_value(value, size, config.work_size);
    case ACL_MDL_WEIGHT_PATH_PTR:
      return read_path(value, size, config.weight_path);
    // Memory for parts that take none here (aclmdlQueryExeOMDesc says 0): it stays unused.
    case ACL_MDL_MODEL_DESC_PTR:
    case ACL_MDL_KERNEL_PTR:
    case ACL_MDL_KERNEL_ARGS_PTR:
    case ACL_MDL_STATIC_TASK_PTR:
    case ACL_MDL_DYNAMIC_TASK_PTR:
    case ACL_MDL_FIFO_PTR:
      return check_value<void*>(value, size);
    case ACL_MDL_MODEL_DESC_SIZET:
    case ACL_MDL_KERNEL_SIZET:
    case ACL_MDL_KERNEL_ARGS_SIZET:
    case ACL_MDL_STATIC_TASK_SIZET:
    case ACL_MDL_DYNAMIC_TASK_SIZET:
    case ACL_MDL_FIFO_SIZET:
    // How the card places and drives a model: there is nothing to choose here.
    case ACL_MDL_MEM_MALLOC_POLICY_SIZET:
    case ACL_MDL_WORKSPACE_MEM_OPTIMIZE:
      return check_value<size_t>(value, size);
    case ACL_MDL_PRIORITY_INT32:
    case ACL_MDL_WITHOUT_GRAPH_INT32:
    case ACL_NPU_PERF_MODE:
      return check_value<int32_t>(value, size);
    case ACL_MDL_INPUTQ_NUM_SIZET:
      return read_value(value, size, config.input_queue_count);
    case ACL_MDL_INPUTQ_ADDR_PTR:
      return read_value(value, size, config.input_queues);
    case ACL_MDL_OUTPUTQ_NUM_SIZET:
      return read_value(value, size, config.output_queue_count);
    case ACL_MDL_OUTPUTQ_ADDR_PTR:
      return read_value(value, size, config.output_queues);
    default:
      return fail(Code::invalid_argument,
                  "attribute {} of the load configuration is not known; expected 0 to 29",
                  static_cast<int>(attr));
  }
}

// Weight files that the program gave in memory, then those in the folder it named. Empty when it
// said nothing.
om::WeightSource weight_source(const ModelConfig& config) {
  if (config.weight_files.empty() && config.weight_path.empty()) return {};
  return [&config](const std::string& name) -> Result<om::OwnedBytes> {
    const auto given = config.weight_files.find(name);
    if (given != config.weight_files.end()) {
      const auto [address, size] = given->second;
      ANYNPU_ASSIGN(device::Range range,
                    device::check_range(address, size, device::Access::read, "devPtr"));
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

// `queues` counts for the load types with queues alone.
Result<uint32_t> load(const ModelConfig& config, ModelQueues* queues) {
  const om::WeightSource weights = weight_source(config);
  const bool with_memory = config.load_type == ACL_MDL_LOAD_FROM_FILE_WITH_MEM ||
                           config.load_type == ACL_MDL_LOAD_FROM_MEM_WITH_MEM;
  GivenMemory given;
  if (with_memory) given = {config.work, config.work_size, config.weight, config.weight_size};
  switch (config.load_type) {
    case ACL_MDL_LOAD_FROM_FILE:
    case ACL_MDL_LOAD_FROM_FILE_WITH_MEM:
    case ACL_MDL_LOAD_FROM_FILE_WITH_Q:
      if (config.path.empty()) {
        return fail(Code::invalid_argument,
                    "the load configuration has no path; set ACL_MDL_PATH_PTR (2)");
      }
      return load_model_file(config.path.c_str(), given, weights, queues);
    case ACL_MDL_LOAD_FROM_MEM:
    case ACL_MDL_LOAD_FROM_MEM_WITH_MEM:
    case ACL_MDL_LOAD_FROM_MEM_WITH_Q:
      if (!config.memory || config.memory_size == 0) {
        return fail(
            Code::invalid_argument,
            "the load configuration has no model in memory; set ACL_MDL_MEM_ADDR_PTR (3) and "
            "ACL_MDL_MEM_SIZET (4)");
      }
      return load_model_memory(config.memory, config.memory_size, given, weights, queues);
    default:
      return fail(Code::invalid_argument,
                  "the load type is {}; set ACL_MDL_LOAD_TYPE_SIZET (1) to a number from 1 to 6",
                  config.load_type);
  }
}

Failure load_configured(const ModelConfig& config, uint32_t* id) {
  const std::lock_guard lock(config.mutex);
  const bool with_queues = config.load_type == ACL_MDL_LOAD_FROM_FILE_WITH_Q ||
                           config.load_type == ACL_MDL_LOAD_FROM_MEM_WITH_Q;
  ModelQueues queues;
  if (with_queues) {
    Failure failure = find_queues(config.input_queues, config.input_queue_count,
                                  config.output_queues, config.output_queue_count, queues);
    if (!failure.ok()) return failure;
  }
  ANYNPU_ASSIGN(*id, load(config, with_queues ? &queues : nullptr));
  return {};
}

Status set_exec_attribute(ExecConfig& config, aclmdlExecConfigAttr attr, const void* value,
                          size_t size) {
  switch (attr) {
    case ACL_MDL_STREAM_SYNC_TIMEOUT:
    case ACL_MDL_EVENT_SYNC_TIMEOUT: {
      int32_t timeout_ms = 0;
      ANYNPU_TRY(read_value(value, size, timeout_ms));
      if (timeout_ms < -1) {
        return fail(Code::invalid_argument, "the timeout is {} ms; expected -1 (none) or more",
                    timeout_ms);
      }
      // A run waits for no event here.
      if (attr == ACL_MDL_STREAM_SYNC_TIMEOUT) config.stream_timeout_ms = timeout_ms;
      return {};
    }
    case ACL_MDL_WORK_ADDR_PTR: {
      void* work = nullptr;
      ANYNPU_TRY(read_value(value, size, work));
      config.work = work;
      return {};
    }
    case ACL_MDL_WORK_SIZET: {
      size_t work_size = 0;
      ANYNPU_TRY(read_value(value, size, work_size));
      config.work_size = work_size;
      return {};
    }
    // How the card shares its memory and cores between runs: there is nothing to choose here.
    case ACL_MDL_MPAIMID_SIZET:
    case ACL_MDL_AICQOS_SIZET:
    case ACL_MDL_AICOST_SIZET:
    case ACL_MDL_MEC_TIMETHR_SIZET:
      return check_value<size_t>(value, size);
    case ACL_MDL_EXEC_PRIORITY_INT32:
    case ACL_MDL_NPU_PERF_MODE:
      return check_value<int32_t>(value, size);
    default:
      return fail(Code::invalid_argument,
                  "attribute {} of an execution is not known; expected 0 "
                  "to 9",
                  static_cast<int>(attr));
  }
}

}  // namespace

}  // namespace anynpu::acl

using namespace anynpu;
using namespace anynpu::acl;

extern "C" {

aclmdlConfigHandle* aclmdlCreateConfigHandle(void) {
  return enter_value(__func__, static_cast<aclmdlConfigHandle*>(nullptr), [&] {
    return insert_object<aclmdlConfigHandle*>(std::make_shared<ModelConfig>());
  });
}

aclError aclmdlDestroyConfigHandle(aclmdlConfigHandle* handle) {
  return enter<When::before_init>(__func__,
                                  [&]() -> Status { return remove_object<ModelConfig>(handle); });
}

aclError aclmdlSetConfigOpt(aclmdlConfigHandle* handle, aclmdlConfigAttr attr,
                            const void* attrValue, size_t valueSize) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_ASSIGN(auto config, resolve<ModelConfig>(to_handle(handle)));
    const std::lock_guard lock(config->mutex);
    return set_attribute(*config, attr, attrValue, valueSize);
  });
}

aclError aclmdlSetExternalWeightAddress(aclmdlConfigHandle* handle, const char* weightFileName,
                                        void* devPtr, size_t size) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(weightFileName, "weightFileName"));
    const size_t length = std::strlen(weightFileName);
    if (length == 0 || length > 255) {
      return fail(Code::invalid_argument,
                  "weightFileName has {} characters; expected the name of a file in the folder "
                  "weight, 1 to 255",
                  length);
    }
    ANYNPU_ASSIGN(auto config, resolve<ModelConfig>(to_handle(handle)));
    ANYNPU_TRY(check_pointer(devPtr, "devPtr"));
    if (size == 0) return fail(Code::invalid_argument, "size is 0; pass the bytes of the file");
    ANYNPU_TRY(device::check_range(devPtr, size, device::Access::read, "devPtr").status());
    const std::lock_guard lock(config->mutex);
    config->weight_files[weightFileName] = {devPtr, size};
    return {};
  });
}

aclError aclmdlLoadWithConfig(const aclmdlConfigHandle* handle, uint32_t* modelId) {
  return enter(__func__, [&]() -> Failure {
    ANYNPU_TRY(check_pointer(modelId, "modelId"));
    ANYNPU_ASSIGN(auto config, resolve<ModelConfig>(to_handle(handle)));
    return load_configured(*config, modelId);
  });
}

aclmdlExecConfigHandle* aclmdlCreateExecConfigHandle(void) {
  return enter_value(__func__, static_cast<aclmdlExecConfigHandle*>(nullptr), [&] {
    return insert_object<aclmdlExecConfigHandle*>(std::make_shared<ExecConfig>());
  });
}

aclError aclmdlDestroyExecConfigHandle(const aclmdlExecConfigHandle* handle) {
  return enter<When::before_init>(__func__,
                                  [&]() -> Status { return remove_object<ExecConfig>(handle); });
}

aclError aclmdlSetExecConfigOpt(aclmdlExecConfigHandle* handle, aclmdlExecConfigAttr attr,
                                const void* attrValue, size_t valueSize) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_ASSIGN(auto config, resolve<ExecConfig>(to_handle(handle)));
    return set_exec_attribute(*config, attr, attrValue, valueSize);
  });
}

}  // extern "C"
