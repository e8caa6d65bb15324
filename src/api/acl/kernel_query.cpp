// SPDX-License-Identifier: Apache-2.0
// What is known about kernels (acl/rt/kernel_query.h).
#include "service/kernel/kernel_query.h"

#include "acl/rt/kernel_query.h"
#include "api/acl/entry.h"

using namespace anynpu;
using namespace anynpu::acl;

namespace {

Result<int64_t> function_attribute(int attribute) {
  switch (attribute) {
    case ACL_FUNC_ATTR_KERNEL_TYPE:        // 0: a kernel of AI cores, which have both units
    case ACL_FUNC_ATTR_KERNEL_RATIO:       // of units that are not apart
    case ACL_FUNC_ATTR_KERNEL_SCHED_MODE:  // 0: normal
      return int64_t{0};
    default:
      return fail(Code::invalid_argument, "attrType is {}; expected 1 to 3", attribute);
  }
}

Result<service::ParameterPlace> place_of(const void* func, size_t index) {
  ANYNPU_ASSIGN(const Handle function, service::function_named(func));
  ANYNPU_ASSIGN(const auto places, service::parameter_places(function));
  if (index < places.size()) return places[index];
  return fail(Code::invalid_argument, "paramIndex is {}; the function has {} parameters", index,
              places.size());
}

}  // namespace

extern "C" {

aclError aclrtBinaryGetDevAddress(const aclrtBinHandle binHandle, void** binAddr, size_t* binSize) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(binAddr, "binAddr"));
    ANYNPU_TRY(check_pointer(binSize, "binSize"));
    ANYNPU_ASSIGN(const auto memory, service::binary_memory(to_handle(binHandle)));
    *binAddr = memory.address;
    *binSize = memory.bytes;
    return {};
  });
}

aclError aclrtBinaryGetGlobal(aclrtBinHandle binHandle, const char* name, void** dptr,
                              size_t* size) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(dptr ? static_cast<void*>(dptr) : size, "dptr and size"));
    ANYNPU_TRY(acl::check_optional(dptr, "dptr"));
    ANYNPU_TRY(acl::check_optional(size, "size"));
    ANYNPU_ASSIGN(const auto found, service::find_variable(to_handle(binHandle), name));
    if (dptr) *dptr = found.address;
    if (size) *size = found.bytes;
    return {};
  });
}

aclError aclrtBinarySetExceptionCallback(aclrtBinHandle binHandle,
                                         aclrtOpExceptionCallback callback, void* userData) {
  return enter(__func__, [&] {
    service::ExceptionCallback told;
    if (callback) {
      told = [=](Handle info) { callback(from_handle<aclrtExceptionInfo*>(info), userData); };
    }
    return service::set_binary_callback(to_handle(binHandle), std::move(told));
  });
}

aclError aclrtFunctionGetBinary(const aclrtFuncHandle funcHandle, aclrtBinHandle* binHandle) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(binHandle, "binHandle"));
    ANYNPU_ASSIGN(const Handle binary, service::binary_of(to_handle(funcHandle)));
    *binHandle = from_handle<aclrtBinHandle>(binary);
    return {};
  });
}

aclError aclrtGetFunctionSize(aclrtFuncHandle funcHandle, size_t* aicSize, size_t* aivSize) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(aicSize, "aicSize"));
    ANYNPU_TRY(check_pointer(aivSize, "aivSize"));
    ANYNPU_ASSIGN(*aicSize, service::code_bytes(to_handle(funcHandle)));
    *aivSize = *aicSize;  // the cores have both units
    return {};
  });
}

aclError aclrtGetFunctionAttribute(aclrtFuncHandle funcHandle, aclrtFuncAttribute attrType,
                                   int64_t* attrValue) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(attrValue, "attrValue"));
    ANYNPU_TRY(resolve<service::KernelFunction>(to_handle(funcHandle)).status());
    ANYNPU_ASSIGN(*attrValue, function_attribute(static_cast<int>(attrType)));
    return {};
  });
}

aclError aclrtFunctionGetParamCount(const void* func, size_t* paramCount) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(paramCount, "paramCount"));
    ANYNPU_ASSIGN(const Handle function, service::function_named(func));
    ANYNPU_ASSIGN(const auto places, service::parameter_places(function));
    *paramCount = places.size();
    return {};
  });
}

aclError aclrtFunctionGetParamInfo(const void* func, size_t paramIndex, size_t* paramOffset,
                                   size_t* paramSize) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(paramOffset, "paramOffset"));
    ANYNPU_TRY(check_pointer(paramSize, "paramSize"));
    ANYNPU_ASSIGN(const auto place, place_of(func, paramIndex));
    *paramOffset = place.offset;
    *paramSize = place.bytes;
    return {};
  });
}

aclError aclrtFunctionGetAvailDynUbufPerBlock(void* func, uint32_t flags, size_t* dynamicUbufSize) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(dynamicUbufSize, "dynamicUbufSize"));
    if (flags != 0) return fail(Code::invalid_argument, "flags is {}; expected 0", flags);
    ANYNPU_ASSIGN(const Handle function, service::function_named(func));
    ANYNPU_TRY(resolve<service::KernelFunction>(function).status());
    *dynamicUbufSize = 0;  // no kernel is a SIMT one
    return {};
  });
}

aclError aclrtGetFuncBySymbol(const void* symbol, aclrtFuncHandle* funcHandle) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(funcHandle, "funcHandle"));
    ANYNPU_ASSIGN(const Handle function, service::function_named(symbol));
    ANYNPU_TRY(resolve<service::KernelFunction>(function).status());
    *funcHandle = from_handle<aclrtFuncHandle>(function);
    return {};
  });
}

}  // extern "C"
