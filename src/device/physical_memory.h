// SPDX-License-Identifier: Apache-2.0
// Physical memory without an address: created or imported here, mapped to addresses by map_memory.
// It counts as used on its device until the last handle and the last mapping are gone. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>

#include "base/handle_table.h"
#include "base/result.h"
#include "base/shared_file.h"
#include "device/device.h"

namespace anynpu::device {

// The properties that a program requested, as its own numbers; stored for queries.
struct PhysicalProperties {
  int32_t handle_type = 0;
  int32_t allocation_type = 0;
  int32_t attribute = 0;
  int32_t location_type = 0;
  uint32_t location_id = 0;
  uint64_t reserve = 0;
};

class PhysicalMemory : public std::enable_shared_from_this<PhysicalMemory> {
 public:
  // Zero-filled; `bytes` is rounded up to pages. Null `device`: host memory.
  static Result<std::shared_ptr<PhysicalMemory>> create(Device* device, size_t bytes);
  // Memory exported by a process, for use on `device`. It counts as used on the exporter's device.
  static Result<std::shared_ptr<PhysicalMemory>> import(uint64_t shareable, Device& device);
  ~PhysicalMemory();

  size_t bytes() const { return file_->bytes(); }
  int32_t device_id() const { return device_id_; }
  bool imported() const { return imported_; }
  const SharedFile& file() const { return *file_; }

  // Handles of the program. A handle must be freed as often as it was returned: once for its
  // creation, and once for each retain(), which returns the existing handle or a new one.
  Result<Handle> retain();
  Status release(Handle handle);

  PhysicalProperties properties;  // set before the first handle

  // A number that another process can import. Memory can be exported once, by the process that
  // created it; already_exists otherwise.
  Result<uint64_t> export_number(SharedFile::Admit admit);

  PhysicalMemory(const PhysicalMemory&) = delete;
  PhysicalMemory& operator=(const PhysicalMemory&) = delete;

 private:
  PhysicalMemory() = default;

  std::shared_ptr<SharedFile> file_;
  int32_t device_id_ = -1;
  bool imported_ = false;
  std::mutex handle_mutex_;  // guards the two below
  Handle handle_ = 0;
  int handle_uses_ = 0;
  // A block of the device that is never touched: it only counts as used memory.
  std::shared_ptr<DeviceMemory> device_memory_;
  uintptr_t counted_ = 0;
};

// Programs can import only numbers of other processes.
Status check_importer(uint64_t shareable);
// Lets processes import the number; only for numbers that this process exported.
Status let_in(uint64_t shareable, std::span<const int32_t> pids);

}  // namespace anynpu::device

namespace anynpu {
ANYNPU_HANDLE_TYPE(device::PhysicalMemory, physical_memory);
}
