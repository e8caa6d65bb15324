// SPDX-License-Identifier: Apache-2.0
// Memory on the host or on a device, and a tensor in one of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "aclruntime/failure.h"

namespace anynpu::aclruntime {

class DeviceMemory {
 public:
  // On the device of the current context. `picture`: memory that the media units can use.
  static Failure allocate(size_t bytes, int device, std::shared_ptr<DeviceMemory>& memory);
  ~DeviceMemory();
  void* data() const { return data_; }
  size_t bytes() const { return bytes_; }
  int device() const { return device_; }

  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

 private:
  DeviceMemory(void* data, size_t bytes, int device);
  void* const data_;
  const size_t bytes_;
  const int device_;
  const unsigned start_;
};

class HostMemory {
 public:
  // Aligned to 64 bytes; null when there is none.
  static std::shared_ptr<HostMemory> allocate(size_t bytes);
  ~HostMemory();
  void* data() const { return data_; }

  HostMemory(const HostMemory&) = delete;
  HostMemory& operator=(const HostMemory&) = delete;

 private:
  explicit HostMemory(void* data) : data_(data) {}
  void* const data_;
};

enum class TensorMemory { host = 0, device = 1, dvpp = 2 };

// Exactly one of the two memories is set. Copies share it.
struct Tensor {
  std::vector<int64_t> shape;
  aclDataType dtype = ACL_UINT8;
  size_t bytes = 0;
  TensorMemory place = TensorMemory::host;
  std::shared_ptr<HostMemory> host;
  std::shared_ptr<DeviceMemory> device;

  int device_id() const { return device ? device->device() : -1; }
};

// Element count of a shape; 1 for an empty one.
size_t elements(const std::vector<int64_t>& shape);

// Each moves the tensor, unless it is there already. A context of its device must be
// current.
Failure move_to_host(Tensor& tensor);
Failure move_to_device(Tensor& tensor, int device, TensorMemory place);

}  // namespace anynpu::aclruntime
