// SPDX-License-Identifier: Apache-2.0
#include "service/kernel/kernel_objects.h"

#include "device/range_map.h"
#include "service/new_handle.h"

namespace anynpu::service {

KernelFunction::~KernelFunction() {
  for (const Handle list : lists) HandleTable::instance().remove<KernelArgs>(list);
}

void KernelFunction::keep(Handle list) {
  Handle oldest = 0;
  {
    const std::lock_guard lock(mutex);
    lists.push_back(list);
    if (lists.size() > kMostLists) {
      oldest = lists.front();
      lists.pop_front();
    }
  }
  if (oldest) HandleTable::instance().remove<KernelArgs>(oldest);
}

LoadedBinary::~LoadedBinary() {
  for (const auto& [name, handle] : functions) {
    HandleTable::instance().remove<KernelFunction>(handle);
  }
  for (const auto& [name, base] : variables) {
    device::RangeMap::instance().remove(base, device::MemoryKind::pooled);
  }
}

KernelArgs::~KernelArgs() {
  for (const Parameter& p : parameters) HandleTable::instance().remove<KernelParam>(p.handle);
}

Result<Handle> find_function(Handle binary, const char* name) {
  ANYNPU_ASSIGN(auto pin, resolve<LoadedBinary>(binary));
  LoadedBinary& loaded = *pin;
  const std::lock_guard lock(loaded.mutex);
  if (const auto known = loaded.functions.find(name); known != loaded.functions.end()) {
    return known->second;
  }
  auto kernel = exec::DeviceKernel::find(loaded.module, name);
  if (!kernel.ok()) return kernel.status().with_code(Code::unknown_kernel);
  auto function = std::make_shared<KernelFunction>();
  function->kernel = std::move(*kernel);
  function->binary = binary;
  ANYNPU_ASSIGN(const Handle handle, new_handle(std::move(function)));
  loaded.functions.emplace(name, handle);
  return handle;
}

}  // namespace anynpu::service
