// SPDX-License-Identifier: Apache-2.0
// Streams and tasks of model instances: read, changed, disabled.
#include <algorithm>
#include <cstring>

#include "acl/rt/model_instance.h"
#include "api/acl/entry.h"
#include "service/instance/tasks.h"

using namespace anynpu;
using acl::check_pointer;
using acl::enter;
using acl::from_handle;
using acl::to_handle;
using service::TaskParameters;
using service::TaskType;

namespace {

// Two calls: without an array the number, then as many as it holds.
Status give_list(const std::vector<Handle>& handles, void** array, uint32_t* count) {
  const uint32_t room = *count;
  const auto found = static_cast<uint32_t>(handles.size());
  if (!array) {
    *count = found;
    return {};
  }
  if (room < found) {
    return fail(Code::array_too_small, "the array has room for {}; there are {}", room, found);
  }
  std::transform(handles.begin(), handles.end(), array, from_handle<void*>);
  *count = found;
  return {};
}

void write_event(const TaskParameters& from, aclmdlRIEventRecordTaskParams& to) {
  to.event = from_handle<aclrtEvent>(from.event);
  to.eventFlag = from.event_flags;
  to.recordFlag = from.use;
}

// The three event structs have the same members in the same places.
static_assert(sizeof(aclmdlRIEventRecordTaskParams) == sizeof(aclmdlRIEventWaitTaskParams) &&
              sizeof(aclmdlRIEventRecordTaskParams) == sizeof(aclmdlRIEventResetTaskParams));

void write_params(const TaskParameters& from, aclmdlRITaskParams& to) {
  to = {};
  to.type = static_cast<aclmdlRITaskType>(from.type);
  to.taskGrp = from_handle<aclrtTaskGrp>(from.group);
  to.opInfoPtr = from.op_info.empty() ? nullptr : const_cast<std::byte*>(from.op_info.data());
  to.opInfoSize = from.op_info.size();
  switch (from.type) {
    case TaskType::kernel:
      to.kernelTaskParams.funcHandle = from_handle<aclrtFuncHandle>(from.function);
      to.kernelTaskParams.args = const_cast<void*>(from.arguments);
      to.kernelTaskParams.argsSize = from.argument_bytes;
      to.kernelTaskParams.numBlocks = from.blocks;
      break;
    case TaskType::event_record:
    case TaskType::event_wait:
    case TaskType::event_reset:
      write_event(from, to.eventRecordTaskParams);
      break;
    case TaskType::value_write:
      to.valueWriteTaskParams = {from.value.address, from.value.value};
      break;
    case TaskType::value_wait:
      to.valueWaitTaskParams = {from.value.address, from.value.value, from.value.condition};
      break;
    case TaskType::other:
      break;
  }
}

TaskParameters read_params(const aclmdlRITaskParams& from) {
  TaskParameters to;
  to.type = static_cast<TaskType>(from.type);
  if (to.type == TaskType::kernel) {
    to.function = to_handle(from.kernelTaskParams.funcHandle);
    to.arguments = from.kernelTaskParams.args;
    to.host_arguments = from.kernelTaskParams.isHostArgs != 0;
    to.argument_bytes = from.kernelTaskParams.argsSize;
    to.blocks = from.kernelTaskParams.numBlocks;
  } else if (to.type == TaskType::value_write) {
    to.value = {from.valueWriteTaskParams.devAddr, from.valueWriteTaskParams.value, 0};
  } else if (to.type == TaskType::value_wait) {
    to.value = {from.valueWaitTaskParams.devAddr, from.valueWaitTaskParams.value,
                from.valueWaitTaskParams.flag};
  }
  return to;
}

Status get_attribute(aclmdlRITask task, aclrtLaunchKernelAttrId id,
                     aclrtLaunchKernelAttrValue* value) {
  ANYNPU_TRY(check_pointer(value, "attrValue"));
  const auto number = static_cast<int32_t>(id);
  if (number < ACL_RT_LAUNCH_KERNEL_ATTR_SCHEM_MODE ||
      number > ACL_RT_LAUNCH_KERNEL_ATTR_ENABLE_PROFILING ||
      (number >= ACL_RT_LAUNCH_KERNEL_ATTR_ENGINE_TYPE &&
       number <= ACL_RT_LAUNCH_KERNEL_ATTR_BLOCK_TASK_PREFETCH)) {
    return fail(Code::invalid_argument,
                "attribute {} cannot be read of a task; expected 1, 2 or 6 to 9", number);
  }
  ANYNPU_ASSIGN(const auto bytes, service::kernel_attribute(to_handle(task), number));
  std::memset(value, 0, sizeof *value);
  if (!bytes.empty()) std::memcpy(value, bytes.data(), std::min(bytes.size(), sizeof *value));
  return {};
}

}  // namespace

aclError aclmdlRIGetStreams(aclmdlRI modelRI, aclrtStream* streams, uint32_t* numStreams) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(numStreams, "numStreams"));
    ANYNPU_ASSIGN(const auto handles, service::streams_of_instance(to_handle(modelRI)));
    return give_list(handles, streams, numStreams);
  });
}

aclError aclmdlRIGetTasksByStream(aclrtStream stream, aclmdlRITask* tasks, uint32_t* numTasks) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(numTasks, "numTasks"));
    ANYNPU_ASSIGN(const auto handles, service::tasks_of_stream(to_handle(stream)));
    return give_list(handles, tasks, numTasks);
  });
}

aclError aclmdlRITaskGetType(aclmdlRITask task, aclmdlRITaskType* type) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(type, "type"));
    ANYNPU_ASSIGN(const auto found, service::task_parameters(to_handle(task)));
    *type = static_cast<aclmdlRITaskType>(found.type);
    return {};
  });
}

aclError aclmdlRITaskGetSeqId(aclmdlRITask task, uint32_t* id) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(id, "id"));
    ANYNPU_ASSIGN(const auto found, service::task_parameters(to_handle(task)));
    *id = found.number;
    return {};
  });
}

aclError aclmdlRITaskGetParams(aclmdlRITask task, aclmdlRITaskParams* params) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(params, "params"));
    ANYNPU_ASSIGN(const auto found, service::task_parameters(to_handle(task)));
    write_params(found, *params);
    return {};
  });
}

aclError aclmdlRITaskSetParams(aclmdlRITask task, aclmdlRITaskParams* params) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(params, "params"));
    return service::set_task_parameters(to_handle(task), read_params(*params));
  });
}

aclError aclmdlRIKernelTaskGetAttribute(aclmdlRITask task, aclrtLaunchKernelAttrId attrId,
                                        aclrtLaunchKernelAttrValue* attrValue) {
  return enter(__func__, [&] { return get_attribute(task, attrId, attrValue); });
}

aclError aclmdlRITaskDisable(aclmdlRITask task) {
  return enter(__func__, [&] { return service::disable_task(to_handle(task)); });
}

aclError aclmdlRIUpdate(aclmdlRI modelRI) {
  return enter(__func__, [&] { return service::update_instance(to_handle(modelRI)); });
}
