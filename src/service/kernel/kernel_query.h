// SPDX-License-Identifier: Apache-2.0
// What is known about loaded objects and the functions in them. Thread-safe.
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
// Where an object lies.
Result<KernelMemory> binary_memory(Handle binary);
// A global variable of an object, as memory that programs copy from and to. Fails with
// unknown_symbol.
Result<KernelMemory> find_variable(Handle binary, const char* name);

Result<Handle> binary_of(Handle function);
Result<size_t> code_bytes(Handle function);

// Where each argument lies when all stand in one piece: addresses have 8 bytes. Known from debug
// information (-g); unsupported_feature without it.
struct ParameterPlace {
  size_t offset = 0;
  size_t bytes = 0;
};
Result<std::vector<ParameterPlace>> parameter_places(const exec::DeviceKernel& kernel);
Result<std::vector<ParameterPlace>> parameter_places(Handle function);

// Who is told when a kernel of the object fails; empty: nobody.
Status set_binary_callback(Handle binary, ExceptionCallback callback);

// A function as programs name it: by its handle. The address of a function that a mixed build
// registered is never known here: invalid_device_function.
Result<Handle> function_named(const void* name);

}  // namespace anynpu::service
