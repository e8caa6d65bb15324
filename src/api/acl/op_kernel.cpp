// SPDX-License-Identifier: Apache-2.0
// Custom operators with a selector (guide 6.7): kernels by id, the function that chooses one and
// its tiling data for the shapes at hand, and the call that asks it.
#include <map>
#include <mutex>

#include "acl/acl_op.h"
#include "api/acl/entry.h"
#include "api/acl/op_call.h"
#include "device/memory.h"
#include "exec/custom_op.h"

namespace anynpu::acl {

namespace {

constexpr int kMostWorkspaces = 128;
constexpr size_t kMostWorkspaceBytes = size_t{1} << 30;
constexpr uint32_t kMostTiling = 1u << 20;

// aclopKernelDesc: lives while the selector runs.
struct KernelDesc {
  exec::KernelChoice choice;
  bool chosen = false;
};

struct Selectors {
  std::mutex mutex;
  std::map<std::string, aclopCompileFunc> by_type;
};
Selectors& selectors() {
  static auto* s = new Selectors;
  return *s;
}

void forget_custom_ops() {
  exec::CustomOps::instance().clear();
  const std::lock_guard lock(selectors().mutex);
  selectors().by_type.clear();
}
void prepare_custom_ops() {
  static const bool once = (on_finalize(forget_custom_ops), true);
  (void)once;
}

Status check_op_text(const char* text, const char* name) {
  ANYNPU_TRY(check_pointer(text, name));
  if (*text != '\0') return {};
  return fail(Code::invalid_argument, "{} is empty; expected a name", name);
}

}  // namespace

}  // namespace anynpu::acl

namespace anynpu {
ANYNPU_HANDLE_TYPE(acl::KernelDesc, kernel_desc);
}

namespace anynpu::acl {

namespace {

// A handle for as long as the selector runs.
class OpenKernelDesc {
 public:
  OpenKernelDesc() : desc_(std::make_shared<KernelDesc>()) {
    handle_ = HandleTable::instance().insert(desc_);
  }
  ~OpenKernelDesc() { HandleTable::instance().remove<KernelDesc>(handle_); }
  OpenKernelDesc(const OpenKernelDesc&) = delete;
  OpenKernelDesc& operator=(const OpenKernelDesc&) = delete;
  aclopKernelDesc* handle() const { return from_handle<aclopKernelDesc*>(handle_); }
  KernelDesc& operator*() const { return *desc_; }

 private:
  std::shared_ptr<KernelDesc> desc_;
  Handle handle_;
};

Failure update_params(const OpArguments& arguments) {
  auto op = read_op(arguments);
  if (!op.ok()) return op.status();
  aclopCompileFunc selector = nullptr;
  {
    const std::lock_guard lock(selectors().mutex);
    const auto found = selectors().by_type.find(op->type);
    if (found != selectors().by_type.end()) selector = found->second;
  }
  if (!selector) {
    return fail(Code::unsupported_op,
                "operator '{}' has no selector; call aclopRegisterCompileFunc first", op->type);
  }
  OpenKernelDesc desc;
  const aclError answer = selector(arguments.inputs, arguments.input_desc, arguments.outputs,
                                   arguments.output_desc, arguments.attr, desc.handle());
  if (answer != ACL_SUCCESS) {
    return {answer, fail(Code::task_failed, "the selector of {} returned {}", op->type, answer)};
  }
  if (!(*desc).chosen) {
    return fail(Code::bad_call_order,
                "the selector of {} chose no kernel; it has to call aclopSetKernelArgs", op->type);
  }
  return exec::CustomOps::instance().choose(op->type, singleop::key_of(*op),
                                            std::move((*desc).choice));
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
    ANYNPU_TRY(check_op_text(opType, "opType"));
    ANYNPU_TRY(check_op_text(kernelId, "kernelId"));
    ANYNPU_TRY(check_op_text(kernelName, "kernelName"));
    ANYNPU_TRY(check_pointer(binData, "binData"));
    if (binSize <= 0) {
      return fail(Code::invalid_argument, "binSize is {}; expected the bytes of an object",
                  binSize);
    }
    if (enginetype < ACL_ENGINE_SYS || enginetype > ACL_ENGINE_VECTOR) {
      return fail(Code::invalid_argument, "enginetype is {}; expected 0 to 2", enginetype);
    }
    const auto bytes = static_cast<size_t>(binSize);
    ANYNPU_ASSIGN(auto range, device::check_range(binData, bytes, device::Access::read, "binData"));
    const auto object = std::as_bytes(std::span(range.address, bytes));
    ANYNPU_ASSIGN(auto module, exec::DeviceKernel::load(object), "kernel '{}' of operator {}",
                  kernelId, opType);
    ANYNPU_ASSIGN(auto kernel, exec::DeviceKernel::find(std::move(module), kernelName),
                  "kernel '{}' of operator {}", kernelId, opType);
    prepare_custom_ops();
    exec::CustomOps::instance().add_kernel(opType, kernelId, std::move(kernel));
    if (deallocator) deallocator(binData, bytes);  // the object was linked: it is not needed again
    return {};
  });
}

aclError aclopRegisterCompileFunc(const char* opType, aclopCompileFunc func) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_op_text(opType, "opType"));
    ANYNPU_TRY(check_pointer(reinterpret_cast<const void*>(func), "func"));
    prepare_custom_ops();
    const std::lock_guard lock(selectors().mutex);
    if (!selectors().by_type.emplace(opType, func).second) {
      return fail(Code::already_exists,
                  "operator '{}' has a selector; call aclopUnregisterCompileFunc first", opType);
    }
    return {};
  });
}

aclError aclopUnregisterCompileFunc(const char* opType) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_op_text(opType, "opType"));
    const std::lock_guard lock(selectors().mutex);
    if (selectors().by_type.erase(opType) > 0) return {};
    return fail(Code::invalid_argument, "operator '{}' has no selector", opType);
  });
}

aclError aclopSetKernelArgs(aclopKernelDesc* kernelDesc, const char* kernelId, uint32_t blockDim,
                            const void* args, uint32_t argSize) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_ASSIGN(auto pin, resolve<KernelDesc>(to_handle(kernelDesc)));
    ANYNPU_TRY(check_op_text(kernelId, "kernelId"));
    ANYNPU_TRY(exec::DeviceKernel::check_blocks(blockDim));
    if (argSize > kMostTiling) {
      return fail(Code::invalid_argument, "argSize is {}; expected at most {}", argSize,
                  kMostTiling);
    }
    exec::KernelChoice& choice = pin->choice;
    choice.tiling.clear();
    if (argSize > 0) {
      ANYNPU_ASSIGN(auto range, device::check_range(args, argSize, device::Access::read, "args"));
      const auto* from = reinterpret_cast<const std::byte*>(range.address);
      choice.tiling.assign(from, from + argSize);
    }
    choice.kernel_id = kernelId;
    choice.blocks = blockDim;
    pin->chosen = true;
    return {};
  });
}

aclError aclopSetKernelWorkspaceSizes(aclopKernelDesc* kernelDesc, int numWorkspaces,
                                      size_t* workspaceSizes) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_ASSIGN(auto pin, resolve<KernelDesc>(to_handle(kernelDesc)));
    if (numWorkspaces < 0 || numWorkspaces > kMostWorkspaces) {
      return fail(Code::invalid_argument, "numWorkspaces is {}; expected 0 to {}", numWorkspaces,
                  kMostWorkspaces);
    }
    std::vector<size_t> sizes;
    if (numWorkspaces > 0) {
      const size_t bytes = sizeof(size_t) * static_cast<size_t>(numWorkspaces);
      ANYNPU_TRY(device::check_range(workspaceSizes, bytes, device::Access::read, "workspaceSizes")
                     .status());
      sizes.assign(workspaceSizes, workspaceSizes + numWorkspaces);
    }
    for (size_t size : sizes) {
      if (size <= kMostWorkspaceBytes) continue;
      return fail(Code::invalid_argument, "a workspace of {} bytes; expected at most {}", size,
                  kMostWorkspaceBytes);
    }
    pin->choice.workspaces = std::move(sizes);
    return {};
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
