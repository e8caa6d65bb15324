// SPDX-License-Identifier: Apache-2.0
// Custom operators with a selector (guide 6.7): kernels by id, and the program's function that
// chooses one and its tiling data for the current shapes. Finalising drops all. Thread-safe.
#pragma once

#include <memory>
#include <string>

#include "base/handle_table.h"
#include "exec/custom_op.h"
#include "import/singleop/op.h"

namespace anynpu::service {

// What a selector fills; lives while it runs.
struct KernelDesc {
  exec::KernelChoice choice;
  bool chosen = false;
};

// Links the object and adds the kernel `kernel_name` in it to the operator under an id.
Status add_custom_kernel(const char* op_type, const char* kernel_id, const char* kernel_name,
                         const void* object, int bytes);

// The selector of an operator: a function of the program, of the type that the interface gives it.
using Selector = void (*)();
Status add_selector(const char* op_type, Selector selector);
Status remove_selector(const char* op_type);
Result<Selector> find_selector(const std::string& op_type);  // unsupported_op if there is none

// What a selector calls.
Status choose_kernel(Handle desc, const char* kernel_id, uint32_t blocks, const void* tiling,
                     uint32_t bytes);
Status choose_workspaces(Handle desc, int count, const size_t* sizes);
// Makes what the selector chose the kernel of `op`; bad_call_order if it chose nothing.
Status apply_choice(const singleop::SingleOp& op, KernelDesc& desc);

// A handle for as long as a selector runs.
class OpenKernelDesc {
 public:
  OpenKernelDesc() : desc_(std::make_shared<KernelDesc>()) {
    handle_ = HandleTable::instance().insert(desc_);
  }
  ~OpenKernelDesc();
  OpenKernelDesc(const OpenKernelDesc&) = delete;
  OpenKernelDesc& operator=(const OpenKernelDesc&) = delete;
  Handle handle() const { return handle_; }
  KernelDesc& operator*() const { return *desc_; }

 private:
  std::shared_ptr<KernelDesc> desc_;
  Handle handle_;
};

}  // namespace anynpu::service

namespace anynpu {
ANYNPU_HANDLE_TYPE(service::KernelDesc, kernel_desc);
}
