// SPDX-License-Identifier: Apache-2.0
// Back ends by name: "cpu" is built in, others are plug-ins (base/plugin.h): libanynpu_<name>.so
// with a symbol `anynpu_<name>_backend`, a Backend, opened when ANYNPU_DEVICES names it.
// Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "base/result.h"
#include "device/device_facts.h"

namespace anynpu::device {

class Device;

struct DeviceOptions {
  int32_t id = 0;           // the id that programs use
  int32_t physical_id = 0;  // position in ANYNPU_DEVICES
  int32_t unit = 0;         // which of the back end's devices
  size_t memory_bytes = 0;  // ANYNPU_DEVICE_MEMORY
};

struct Backend {
  std::string_view name;
  // What N means in "name:N": a number of devices, or device N of the machine.
  enum class Number : uint8_t { count, unit } number = Number::count;
  // Cheap: a device costs nothing until it is used. Fails with what is missing and how to get it.
  Result<std::shared_ptr<Device>> (*create)(const DeviceOptions& options) = nullptr;
  // Optional: pins whole pages of host memory, so that the devices access them directly (DMA),
  // until the result is destroyed; null on failure.
  std::shared_ptr<void> (*pin)(void* address, size_t bytes) = nullptr;
  // Optional: facts for tools (device_facts.h), of a device of this back end.
  DeviceHealth (*health)(Device& device) = nullptr;
  DevicePeaks (*peaks)(Device& device) = nullptr;
};

// Fails with unsupported_feature and why the plug-in could not be opened.
Result<const Backend*> find_backend(std::string_view name);

// Whether a back end in use has `pin`, and its result; null when none has it.
bool backend_pins();
std::shared_ptr<void> pin_host_memory(void* address, size_t bytes);

}  // namespace anynpu::device
