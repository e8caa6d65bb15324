// SPDX-License-Identifier: Apache-2.0
// Host memory of the program, registered with the devices. Devices here see the memory of the
// process, so they use the same address; the memory still belongs to the program and is probed on
// every use. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/result.h"
#include "device/memory.h"

namespace anynpu::device {

// Memory of a device that the host reads and writes too: for media, which is processed there. Of a
// device whose memory the host cannot read it is pinned memory of the host that counts as the
// device's. Freed by free_device.
Result<void*> allocate_shared(Device& device, size_t bytes, size_t alignment);

// Fails with already_exists when a byte of it is registered or comes from an allocation of ours.
Result<void*> register_host(void* address, size_t bytes, Access access);
// `address` is the start of registered memory; not_found otherwise.
Status unregister_host(void* address);
// The device address of registered or pinned host memory; not_found otherwise.
Result<void*> device_pointer(void* host);

struct PointerInfo {
  enum class Owner : uint8_t { unknown, host, device } owner = Owner::unknown;
  int32_t device_id = 0;
  size_t page_bytes = 0;  // 0 for memory that is not known
};
PointerInfo describe_pointer(const void* address);

}  // namespace anynpu::device
