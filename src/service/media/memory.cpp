// SPDX-License-Identifier: Apache-2.0
#include "service/media/memory.h"

#include "device/host_memory.h"
#include "device/runtime.h"

namespace anynpu::media {
namespace {

constexpr size_t kAlignment = 128;

Result<void*> allocate_on(device::Device& device, size_t bytes) {
  return device::allocate_shared(device, bytes, kAlignment);
}

}  // namespace

Result<void*> allocate(int32_t device, size_t bytes) {
  ANYNPU_ASSIGN(auto found, device::Runtime::instance().device(device));
  return allocate_on(*found, bytes);
}

Result<void*> allocate(size_t bytes) {
  ANYNPU_ASSIGN(auto context, device::Runtime::instance().current());
  return allocate_on(*context->device(), bytes);
}

}  // namespace anynpu::media
