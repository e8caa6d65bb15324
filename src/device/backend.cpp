// SPDX-License-Identifier: Apache-2.0
#include "device/backend.h"

#include <algorithm>
#include <atomic>

#include "base/plugin.h"
#include "device/cpu/cpu_device.h"
#include "device/device.h"

namespace anynpu::device {

namespace {

// One kind of GPU is in a process at a time.
std::atomic<const Backend*> pinning{nullptr};

// Plug-ins are files: nothing but a plain word may become a part of a path.
bool is_word(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  });
}

}  // namespace

Result<const Backend*> find_backend(std::string_view name) {
  if (name == kCpuBackend.name) return &kCpuBackend;
  if (!is_word(name)) {
    return fail(Code::unsupported_feature, "'{}' is not the name of a back end", name);
  }
  const std::string plugin(name);
  ANYNPU_ASSIGN(void* symbol, plugin_symbol(plugin, ("anynpu_" + plugin + "_backend").c_str()));
  const auto* const backend = static_cast<const Backend*>(symbol);
  if (backend->pin) pinning.store(backend, std::memory_order_release);
  return backend;
}

DeviceHealth health_of(Device& device) {
  const auto backend = find_backend(device.capabilities().backend);
  return backend.ok() && (*backend)->health ? (*backend)->health(device) : DeviceHealth();
}

DevicePeaks peaks_of(Device& device) {
  const auto backend = find_backend(device.capabilities().backend);
  return backend.ok() && (*backend)->peaks ? (*backend)->peaks(device) : DevicePeaks();
}

bool backend_pins() { return pinning.load(std::memory_order_acquire) != nullptr; }

std::shared_ptr<void> pin_host_memory(void* address, size_t bytes) {
  const Backend* const backend = pinning.load(std::memory_order_acquire);
  return backend ? backend->pin(address, bytes) : nullptr;
}

}  // namespace anynpu::device
