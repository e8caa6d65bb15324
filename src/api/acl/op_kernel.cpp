// SPDX-License-Identifier: Apache-2.0
// Custom operators with a selector (guide 6.7).
#include "acl/acl_op.h"
#include "api/acl/entry.h"
#include "service/op/custom_kernels.h"
#include "service/op/op_call.h"

namespace anynpu::acl {

namespace {

using namespace service;

Status check_kernel_engine(aclopEngineType engine) {
  if (engine >= ACL_ENGINE_SYS && engine <= ACL_ENGINE_VECTOR) return {};
  return fail(Code::invalid_argument, "enginetype is {}; expected 0 to 2", engine);
}

// Asks the program's function. The number of its failure is passed on.
Failure update_params(const OpArguments& arguments) {
  ANYNPU_ASSIGN(const auto op, read_op(arguments));
  ANYNPU_ASSIGN(const auto found, service::find_selector(op.type));
  service::OpenKernelDesc desc;
  using Descs = const aclTensorDesc* const*;
  const aclError answer = reinterpret_cast<aclopCompileFunc>(found)(
      arguments.inputs, reinterpret_cast<Descs>(arguments.input_desc), arguments.outputs,
      reinterpret_cast<Descs>(arguments.output_desc), static_cast<const aclopAttr*>(arguments.attr),
      from_handle<aclopKernelDesc*>(desc.handle()));
  if (answer == ACL_SUCCESS) return service::apply_choice(op, *desc);
  return {answer, fail(Code::task_failed, "the selector of {} returned {}", op.type, answer)};
}

}  // namespace

}  // namespace anynpu::acl

using namespace anynpu;
using namespace anynpu::acl;

extern "C" {

aclError aclopCreateKernel(const char* opType, const char* kernelId, const char* kernelName,
                           void* binData, int binSize, aclopEngineType enginetype,
                           aclDataDeallocator deallocator) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_kernel_engine(enginetype));
    ANYNPU_TRY(service::add_custom_kernel(opType, kernelId, kernelName, binData, binSize));
    // The object was linked: it is not needed again.
    if (deallocator) deallocator(binData, static_cast<size_t>(binSize));
    return {};
  });
}

aclError aclopRegisterCompileFunc(const char* opType, aclopCompileFunc func) {
  return enter(__func__, [&] {
    return service::add_selector(opType, reinterpret_cast<service::Selector>(func));
  });
}

aclError aclopUnregisterCompileFunc(const char* opType) {
  return enter(__func__, [&] { return service::remove_selector(opType); });
}

aclError aclopSetKernelArgs(aclopKernelDesc* kernelDesc, const char* kernelId, uint32_t blockDim,
                            const void* args, uint32_t argSize) {
  return enter(__func__, [&] {
    return service::choose_kernel(to_handle(kernelDesc), kernelId, blockDim, args, argSize);
  });
}

aclError aclopSetKernelWorkspaceSizes(aclopKernelDesc* kernelDesc, int numWorkspaces,
                                      size_t* workspaceSizes) {
  return enter(__func__, [&] {
    return service::choose_workspaces(to_handle(kernelDesc), numWorkspaces, workspaceSizes);
  });
}

aclError aclopUpdateParams(const char* opType, int numInputs,
                           const aclTensorDesc* const inputDesc[], int numOutputs,
                           const aclTensorDesc* const outputDesc[], const aclopAttr* attr) {
  return enter(__func__, [&] {
    return update_params({opType, numInputs, inputDesc, numOutputs, outputDesc, attr});
  });
}

}  // extern "C"
