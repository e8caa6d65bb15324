// SPDX-License-Identifier: Apache-2.0
// Argument lists of kernels. A list is in our own memory or in the program's; in the second case
// the program's memory for the handle holds a mark and our own handle, and its address is the
// handle of the list. Thread-safe.
#pragma once

#include "base/result.h"
#include "service/kernel/kernel_objects.h"

namespace anynpu::service {

Result<Handle> open_kernel_args(Handle function);
// How much memory of the program a handle takes, and `argument_bytes` bytes of arguments.
Result<size_t> kernel_args_handle_bytes(Handle function);
Result<size_t> kernel_args_bytes(Handle function, size_t argument_bytes);
// A list in `bytes` bytes at `memory`; the handle is written to `handle_memory`.
Status open_kernel_args_in(Handle function, void* handle_memory, void* memory, size_t bytes);

// The list behind a handle, or behind the program's memory that it was put into.
Result<std::shared_ptr<KernelArgs>> find_args(const void* handle);

// Handles of the new arguments.
Result<Handle> append_kernel_arg(const void* list, const void* from, size_t bytes);
Result<Handle> append_place_holder(const void* list);
Result<void*> place_holder_memory(const void* list, Handle parameter, size_t bytes);
Status update_kernel_arg(const void* list, Handle parameter, const void* from, size_t bytes);
// No argument can be added afterwards.
Status finish_kernel_args(const void* list);

}  // namespace anynpu::service
