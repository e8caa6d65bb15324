// SPDX-License-Identifier: Apache-2.0
#include "service/kernel/kernel_launch.h"

#include <memory>
#include <utility>

#include "device/memory.h"
#include "device/runtime.h"
#include "exec/kernel_arguments.h"
#include "service/instance/last_task.h"
#include "service/kernel/kernel_args.h"
#include "service/kernel/kernel_dump.h"
#include "service/model/failed_ops.h"
#include "service/task_kinds.h"

namespace anynpu::service {

namespace {

constexpr size_t kMostArgsBytes = size_t{1} << 26;

using Watch = decltype(exec::KernelLaunch::touched);

Watch& next_watch() {
  thread_local Watch watch;
  return watch;
}

// What read_args_memory gave the launch that this thread makes: a recorded launch keeps the bytes.
std::span<const std::byte>& last_arguments() {
  thread_local std::span<const std::byte> bytes;
  return bytes;
}

std::vector<KernelNote::Attribute>& last_attributes() {
  thread_local std::vector<KernelNote::Attribute> attributes;
  return attributes;
}

struct Launch {
  std::shared_ptr<exec::DeviceKernel> kernel;
  exec::KernelLaunch launch;
  int32_t device = 0;

  Status run() {
    Status status = run_kernel(*kernel, launch, device);
    if (!status.ok()) FailedOps::instance().note(OpInfo{kernel->name(), {}, {}});
    return status;
  }
};

Status read_list(const exec::DeviceKernel& kernel, KernelArgs& list, exec::KernelLaunch& launch) {
  const std::lock_guard lock(list.mutex);
  if (!list.finished) {
    return fail(Code::bad_call_order,
                "the list of arguments is not finalised; call aclrtKernelArgsFinalize first");
  }
  if (list.kernel.get() != &kernel) {
    return fail(Code::invalid_argument, "the list of arguments was made for kernel '{}'",
                list.kernel->name());
  }
  for (const KernelArgs::Parameter& p : list.parameters) {
    const std::span<const std::byte> bytes(p.data, p.bytes);
    if (p.place_holder) {
      exec::add_copy(launch, bytes);
    } else {
      ANYNPU_TRY(exec::add_argument(launch, bytes));
    }
  }
  return {};
}

}  // namespace

Status submit_kernel(Handle function, uint32_t blocks, Handle stream_handle,
                     const ReadLaunch& read) {
  ANYNPU_ASSIGN(auto pin, resolve<KernelFunction>(function));
  ANYNPU_TRY(exec::DeviceKernel::check_blocks(blocks));
  ANYNPU_ASSIGN(auto stream, device::Runtime::instance().stream(stream_handle));
  auto task = std::make_unique<Launch>();
  task->kernel = pin->kernel;
  task->launch.blocks = blocks;
  task->device = stream->device()->id();
  if (Watch watch = std::exchange(next_watch(), {})) task->launch.touched = std::move(watch);
  last_arguments() = {};
  last_attributes().clear();
  ANYNPU_TRY(read(*task->kernel, task->launch), "launch of kernel '{}'", task->kernel->name());
  ANYNPU_TRY(stream->submit(kernel_task, [task = std::move(task)] { return task->run(); }));
  if (stream->recorder()) [[unlikely]] {
    const auto bytes = last_arguments();
    describe_last_kernel(
        {function, blocks, {bytes.begin(), bytes.end()}, last_attributes(), nullptr});
  }
  return {};
}

Result<std::unique_ptr<device::KeptTask>> make_kernel_task(Handle function, uint32_t blocks,
                                                           std::span<const std::byte> arguments,
                                                           const device::Stream& stream) {
  ANYNPU_ASSIGN(auto pin, resolve<KernelFunction>(function));
  ANYNPU_TRY(exec::DeviceKernel::check_blocks(blocks));
  auto launch = std::make_unique<Launch>();
  launch->kernel = pin->kernel;
  launch->launch.blocks = blocks;
  launch->device = stream.device()->id();
  ANYNPU_TRY(exec::add_arguments(launch->launch, *launch->kernel, arguments, {}),
             "launch of kernel '{}'", launch->kernel->name());
  auto task = std::make_unique<device::KeptTask>();
  task->emplace(kernel_task, [launch = std::move(launch)] { return launch->run(); });
  return task;
}

Status read_args(const exec::DeviceKernel& kernel, const void* handle, exec::KernelLaunch& launch) {
  ANYNPU_ASSIGN(auto list, find_args(handle));
  return read_list(kernel, *list, launch);
}

Result<std::span<const std::byte>> read_args_memory(const void* data, size_t bytes,
                                                    const char* name) {
  if (bytes > kMostArgsBytes) {
    return fail(Code::invalid_argument, "argsSize is {}; expected at most {}", bytes,
                kMostArgsBytes);
  }
  if (bytes == 0) return std::span<const std::byte>();
  ANYNPU_ASSIGN(auto range, device::check_host_range(data, bytes, device::Access::read, name));
  return last_arguments() = std::as_bytes(std::span(range.address, bytes));
}

void note_launch_attribute(int32_t id, std::span<const std::byte> value) {
  last_attributes().push_back({id, {value.begin(), value.end()}});
}

void watch_next_launch(Watch watch) { next_watch() = std::move(watch); }

}  // namespace anynpu::service
