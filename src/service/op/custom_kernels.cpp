// SPDX-License-Identifier: Apache-2.0
#include "service/op/custom_kernels.h"

#include <map>
#include <mutex>
#include <span>
#include <vector>

#include "device/memory.h"
#include "service/check_pointer.h"
#include "service/finalize.h"

namespace anynpu::service {

namespace {

constexpr int kMostWorkspaces = 128;
constexpr size_t kMostWorkspaceBytes = size_t{1} << 30;
constexpr uint32_t kMostTiling = 1u << 20;

struct Selectors {
  std::mutex mutex;
  std::map<std::string, Selector> by_type;
};
Selectors& selectors() {
  static auto* all = new Selectors;
  return *all;
}

void forget_custom_ops() {
  exec::CustomOps::instance().clear();
  const std::lock_guard lock(selectors().mutex);
  selectors().by_type.clear();
}

Status check_text(const char* text, const char* name) {
  ANYNPU_TRY(check_pointer(text, name));
  if (*text != '\0') return {};
  return fail(Code::invalid_argument, "{} is empty; expected a name", name);
}

}  // namespace

OpenKernelDesc::~OpenKernelDesc() { HandleTable::instance().remove<KernelDesc>(handle_); }

Status add_custom_kernel(const char* op_type, const char* kernel_id, const char* kernel_name,
                         const void* object, int bytes) {
  ANYNPU_TRY(check_text(op_type, "opType"));
  ANYNPU_TRY(check_text(kernel_id, "kernelId"));
  ANYNPU_TRY(check_text(kernel_name, "kernelName"));
  ANYNPU_TRY(check_pointer(object, "binData"));
  if (bytes <= 0) {
    return fail(Code::invalid_argument, "binSize is {}; expected the bytes of an object", bytes);
  }
  const auto size = static_cast<size_t>(bytes);
  ANYNPU_ASSIGN(auto range,
                device::check_host_range(object, size, device::Access::read, "binData"));
  ANYNPU_ASSIGN(auto module,
                exec::DeviceKernel::load(std::as_bytes(std::span(range.address, size))),
                "kernel '{}' of operator {}", kernel_id, op_type);
  ANYNPU_ASSIGN(auto kernel, exec::DeviceKernel::find(std::move(module), kernel_name),
                "kernel '{}' of operator {}", kernel_id, op_type);
  on_finalize(forget_custom_ops);
  exec::CustomOps::instance().add_kernel(op_type, kernel_id, std::move(kernel));
  return {};
}

Status add_selector(const char* op_type, Selector selector) {
  ANYNPU_TRY(check_text(op_type, "opType"));
  ANYNPU_TRY(check_pointer(reinterpret_cast<const void*>(selector), "func"));
  on_finalize(forget_custom_ops);
  const std::lock_guard lock(selectors().mutex);
  if (selectors().by_type.emplace(op_type, selector).second) return {};
  return fail(Code::already_exists,
              "operator '{}' has a selector; call aclopUnregisterCompileFunc first", op_type);
}

Status remove_selector(const char* op_type) {
  ANYNPU_TRY(check_text(op_type, "opType"));
  const std::lock_guard lock(selectors().mutex);
  if (selectors().by_type.erase(op_type) > 0) return {};
  return fail(Code::invalid_argument, "operator '{}' has no selector", op_type);
}

Result<Selector> find_selector(const std::string& op_type) {
  const std::lock_guard lock(selectors().mutex);
  const auto found = selectors().by_type.find(op_type);
  if (found != selectors().by_type.end()) return found->second;
  return fail(Code::unsupported_op,
              "operator '{}' has no selector; call aclopRegisterCompileFunc first", op_type);
}

Status choose_kernel(Handle desc, const char* kernel_id, uint32_t blocks, const void* tiling,
                     uint32_t bytes) {
  ANYNPU_ASSIGN(auto pin, resolve<KernelDesc>(desc));
  ANYNPU_TRY(check_text(kernel_id, "kernelId"));
  ANYNPU_TRY(exec::DeviceKernel::check_blocks(blocks));
  if (bytes > kMostTiling) {
    return fail(Code::invalid_argument, "argSize is {}; expected at most {}", bytes, kMostTiling);
  }
  exec::KernelChoice& choice = pin->choice;
  choice.tiling.clear();
  if (bytes > 0) {
    ANYNPU_ASSIGN(auto range,
                  device::check_host_range(tiling, bytes, device::Access::read, "args"));
    const auto* from = reinterpret_cast<const std::byte*>(range.address);
    choice.tiling.assign(from, from + bytes);
  }
  choice.kernel_id = kernel_id;
  choice.blocks = blocks;
  pin->chosen = true;
  return {};
}

Status choose_workspaces(Handle desc, int count, const size_t* sizes) {
  ANYNPU_ASSIGN(auto pin, resolve<KernelDesc>(desc));
  if (count < 0 || count > kMostWorkspaces) {
    return fail(Code::invalid_argument, "numWorkspaces is {}; expected 0 to {}", count,
                kMostWorkspaces);
  }
  std::vector<size_t> read;
  if (count > 0) {
    const size_t bytes = sizeof(size_t) * static_cast<size_t>(count);
    ANYNPU_TRY(
        device::check_host_range(sizes, bytes, device::Access::read, "workspaceSizes").status());
    read.assign(sizes, sizes + count);
  }
  for (size_t size : read) {
    if (size <= kMostWorkspaceBytes) continue;
    return fail(Code::invalid_argument, "a workspace of {} bytes; expected at most {}", size,
                kMostWorkspaceBytes);
  }
  pin->choice.workspaces = std::move(read);
  return {};
}

Status apply_choice(const singleop::SingleOp& op, KernelDesc& desc) {
  if (!desc.chosen) {
    return fail(Code::bad_call_order,
                "the selector of {} chose no kernel; it has to call aclopSetKernelArgs", op.type);
  }
  return exec::CustomOps::instance().choose(op.type, singleop::key_of(op), std::move(desc.choice));
}

}  // namespace anynpu::service
