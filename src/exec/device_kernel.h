// SPDX-License-Identifier: Apache-2.0
// A custom kernel (an object of the HPE toolchain) on the cores of an NPC cluster. The memory it
// works on is copied into the cluster's address space and back; the trace shows the copies.
// Thread-safe; launches of the cluster run one after another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace anynpu::device {
struct Allocation;
}
namespace anynpu::npc {
class Module;
}

namespace anynpu::exec {

// A piece of the program's memory that a launch works on.
struct KernelRegion {
  enum class Back : uint8_t {
    none,     // only read
    all,      // the whole piece is written by this launch
    changed,  // only what the kernel changed: others may write the rest
  };
  std::byte* data = nullptr;
  size_t bytes = 0;
  Back back = Back::none;
  std::shared_ptr<device::Allocation> owner;  // null: kept alive elsewhere
};

// One word that a kernel gets.
struct KernelArgument {
  enum class Kind : uint8_t {
    word,    // `word` itself
    region,  // the address of byte `word` of regions[index]
    copy,    // the address of byte `word` of a copy of copies[index], which is not brought back
  };
  Kind kind = Kind::word;
  uint32_t word = 0;
  uint32_t index = 0;
};

// Memory that a launch was given, or bytes of it that the kernel changed.
struct KernelPiece {
  const std::byte* data = nullptr;
  size_t bytes = 0;
  bool changed = false;
};

struct KernelLaunch {
  uint32_t blocks = 1;
  uint64_t timeout_ns = 0;  // 0: none
  std::vector<KernelRegion> regions;
  std::vector<std::vector<std::byte>> copies;
  std::vector<KernelArgument> arguments;
  std::function<void(std::string_view text)> print;  // of the kernel's printf; null: stdout
  // Called at the end with the regions whose `back` is `changed`; may be null.
  std::function<void(std::span<const KernelPiece> pieces)> touched;
};

class DeviceKernel {
 public:
  // More blocks than a cluster has cores take turns on them (npc::LaunchRequest::blocks).
  static Status check_blocks(uint32_t blocks);

  // `object` is a relocatable RV32 ELF; any bytes are safe to pass.
  static Result<std::shared_ptr<npc::Module>> load(std::span<const std::byte> object);
  // The function `name` of a loaded object; not_found names those that are there.
  static Result<std::shared_ptr<DeviceKernel>> find(std::shared_ptr<npc::Module> module,
                                                    std::string name);

  const std::string& name() const { return name_; }
  uint32_t address() const;  // in the cluster
  const npc::Module& module() const { return *module_; }

  // Runs to the end. A trap is kernel_failed; its report goes to standard error.
  Status run(const KernelLaunch& launch) const;

 private:
  // With regions that the host can access.
  Status run(const KernelLaunch& launch, std::span<const KernelRegion> regions,
             std::vector<KernelPiece>& pieces) const;

  std::string name_;
  std::shared_ptr<npc::Module> module_;
};

}  // namespace anynpu::exec
