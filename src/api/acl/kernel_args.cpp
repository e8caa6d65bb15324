// SPDX-License-Identifier: Apache-2.0
// Lists of arguments for kernels.
#include "service/kernel/kernel_args.h"

#include "acl/rt/kernel.h"
#include "api/acl/entry.h"

using namespace anynpu;
using namespace anynpu::acl;

extern "C" {

aclError aclrtKernelArgsInit(aclrtFuncHandle funcHandle, aclrtArgsHandle* argsHandle) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(argsHandle, "argsHandle"));
    ANYNPU_ASSIGN(const Handle list, service::open_kernel_args(to_handle(funcHandle)));
    *argsHandle = from_handle<aclrtArgsHandle>(list);
    return {};
  });
}

aclError aclrtKernelArgsGetHandleMemSize(aclrtFuncHandle funcHandle, size_t* memSize) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(memSize, "memSize"));
    ANYNPU_ASSIGN(*memSize, service::kernel_args_handle_bytes(to_handle(funcHandle)));
    return {};
  });
}

aclError aclrtKernelArgsGetMemSize(aclrtFuncHandle funcHandle, size_t userArgsSize,
                                   size_t* actualArgsSize) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(actualArgsSize, "actualArgsSize"));
    ANYNPU_ASSIGN(*actualArgsSize, service::kernel_args_bytes(to_handle(funcHandle), userArgsSize));
    return {};
  });
}

aclError aclrtKernelArgsInitByUserMem(aclrtFuncHandle funcHandle, aclrtArgsHandle argsHandle,
                                      void* userHostMem, size_t actualArgsSize) {
  return enter(__func__, [&] {
    return service::open_kernel_args_in(to_handle(funcHandle), argsHandle, userHostMem,
                                        actualArgsSize);
  });
}

aclError aclrtKernelArgsAppend(aclrtArgsHandle argsHandle, void* param, size_t paramSize,
                               aclrtParamHandle* paramHandle) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(paramHandle, "paramHandle"));
    ANYNPU_ASSIGN(const Handle made, service::append_kernel_arg(argsHandle, param, paramSize));
    *paramHandle = from_handle<aclrtParamHandle>(made);
    return {};
  });
}

aclError aclrtKernelArgsAppendPlaceHolder(aclrtArgsHandle argsHandle,
                                          aclrtParamHandle* paramHandle) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(paramHandle, "paramHandle"));
    ANYNPU_ASSIGN(const Handle made, service::append_place_holder(argsHandle));
    *paramHandle = from_handle<aclrtParamHandle>(made);
    return {};
  });
}

aclError aclrtKernelArgsGetPlaceHolderBuffer(aclrtArgsHandle argsHandle,
                                             aclrtParamHandle paramHandle, size_t dataSize,
                                             void** bufferAddr) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(bufferAddr, "bufferAddr"));
    ANYNPU_ASSIGN(*bufferAddr,
                  service::place_holder_memory(argsHandle, to_handle(paramHandle), dataSize));
    return {};
  });
}

aclError aclrtKernelArgsParaUpdate(aclrtArgsHandle argsHandle, aclrtParamHandle paramHandle,
                                   void* param, size_t paramSize) {
  return enter(__func__, [&] {
    return service::update_kernel_arg(argsHandle, to_handle(paramHandle), param, paramSize);
  });
}

aclError aclrtKernelArgsFinalize(aclrtArgsHandle argsHandle) {
  return enter(__func__, [&] { return service::finish_kernel_args(argsHandle); });
}

}  // extern "C"
