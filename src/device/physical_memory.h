// SPDX-License-Identifier: Apache-2.0
// Physical memory without an address: made or imported here, given addresses by map_memory. It
// counts against its device until the last handle and the last mapping are gone. Thread-safe.
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

// What a program asked for, by its own numbers; kept to be read back.
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
  // Zeros. `bytes` is rounded up to pages. Null `device`: memory of the host.
  static Result<std::shared_ptr<PhysicalMemory>> create(Device* device, size_t bytes);
  // Memory that a process exported, for use on `device`. It counts against the exporter's.
  static Result<std::shared_ptr<PhysicalMemory>> import(uint64_t shareable, Device& device);
  ~PhysicalMemory();

  size_t bytes() const { return file_->bytes(); }
  int32_t device_id() const { return device_id_; }
  bool imported() const { return imported_; }
  const SharedFile& file() const { return *file_; }

  // Handles of the program. A handle is freed as often as it was given out: once when it was made,
  // and once for each retain(), which gives the handle that is there, or a new one.
  Result<Handle> retain();
  Status release(Handle handle);

  PhysicalProperties properties;  // set before the first handle

  // A number that another process can import. Memory is exported once, in the process that made it;
  // again: already_exists.
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
  // A block of the device that is never touched: it stands for the memory in the device's count.
  std::shared_ptr<DeviceMemory> device_memory_;
  uintptr_t counted_ = 0;
};

// Programs import numbers of other processes alone.
Status check_importer(uint64_t shareable);
// Lets processes import the number; only for numbers that this process exported.
Status let_in(uint64_t shareable, std::span<const int32_t> pids);

}  // namespace anynpu::device

namespace anynpu {
ANYNPU_HANDLE_TYPE(device::PhysicalMemory, physical_memory);
}
