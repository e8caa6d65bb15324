// SPDX-License-Identifier: Apache-2.0
// The report of failed tasks (acl.rt.set_exception_info_callback and the getters, guide 7.10).
#include "acl/rt/callback.h"
#include "acl/rt/kernel_query.h"
#include "acl/rt/state_callback.h"
#include "api/acl/entry.h"
#include "service/failure/task_exception.h"

using namespace anynpu;
using namespace anynpu::acl;
using service::TaskException;

namespace {

constexpr uint32_t kUnknownId = 0xffffffff;  // the documented answer to a wrong handle

template <typename Read>
uint32_t read_info(const char* function, const aclrtExceptionInfo* info, Read read) {
  return enter_value(function, kUnknownId, [&]() -> Result<uint32_t> {
    ANYNPU_ASSIGN(auto found, resolve<TaskException>(to_handle(info)));
    return read(*found);
  });
}

Status check_kernel(const TaskException& exception) {
  if (exception.function) return {};
  return fail(Code::invalid_argument, "task {} of stream {} is no kernel that was launched",
              exception.task, exception.stream);
}

}  // namespace

aclError aclrtSetExceptionInfoCallback(aclrtExceptionInfoCallback callback) {
  return enter(__func__, [&] {
    if (!callback) return service::set_exception_callback({});
    return service::set_exception_callback(
        [callback](Handle info) { callback(from_handle<aclrtExceptionInfo*>(info)); });
  });
}

aclError aclrtExceptionInfoCallbackRegister(aclrtExceptionInfoCallback callback) {
  return enter(__func__, [&] {
    return service::add_exception_callback(
        reinterpret_cast<const void*>(callback),
        [callback](Handle info) { callback(from_handle<aclrtExceptionInfo*>(info)); });
  });
}

aclError aclrtExceptionInfoCallbackUnregister(aclrtExceptionInfoCallback callback) {
  return enter(__func__, [&] {
    return service::remove_exception_callback(reinterpret_cast<const void*>(callback));
  });
}

uint32_t aclrtGetTaskIdFromExceptionInfo(const aclrtExceptionInfo* info) {
  return read_info(__func__, info, [](const TaskException& found) { return found.task; });
}

uint32_t aclrtGetStreamIdFromExceptionInfo(const aclrtExceptionInfo* info) {
  return read_info(__func__, info, [](const TaskException& found) { return found.stream; });
}

uint32_t aclrtGetThreadIdFromExceptionInfo(const aclrtExceptionInfo* info) {
  return read_info(__func__, info, [](const TaskException& found) { return found.thread; });
}

uint32_t aclrtGetDeviceIdFromExceptionInfo(const aclrtExceptionInfo* info) {
  return read_info(__func__, info, [](const TaskException& found) { return found.device; });
}

uint32_t aclrtGetErrorCodeFromExceptionInfo(const aclrtExceptionInfo* info) {
  return read_info(__func__, info, [](const TaskException& found) {
    return static_cast<uint32_t>(to_acl_error(found.code, Family::runtime));
  });
}

aclError aclrtGetArgsFromExceptionInfo(const aclrtExceptionInfo* info, void** devArgsPtr,
                                       uint32_t* devArgsLen) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(devArgsPtr, "devArgsPtr"));
    ANYNPU_TRY(check_pointer(devArgsLen, "devArgsLen"));
    ANYNPU_ASSIGN(const auto found, resolve<TaskException>(to_handle(info)));
    *devArgsPtr = found->arguments;
    *devArgsLen = found->argument_bytes;
    return {};
  });
}

aclError aclrtGetFuncHandleFromExceptionInfo(const aclrtExceptionInfo* info,
                                             aclrtFuncHandle* func) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(func, "func"));
    ANYNPU_ASSIGN(const auto found, resolve<TaskException>(to_handle(info)));
    ANYNPU_TRY(check_kernel(*found));
    *func = from_handle<aclrtFuncHandle>(found->function);
    return {};
  });
}
