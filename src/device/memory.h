// SPDX-License-Identifier: Apache-2.0
// Memory as programs see it: allocation on devices and host, and checks of the ranges they pass.
// Addresses are real; interior pointers are allowed everywhere except in free. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/result.h"
#include "device/device.h"
#include "device/device_memory.h"
#include "device/range_map.h"
#include "device/stream.h"

namespace anynpu::device {

struct AllocateOptions {
  size_t alignment = 64;
  size_t tail = 32;   // added after rounding the size up to 32, as the guide says
  bool huge = false;  // huge pages where the system has them
};

// A block of 1 MiB or more is rounded up to a multiple of 2 MiB, all of it usable. Fails with
// invalid_argument for 0 bytes, and with out_of_memory and the free size.
Result<void*> allocate_device(Device& device, size_t bytes, const AllocateOptions& options);
Status free_device(void* address);

// Counts `bytes` as used memory of `device` until the result is destroyed: for what the runtime
// itself keeps for a program outside the device's addresses, such as the weights of a model. Fails
// with out_of_memory like allocate_device; 0 bytes give null.
Result<std::shared_ptr<void>> occupy_device(Device& device, size_t bytes);

// Pinned host memory; works without any device.
Result<void*> allocate_host(size_t bytes);
Status free_host(void* address);

// A checked range that a program passed. `owner` keeps an allocation of ours alive while queued
// work uses it; null for the program's own memory, which was probed.
struct Range {
  uint8_t* address = nullptr;
  size_t bytes = 0;
  std::shared_ptr<Allocation> owner;

  bool on_device() const { return owner && owner->device_id >= 0; }
  bool host_readable() const { return !owner || !owner->memory || owner->memory->host_readable(); }
};
// `what` names the argument in the message ("dst").
Result<Range> check_range(const void* address, size_t bytes, Access access, const char* what);

// The same for arguments that the host reads or writes itself: unsupported_feature for memory of a
// device that it cannot read.
Result<Range> check_host_range(const void* address, size_t bytes, Access access, const char* what);
// The range, or a copy of it in memory of the host when the host cannot read it.
Result<Range> readable_range(Range range);

enum class CopyKind : int32_t {
  host_to_host = 0,
  host_to_device = 1,
  device_to_host = 2,
  device_to_device = 3,
  by_address = 4,
  host_to_buffer_to_device = 5,
  inside_device = 6,
  between_devices = 7,
};
Result<CopyKind> check_copy_kind(int32_t kind);

// The vendor's runtime copies by address, whatever the kind says; so does this one. Strict mode
// (ANYNPU_STRICT=1) refuses kinds that do not fit the addresses.
struct Copy {
  void* to = nullptr;
  size_t to_bytes = 0;  // room at `to`
  const void* from = nullptr;
  size_t bytes = 0;
  CopyKind kind = CopyKind::by_address;
};
Status copy(const Copy& request);
// Queued. A host-to-host copy is accepted and fails when the stream reaches it, as documented.
Status copy_async(const Copy& request, Stream& stream);

// `height` rows of `width` bytes, each `pitch` apart.
struct Copy2d {
  void* to = nullptr;
  size_t to_pitch = 0;
  const void* from = nullptr;
  size_t from_pitch = 0;
  size_t width = 0;
  size_t height = 0;
  CopyKind kind = CopyKind::by_address;
};
Status copy_2d(const Copy2d& request);
Status copy_2d_async(const Copy2d& request, Stream& stream);

Status fill(void* address, size_t room, int value, size_t bytes);
Status fill_async(void* address, size_t room, int value, size_t bytes, Stream& stream);

// Free and total bytes of a device.
struct MemoryInfo {
  size_t free = 0;
  size_t total = 0;
};
MemoryInfo memory_info(const Device& device);

}  // namespace anynpu::device
