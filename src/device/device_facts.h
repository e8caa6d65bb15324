// SPDX-License-Identifier: Apache-2.0
// What tools show about devices of a back end that knows it (Backend::health, Backend::peaks).
#pragma once

#include <cstdint>
#include <string>

namespace anynpu::device {

class Device;

// What the machine knows about a device, all processes together; negative: unknown.
struct DeviceHealth {
  std::string product;                          // "NVIDIA H200"; "" for a device without a card
  std::string bus;                              // "0000:19:00.0"
  int64_t memory_total = -1, memory_used = -1;  // bytes
  int32_t load_percent = -1, temperature_c = -1;
  double power_w = -1;
};

// Rates that were measured on a device, per second; 0: unknown.
struct DevicePeaks {
  double bytes = 0;                   // moved, read and written
  double flops_16 = 0, flops_32 = 0;  // of matrix products with 16 and 32-bit floats
};

DeviceHealth health_of(Device& device);
// The first call for a device may take seconds.
DevicePeaks peaks_of(Device& device);

}  // namespace anynpu::device
