// SPDX-License-Identifier: Apache-2.0
// Custom operators of the program (guide 6.7). A kernel is called with one pointer for each input,
// output and workspace, then one to its tiling data. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "exec/device_kernel.h"
#include "exec/model.h"

namespace anynpu::exec {

// What a selector chose for one operator description.
struct KernelChoice {
  std::string kernel_id;
  uint32_t blocks = 1;
  std::vector<std::byte> tiling;
  std::vector<size_t> workspaces;
};

// The launch of the chosen kernel over these tensors.
KernelLaunch launch_of(const KernelChoice& choice, std::span<const Buffer> inputs,
                       std::span<const Buffer> outputs);

// Custom operators of the process: their kernels and what was chosen for each description.
class CustomOps {
 public:
  static CustomOps& instance();

  void add_kernel(const std::string& type, const std::string& id,
                  std::shared_ptr<DeviceKernel> kernel);
  bool has_type(const std::string& type) const;
  // `key` is singleop::key_of the described operator. Fails when the kernel is not there.
  Status choose(const std::string& type, const std::string& key, KernelChoice choice);

  struct Ready {
    std::shared_ptr<DeviceKernel> kernel;
    std::shared_ptr<const KernelChoice> choice;
  };
  // Nothing chosen yet: unsupported_op and what to call.
  Result<Ready> find(const std::string& type, const std::string& key) const;
  void clear();

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::map<std::string, std::shared_ptr<DeviceKernel>>> kernels_;
  std::map<std::string, Ready> ready_;
};

}  // namespace anynpu::exec
