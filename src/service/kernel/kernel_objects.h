// SPDX-License-Identifier: Apache-2.0
// Objects of custom kernels behind handles: loaded binaries, their functions, and argument
// lists.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/handle_table.h"
#include "base/result.h"
#include "exec/device_kernel.h"
#include "service/failure/task_exception.h"

namespace anynpu::service {

// The bytes of an object, copied.
struct KernelBinary {
  std::vector<std::byte> object;
};

struct KernelArgs;

// Programs cannot destroy argument lists, so each function keeps its newest kMostLists and older
// ones are freed.
struct KernelFunction {
  static constexpr size_t kMostLists = 1024;

  std::shared_ptr<exec::DeviceKernel> kernel;
  Handle binary = 0;  // that it was found in
  std::mutex mutex;
  std::deque<Handle> lists;

  void keep(Handle list);
  ~KernelFunction();
};

// An object in the memory of the cluster.
struct LoadedBinary {
  std::shared_ptr<npc::Module> module;
  std::mutex mutex;
  std::map<std::string, Handle> functions;     // that were asked for
  std::map<std::string, uintptr_t> variables;  // likewise, as memory that programs may copy
  std::shared_ptr<const ExceptionCallback> on_failure;  // of its kernels; null: none

  ~LoadedBinary();
};

// A list of arguments.
struct KernelArgs {
  struct Parameter {
    std::byte* data = nullptr;
    size_t bytes = 0;
    bool place_holder = false;
    Handle handle = 0;
    std::unique_ptr<std::byte[]> own;  // null in memory of the program
  };

  std::mutex mutex;  // guards what follows
  std::shared_ptr<exec::DeviceKernel> kernel;
  std::byte* room = nullptr;  // the program's memory, if it gave any
  size_t room_bytes = 0, used = 0;
  std::vector<Parameter> parameters;
  bool finished = false;

  ~KernelArgs();
};

// One argument of a list.
struct KernelParam {
  std::weak_ptr<KernelArgs> list;
  size_t index = 0;
};

// The function of this name; the same handle each time. Fails with unknown_kernel.
Result<Handle> find_function(Handle binary, const char* name);
// The function at an address of the cluster, among those already looked up.
Result<Handle> function_at(Handle binary, uint64_t address);

}  // namespace anynpu::service

namespace anynpu {
ANYNPU_HANDLE_TYPE(service::KernelBinary, binary);
ANYNPU_HANDLE_TYPE(service::LoadedBinary, loaded_binary);
ANYNPU_HANDLE_TYPE(service::KernelFunction, function);
ANYNPU_HANDLE_TYPE(service::KernelArgs, kernel_args);
ANYNPU_HANDLE_TYPE(service::KernelParam, kernel_param);
}  // namespace anynpu
