// SPDX-License-Identifier: Apache-2.0
#include "aclruntime/tensor.h"

#include <cstdlib>

#include "acl/acl.h"
#include "aclruntime/copy_times.h"
#include "aclruntime/runtime.h"
#include "aclruntime/stage.h"
#include "base/align.h"

namespace anynpu::aclruntime {

DeviceMemory::DeviceMemory(void* data, size_t bytes, int device)
    : data_(data), bytes_(bytes), device_(device), start_(current_start()) {}

Failure DeviceMemory::allocate(size_t bytes, int device, std::shared_ptr<DeviceMemory>& memory) {
  void* data = nullptr;
  const size_t some = bytes == 0 ? 1 : bytes;
  if (const aclError error = aclrtMalloc(&data, some, ACL_MEM_MALLOC_HUGE_FIRST)) {
    return acl_failure_as(
        2, error,
        "allocating " + std::to_string(bytes) + " bytes on device " + std::to_string(device));
  }
  memory.reset(new DeviceMemory(data, bytes, device));
  return {};
}

DeviceMemory::~DeviceMemory() {
  if (start_ == current_start()) aclrtFree(data_);
}

std::shared_ptr<HostMemory> HostMemory::allocate(size_t bytes) {
  const size_t rounded = round_up(bytes, 64);
  void* data = std::aligned_alloc(64, rounded == 0 ? 64 : rounded);
  if (data == nullptr) return nullptr;
  return std::shared_ptr<HostMemory>(new HostMemory(data));
}

HostMemory::~HostMemory() { std::free(data_); }

size_t elements(const std::vector<int64_t>& shape) {
  size_t count = 1;
  for (const int64_t extent : shape) count *= static_cast<size_t>(extent);
  return count;
}

Failure move_to_host(Tensor& tensor) {
  if (tensor.place == TensorMemory::host) return {};
  const Stage stage("device to host");
  auto host = HostMemory::allocate(tensor.bytes);
  if (!host) return {2, "no host memory for " + std::to_string(tensor.bytes) + " bytes"};
  if (Failure failure = timed_copy(host->data(), tensor.bytes, tensor.device->data(), tensor.bytes,
                                   CopyKind::to_host)) {
    return failure;
  }
  tensor.host = std::move(host);
  tensor.device.reset();
  tensor.place = TensorMemory::host;
  return {};
}

Failure move_to_device(Tensor& tensor, int device, TensorMemory place) {
  if (tensor.place != TensorMemory::host && tensor.device_id() != device) {
    if (Failure failure = move_to_host(tensor)) return failure;
  }
  if (Failure failure = use_device(device)) return failure;
  if (tensor.place == TensorMemory::host) {
    std::shared_ptr<DeviceMemory> memory;
    if (Failure failure = DeviceMemory::allocate(tensor.bytes, device, memory)) return failure;
    if (Failure failure = timed_copy(memory->data(), tensor.bytes, tensor.host->data(),
                                     tensor.bytes, CopyKind::to_device)) {
      return failure;
    }
    tensor.device = std::move(memory);
    tensor.host.reset();
  }
  tensor.place = place;  // on the CPU the picture engines use the same memory
  return {};
}

}  // namespace anynpu::aclruntime
