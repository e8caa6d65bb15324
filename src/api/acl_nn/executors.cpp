// SPDX-License-Identifier: Apache-2.0
// Executors that are run again, beginning and end of the library.
#include "aclnn/aclnn_base.h"
#include "api/acl_nn/entry.h"
#include "service/aclnn/executor.h"

using namespace anynpu;
using namespace anynpu::acl_nn;
using service::NnSide;

extern "C" {

aclnnStatus aclnnInit(const char* configPath) {
  return enter(__func__, [] { return Status(); });
}
aclnnStatus aclnnFinalize(void) {
  return enter(__func__, [] { return Status(); });
}

aclnnStatus aclSetAclOpExecutorRepeatable(aclOpExecutor* executor) {
  return enter(__func__, [&] { return service::make_repeatable(to_handle(executor)); });
}
aclnnStatus aclDestroyAclOpExecutor(aclOpExecutor* executor) {
  return enter(__func__, [&] { return service::destroy_executor(to_handle(executor)); });
}

aclnnStatus aclSetInputTensorAddr(aclOpExecutor* executor, const size_t index, aclTensor* tensor,
                                  void* addr) {
  return enter(__func__, [&] {
    return service::set_tensor_address(to_handle(executor), NnSide::inputs, index, addr);
  });
}
aclnnStatus aclSetOutputTensorAddr(aclOpExecutor* executor, const size_t index, aclTensor* tensor,
                                   void* addr) {
  return enter(__func__, [&] {
    return service::set_tensor_address(to_handle(executor), NnSide::outputs, index, addr);
  });
}
aclnnStatus aclSetTensorAddr(aclOpExecutor* executor, const size_t index, aclTensor* tensor,
                             void* addr) {
  return enter(__func__, [&] {
    return service::set_tensor_address(to_handle(executor), NnSide::all, index, addr);
  });
}
aclnnStatus aclSetDynamicInputTensorAddr(aclOpExecutor* executor, size_t irIndex,
                                         const size_t relativeIndex, aclTensorList* tensors,
                                         void* addr) {
  return enter(__func__, [&] {
    return service::set_list_address(to_handle(executor), NnSide::inputs, irIndex, relativeIndex,
                                     addr);
  });
}
aclnnStatus aclSetDynamicOutputTensorAddr(aclOpExecutor* executor, size_t irIndex,
                                          const size_t relativeIndex, aclTensorList* tensors,
                                          void* addr) {
  return enter(__func__, [&] {
    return service::set_list_address(to_handle(executor), NnSide::outputs, irIndex, relativeIndex,
                                     addr);
  });
}
aclnnStatus aclSetDynamicTensorAddr(aclOpExecutor* executor, size_t irIndex,
                                    const size_t relativeIndex, aclTensorList* tensors,
                                    void* addr) {
  return enter(__func__, [&] {
    return service::set_list_address(to_handle(executor), NnSide::all, irIndex, relativeIndex,
                                     addr);
  });
}
aclnnStatus AclSetInputTensorAddr(aclOpExecutor* executor, const size_t index, aclTensor* tensor,
                                  void* addr) {
  return enter(__func__, [&] {
    return service::set_tensor_address(to_handle(executor), NnSide::inputs, index, addr);
  });
}
aclnnStatus AclSetOutputTensorAddr(aclOpExecutor* executor, const size_t index, aclTensor* tensor,
                                   void* addr) {
  return enter(__func__, [&] {
    return service::set_tensor_address(to_handle(executor), NnSide::outputs, index, addr);
  });
}
aclnnStatus AclSetTensorAddr(aclOpExecutor* executor, const size_t index, aclTensor* tensor,
                             void* addr) {
  return enter(__func__, [&] {
    return service::set_tensor_address(to_handle(executor), NnSide::all, index, addr);
  });
}
aclnnStatus AclSetDynamicInputTensorAddr(aclOpExecutor* executor, size_t irIndex,
                                         const size_t relativeIndex, aclTensorList* tensors,
                                         void* addr) {
  return enter(__func__, [&] {
    return service::set_list_address(to_handle(executor), NnSide::inputs, irIndex, relativeIndex,
                                     addr);
  });
}
aclnnStatus AclSetDynamicOutputTensorAddr(aclOpExecutor* executor, size_t irIndex,
                                          const size_t relativeIndex, aclTensorList* tensors,
                                          void* addr) {
  return enter(__func__, [&] {
    return service::set_list_address(to_handle(executor), NnSide::outputs, irIndex, relativeIndex,
                                     addr);
  });
}
aclnnStatus AclSetDynamicTensorAddr(aclOpExecutor* executor, size_t irIndex,
                                    const size_t relativeIndex, aclTensorList* tensors,
                                    void* addr) {
  return enter(__func__, [&] {
    return service::set_list_address(to_handle(executor), NnSide::all, irIndex, relativeIndex,
                                     addr);
  });
}

}  // extern "C"
