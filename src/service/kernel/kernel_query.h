// SPDX-License-Identifier: Apache-2.0
// Queries about loaded binaries and their functions. Thread-safe.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "base/result.h"
#include "service/kernel/kernel_objects.h"

namespace anynpu::service {

struct KernelMemory {
  void* address = nullptr;
  size_t bytes = 0;
};
// The memory of a binary.
Result<KernelMemory> binary_memory(Handle binary);
// A global variable of an object, as memory that programs copy from and to. Fails with
// unknown_symbol.
Result<KernelMemory> find_variable(Handle binary, const char* name);

Result<Handle> binary_of(Handle function);
Result<size_t> code_bytes(Handle function);

// Offsets of arguments in an argument block, in which addresses have 8 bytes. From debug
// information (-g); unsupported_feature without it.
struct ParameterPlace {
  size_t offset = 0;
  size_t bytes = 0;
};
Result<std::vector<ParameterPlace>> parameter_places(const exec::DeviceKernel& kernel);
Result<std::vector<ParameterPlace>> parameter_places(Handle function);

// The callback for failed kernels of the binary; empty: none.
Status set_binary_callback(Handle binary, ExceptionCallback callback);

// Resolves a function handle. Host stubs of mixed host and device builds are unknown here:
// invalid_device_function.
Result<Handle> function_named(const void* name);

}  // namespace anynpu::service
