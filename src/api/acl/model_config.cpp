// SPDX-License-Identifier: Apache-2.0
// Loading by configuration: aclmdlConfigHandle gathers attributes, aclmdlLoadWithConfig loads by
// them. Also the options of one execution, aclmdlExecConfigHandle.
#include <cstring>

#include "acl/mdl/config.h"
#include "acl/mdl/execute.h"
#include "api/acl/object_calls.h"
#include "api/acl/queue_report.h"
#include "service/check_pointer.h"
#include "service/model/execute.h"
#include "service/model/load_config.h"

namespace anynpu::acl {

namespace {

using service::ExecuteConfig;
using service::LoadConfig;

static_assert(ACL_MDL_LOAD_FROM_FILE == static_cast<int>(service::LoadType::file) &&
              ACL_MDL_LOAD_FROM_MEM_WITH_Q ==
                  static_cast<int>(service::LoadType::memory_with_queues));

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

Status set_attribute(LoadConfig& config, aclmdlConfigAttr attr, const void* value, size_t size) {
  switch (attr) {
    case ACL_MDL_LOAD_TYPE_SIZET:
      return read_value(value, size, config.type);
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
      return read_value(value, size, config.queues.input_count);
    case ACL_MDL_INPUTQ_ADDR_PTR:
      return read_value(value, size, config.queues.inputs);
    case ACL_MDL_OUTPUTQ_NUM_SIZET:
      return read_value(value, size, config.queues.output_count);
    case ACL_MDL_OUTPUTQ_ADDR_PTR:
      return read_value(value, size, config.queues.outputs);
    default:
      return fail(Code::invalid_argument,
                  "attribute {} of the load configuration is not known; expected 0 to 29",
                  static_cast<int>(attr));
  }
}

Status set_exec_attribute(ExecuteConfig& config, aclmdlExecConfigAttr attr, const void* value,
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
  return create<aclmdlConfigHandle*, service::LoadConfig>(__func__);
}

aclError aclmdlDestroyConfigHandle(aclmdlConfigHandle* handle) {
  return destroy<service::LoadConfig>(__func__, handle);
}

aclError aclmdlSetConfigOpt(aclmdlConfigHandle* handle, aclmdlConfigAttr attr,
                            const void* attrValue, size_t valueSize) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_ASSIGN(auto config, resolve<service::LoadConfig>(to_handle(handle)));
    const std::lock_guard lock(config->mutex);
    return set_attribute(*config, attr, attrValue, valueSize);
  });
}

aclError aclmdlSetExternalWeightAddress(aclmdlConfigHandle* handle, const char* weightFileName,
                                        void* devPtr, size_t size) {
  return enter(__func__, [&] {
    return service::set_weight_file(to_handle(handle), weightFileName, devPtr, size);
  });
}

aclError aclmdlLoadWithConfig(const aclmdlConfigHandle* handle, uint32_t* modelId) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(modelId, "modelId"));
    ANYNPU_ASSIGN(*modelId, service::load_by_config(to_handle(handle), report_queue_run));
    return {};
  });
}

aclmdlExecConfigHandle* aclmdlCreateExecConfigHandle(void) {
  return create<aclmdlExecConfigHandle*, service::ExecuteConfig>(__func__);
}

aclError aclmdlDestroyExecConfigHandle(const aclmdlExecConfigHandle* handle) {
  return destroy<service::ExecuteConfig>(__func__, handle);
}

aclError aclmdlSetExecConfigOpt(aclmdlExecConfigHandle* handle, aclmdlExecConfigAttr attr,
                                const void* attrValue, size_t valueSize) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_ASSIGN(auto config, resolve<service::ExecuteConfig>(to_handle(handle)));
    return set_exec_attribute(*config, attr, attrValue, valueSize);
  });
}

}  // extern "C"
