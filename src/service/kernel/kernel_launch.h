// SPDX-License-Identifier: Apache-2.0
// Kernel launches: arguments are read before the call returns; the kernel runs as a stream task.
// Thread-safe.
#pragma once

#include <functional>

#include "device/stream.h"
#include "exec/device_kernel.h"
#include "service/kernel/kernel_objects.h"

namespace anynpu::service {

// Fills a launch from what the program passed.
using ReadLaunch = std::function<Status(const exec::DeviceKernel&, exec::KernelLaunch&)>;
Status submit_kernel(Handle function, uint32_t blocks, Handle stream, const ReadLaunch& read);

// Arguments in device memory, which are read when the stream reaches the kernel.
Status submit_kernel_with(Handle function, uint32_t blocks, Handle stream, const void* arguments,
                          size_t bytes, const ReadLaunch& read);
// Arguments one by one: values[i] is the address of argument i, which has the size that the kernel
// declares (kernel_query.h).
Status read_values(const exec::DeviceKernel& kernel, void* const* values,
                   exec::KernelLaunch& launch);
// A task that can be run any number of times, from arguments in the program's layout.
Result<std::unique_ptr<device::KeptTask>> make_kernel_task(Handle function, uint32_t blocks,
                                                           std::span<const std::byte> arguments,
                                                           const device::Stream& stream);

// The arguments of a finished list (kernel_args.h), made for the same kernel.
Status read_args(const exec::DeviceKernel& kernel, const void* list, exec::KernelLaunch& launch);
// Bytes of arguments as the program laid them out.
Result<std::span<const std::byte>> read_args_memory(const void* data, size_t bytes,
                                                    const char* name);

// An attribute of the next launch of this thread, for those that read a recorded launch.
void note_launch_attribute(int32_t id, std::span<const std::byte> value);

// For `anynpu check`: reports which memory the next launch of this thread accesses.
void watch_next_launch(decltype(exec::KernelLaunch::touched) watch);

}  // namespace anynpu::service
