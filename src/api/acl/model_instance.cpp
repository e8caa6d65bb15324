// SPDX-License-Identifier: Apache-2.0
// Model instances, captured or built: runs, names, callbacks, conditions and prints.
#include "acl/rt/model_instance.h"

#include <algorithm>
#include <cstring>

#include "api/acl/entry.h"
#include "device/memory.h"
#include "service/instance/condition.h"
#include "service/instance/last_task.h"
#include "service/instance/print.h"
#include "service/instance/replay.h"

using namespace anynpu;
using acl::check_pointer;
using acl::enter;
using acl::from_handle;
using acl::to_handle;
using service::find_instance;
using service::Instance;

namespace {

// The modes of printing: 0 summary, 1 with arguments of kernels.
Status print(aclmdlRI instance, const char* path, uint32_t flags) {
  ANYNPU_TRY(check_pointer(path, "path"));
  if (flags > 1) {
    return fail(Code::invalid_argument, "flags is {}; expected 0, or 1 (with arguments)", flags);
  }
  return service::print_instance(to_handle(instance), path, flags == 1);
}

Status get_name(aclmdlRI instance, uint32_t room, char* name) {
  ANYNPU_TRY(check_pointer(name, "name"));
  if (room == 0) return fail(Code::invalid_argument, "maxLen is 0; expected 1 or more");
  ANYNPU_ASSIGN(auto found, find_instance(to_handle(instance)));
  const std::string text = found->name().substr(0, room - 1);
  std::memcpy(name, text.c_str(), text.size() + 1);
  return {};
}

Status add_condition_task(const aclmdlRICondTaskParams& params, aclrtStream stream,
                          uint32_t flags) {
  if (flags != 0) return fail(Code::invalid_argument, "flags is {}; expected 0", flags);
  ANYNPU_TRY(check_pointer(params.modelRIArray, "modelRIArray"));
  ANYNPU_ASSIGN(const auto bodies,
                service::add_condition_task(
                    {to_handle(params.handle), static_cast<uint32_t>(params.type), params.size},
                    to_handle(stream)));
  std::transform(bodies.begin(), bodies.end(), params.modelRIArray, from_handle<aclmdlRI>);
  return {};
}

Result<std::span<const std::byte>> host_bytes(const void* data, size_t bytes) {
  if (bytes == 0) return std::span<const std::byte>();
  const size_t most = std::min(bytes, service::kMostOpInfo + 1);
  ANYNPU_TRY(device::check_host_range(data, most, device::Access::read, "infoPtr").status());
  return std::span(static_cast<const std::byte*>(data), most);
}

}  // namespace

aclError aclmdlRIExecuteAsync(aclmdlRI modelRI, aclrtStream stream) {
  return enter(__func__, [&] {
    return service::execute_instance_async(to_handle(modelRI), to_handle(stream));
  });
}

aclError aclmdlRIExecute(aclmdlRI modelRI, int32_t timeout) {
  return enter(__func__, [&] { return service::execute_instance(to_handle(modelRI), timeout); });
}

aclError aclmdlRIAbort(aclmdlRI modelRI) {
  return enter(__func__, [&] { return service::abort_instance(to_handle(modelRI)); });
}

aclError aclmdlRIDestroy(aclmdlRI modelRI) {
  return enter(__func__, [&] { return Instance::destroy(to_handle(modelRI)); });
}

aclError aclmdlRISetName(aclmdlRI modelRI, const char* name) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(name, "name"));
    ANYNPU_ASSIGN(auto found, find_instance(to_handle(modelRI)));
    found->set_name(name);
    return {};
  });
}

aclError aclmdlRIGetName(aclmdlRI modelRI, uint32_t maxLen, char* name) {
  return enter(__func__, [&] { return get_name(modelRI, maxLen, name); });
}

aclError aclmdlRIGetId(aclmdlRI modelRI, uint32_t* modelRIId) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(modelRIId, "modelRIId"));
    ANYNPU_ASSIGN(auto found, find_instance(to_handle(modelRI)));
    *modelRIId = found->id();
    return {};
  });
}

aclError aclmdlRIDebugPrint(aclmdlRI modelRI) {
  return enter(__func__, [&] { return service::log_instance(to_handle(modelRI)); });
}

aclError aclmdlRIDebugJsonPrint(aclmdlRI modelRI, const char* path, uint32_t flags) {
  return enter(__func__, [&] { return print(modelRI, path, flags); });
}

aclError aclmdlRIDestroyRegisterCallback(aclmdlRI modelRI, aclrtCallback func, void* userData) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(reinterpret_cast<const void*>(func), "func"));
    ANYNPU_ASSIGN(auto found, find_instance(to_handle(modelRI)));
    found->add_destroy_callback(func, userData);
    return {};
  });
}

aclError aclmdlRIDestroyUnregisterCallback(aclmdlRI modelRI, aclrtCallback func) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(reinterpret_cast<const void*>(func), "func"));
    ANYNPU_ASSIGN(auto found, find_instance(to_handle(modelRI)));
    return found->remove_destroy_callback(func);
  });
}

aclError aclmdlRICondHandleCreate(aclmdlRI modelRI, uint32_t defaultLaunchValue,
                                  aclmdlRICondHandleFlag flag, aclmdlRICondHandle* handle) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(handle, "handle"));
    const auto bits = static_cast<uint32_t>(flag);
    if (bits > 1) return fail(Code::invalid_argument, "flag is {}; expected 0 or 1", bits);
    ANYNPU_ASSIGN(const Handle made,
                  service::create_condition(to_handle(modelRI), defaultLaunchValue, bits == 1));
    *handle = from_handle<aclmdlRICondHandle>(made);
    return {};
  });
}

aclError aclmdlRICondHandleGetCondPtr(aclmdlRICondHandle handle, uint64_t** ptr) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(ptr, "ptr"));
    ANYNPU_ASSIGN(*ptr, service::condition_value(to_handle(handle)));
    return {};
  });
}

aclError aclmdlRIAddCondTask(aclmdlRICondTaskParams params, aclrtStream stream, uint32_t flags) {
  return enter(__func__, [&] { return add_condition_task(params, stream, flags); });
}

aclError aclrtCacheLastTaskOpInfo(const void* const infoPtr, const size_t infoSize) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(infoPtr, "infoPtr"));
    ANYNPU_ASSIGN(const auto bytes, host_bytes(infoPtr, infoSize));
    return service::cache_op_info(bytes);
  });
}

aclError aclrtCacheLastTaskExtendInfo(const char* const extendInfoPtr, const size_t infoSize) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(extendInfoPtr, "extendInfoPtr"));
    ANYNPU_ASSIGN(const auto bytes, host_bytes(extendInfoPtr, infoSize));
    return service::cache_extend_info({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  });
}
