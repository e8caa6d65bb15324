// SPDX-License-Identifier: Apache-2.0
// Objects of the kernel functions of the runtime behind their handles: what was loaded, its
// functions, and lists of arguments.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/handle_table.h"
#include "exec/device_kernel.h"

namespace anynpu::acl {

// aclrtBinary: the bytes of an object, copied.
struct KernelBinary {
  std::vector<std::byte> object;
};

struct KernelArgs;

// aclrtFuncHandle. Lists of arguments have no function that destroys them: a function keeps the
// newest ones, and the others end.
struct KernelFunction {
  static constexpr size_t kMostLists = 1024;

  std::shared_ptr<exec::DeviceKernel> kernel;
  std::mutex mutex;
  std::deque<Handle> lists;

  void keep(Handle list);
  ~KernelFunction();
};

// aclrtBinHandle: an object in the memory of the cluster.
struct LoadedBinary {
  std::shared_ptr<npc::Module> module;
  std::mutex mutex;
  std::map<std::string, Handle> functions;  // that were asked for

  ~LoadedBinary();
};

// aclrtArgsHandle
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

// aclrtParamHandle
struct KernelParam {
  std::weak_ptr<KernelArgs> list;
  size_t index = 0;
};

// The list behind a handle, or behind the program's memory that it was put into.
Result<std::shared_ptr<KernelArgs>> find_args(const void* handle);

}  // namespace anynpu::acl

namespace anynpu {
ANYNPU_HANDLE_TYPE(acl::KernelBinary, binary);
ANYNPU_HANDLE_TYPE(acl::LoadedBinary, loaded_binary);
ANYNPU_HANDLE_TYPE(acl::KernelFunction, function);
ANYNPU_HANDLE_TYPE(acl::KernelArgs, kernel_args);
ANYNPU_HANDLE_TYPE(acl::KernelParam, kernel_param);
}  // namespace anynpu
