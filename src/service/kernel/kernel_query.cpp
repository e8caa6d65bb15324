// SPDX-License-Identifier: Apache-2.0
#include "service/kernel/kernel_query.h"

#include "base/align.h"
#include "device/range_map.h"
#include "device/runtime.h"
#include "npc/debug_info.h"
#include "npc/image.h"
#include "npc/module.h"
#include "service/check_pointer.h"

namespace anynpu::service {

namespace {

constexpr size_t kAddressBytes = 8;

// Makes a variable known as device memory; it lives as long as the object.
Status lend_variable(LoadedBinary& loaded, const npc::Symbol& symbol, std::byte* address) {
  if (loaded.variables.contains(symbol.name) || symbol.bytes == 0) return {};
  ANYNPU_ASSIGN(const auto context, device::Runtime::instance().current());
  auto memory = std::make_shared<device::Allocation>();
  memory->base = reinterpret_cast<uintptr_t>(address);
  memory->bytes = symbol.bytes;
  memory->kind = device::MemoryKind::pooled;
  memory->device_id = context->device()->id();
  memory->backing = loaded.module;
  loaded.variables[symbol.name] = memory->base;
  if (device::RangeMap::instance().insert(std::move(memory))) return {};
  return fail(Code::internal, "variable '{}' overlaps memory that is known", symbol.name);
}

}  // namespace

Result<KernelMemory> binary_memory(Handle binary) {
  ANYNPU_ASSIGN(const auto loaded, resolve<LoadedBinary>(binary));
  const npc::Image& image = loaded->module->image();
  return KernelMemory{image.memory->host(image.base), image.bytes};
}

Result<KernelMemory> find_variable(Handle binary, const char* name) {
  ANYNPU_TRY(check_pointer(name, "name"));
  ANYNPU_ASSIGN(const auto loaded, resolve<LoadedBinary>(binary));
  const npc::Image& image = loaded->module->image();
  const auto found = image.variables.find(std::string_view(name));
  if (found == image.variables.end()) {
    return fail(Code::unknown_symbol, "the object has no global variable '{}' ({} are there)", name,
                image.variables.size());
  }
  std::byte* const address = image.memory->host(found->second.address);
  const std::lock_guard lock(loaded->mutex);
  ANYNPU_TRY(lend_variable(*loaded, found->second, address));
  return KernelMemory{address, found->second.bytes};
}

Result<Handle> binary_of(Handle function) {
  ANYNPU_ASSIGN(const auto found, resolve<KernelFunction>(function));
  return found->binary;
}

Result<size_t> code_bytes(Handle function) {
  ANYNPU_ASSIGN(const auto found, resolve<KernelFunction>(function));
  const npc::Symbol* symbol = found->kernel->module().image().function_at(found->kernel->address());
  return symbol ? symbol->bytes : 0;
}

Result<std::vector<ParameterPlace>> parameter_places(const exec::DeviceKernel& kernel) {
  const npc::Image& image = kernel.module().image();
  const auto* function = image.debug_info().function(image.kernel_symbol(kernel.name()));
  if (!function) {
    return fail(Code::unsupported_feature,
                "the parameters of kernel '{}' are not known; compile it with -g", kernel.name());
  }
  std::vector<ParameterPlace> places;
  size_t at = 0;
  for (const npc::DebugInfo::Parameter& p : function->parameters) {
    const bool address = p.kind == npc::DebugInfo::Parameter::pointer;
    const size_t bytes = address ? kAddressBytes : p.bytes;
    if (bytes == 0) {
      return fail(Code::unsupported_feature,
                  "the size of parameter '{}' of kernel '{}' is not known", p.name, kernel.name());
    }
    at = round_up(at, bytes);
    places.push_back({at, bytes});
    at += bytes;
  }
  return places;
}

Result<std::vector<ParameterPlace>> parameter_places(Handle function) {
  ANYNPU_ASSIGN(const auto found, resolve<KernelFunction>(function));
  return parameter_places(*found->kernel);
}

Status set_binary_callback(Handle binary, ExceptionCallback callback) {
  ANYNPU_ASSIGN(const auto loaded, resolve<LoadedBinary>(binary));
  const std::lock_guard lock(loaded->mutex);
  loaded->on_failure =
      callback ? std::make_shared<const ExceptionCallback>(std::move(callback)) : nullptr;
  return {};
}

Result<Handle> function_named(const void* name) {
  ANYNPU_TRY(check_pointer(name, "func"));
  const auto handle = reinterpret_cast<Handle>(name);
  constexpr Handle kLowestHandle = Handle{2} << 55;
  if (handle >= kLowestHandle) return handle;
  return fail(Code::invalid_device_function,
              "{} is no function that the program registered; load the object with "
              "aclrtBinaryLoadFromFile and find the function with aclrtBinaryGetFunction",
              name);
}

}  // namespace anynpu::service
