// SPDX-License-Identifier: Apache-2.0
#include "service/kernel/kernel_launch.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "base/align.h"
#include "device/host_view.h"
#include "device/memory.h"
#include "device/runtime.h"
#include "device/stream_allocator.h"
#include "exec/kernel_arguments.h"
#include "service/failure/device_faults.h"
#include "service/instance/last_task.h"
#include "service/kernel/kernel_args.h"
#include "service/kernel/kernel_dump.h"
#include "service/kernel/kernel_query.h"
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
  Handle function = 0, binary = 0;
  std::weak_ptr<device::Stream> stream;
  uint32_t thread = device::current_thread_number();
  device::Range late;  // arguments that are read now

  // A recorded launch runs again, so what it was made of stays as it is.
  Status read_late(exec::KernelLaunch& now) const {
    std::vector<std::byte> piece(late.bytes);
    ANYNPU_TRY(device::copy_bytes(piece.data(), late.address, late.bytes));
    return exec::add_arguments(now, *kernel, piece, {});
  }

  Status run_now() {
    if (late.bytes == 0) return run_kernel(*kernel, launch, device);
    exec::KernelLaunch now = launch;
    ANYNPU_TRY(read_late(now), "launch of kernel '{}'", kernel->name());
    return run_kernel(*kernel, now, device);
  }

  Status run() {
    Status status = run_now();
    if (status.ok()) return status;
    FailedOps::instance().note(OpInfo{kernel->name(), {}, {}});
    if (status.code() == Code::kernel_failed) note_fault(device, DeviceFault::core);
    tell_binary(status.code());
    return status;
  }

  // Tells the callback of the object, with the arguments in device memory, 8 bytes each.
  void tell_binary(Code code) const;
};

uint64_t value_of(const exec::KernelLaunch& launch, const exec::KernelArgument& argument) {
  if (argument.kind != exec::KernelArgument::Kind::region) return argument.word;
  return reinterpret_cast<uint64_t>(launch.regions[argument.index].data) + argument.word;
}

void Launch::tell_binary(Code code) const {
  std::shared_ptr<const ExceptionCallback> callback;
  if (auto loaded = HandleTable::instance().find<LoadedBinary>(binary)) {
    const std::lock_guard lock(loaded->mutex);
    callback = loaded->on_failure;
  }
  const auto on = stream.lock();
  if (!callback || !on) return;
  TaskException exception{static_cast<uint32_t>(device), on->id(),
                          static_cast<uint32_t>(on->completed() + 1), thread, code};
  std::vector<uint64_t> values;
  for (const exec::KernelArgument& a : launch.arguments) values.push_back(value_of(launch, a));
  exception.function = function;
  exception.argument_bytes = static_cast<uint32_t>(values.size() * sizeof(uint64_t));
  auto memory = device::Workspace::take(*on, std::max<size_t>(exception.argument_bytes, 8));
  if (!memory.ok()) return;
  exception.arguments = (*memory)->address();
  if (!device::copy_bytes(exception.arguments, values.data(), exception.argument_bytes).ok())
    return;
  tell_exception(exception, *callback);
}

Result<std::unique_ptr<Launch>> new_launch(Handle function, uint32_t blocks,
                                           const std::shared_ptr<device::Stream>& stream) {
  ANYNPU_ASSIGN(auto pin, resolve<KernelFunction>(function));
  ANYNPU_TRY(exec::DeviceKernel::check_blocks(blocks));
  auto task = std::make_unique<Launch>();
  task->kernel = pin->kernel;
  task->launch.blocks = blocks;
  task->device = stream->device()->id();
  task->function = function;
  task->binary = pin->binary;
  task->stream = stream;
  if (Watch watch = std::exchange(next_watch(), {})) task->launch.touched = std::move(watch);
  last_arguments() = {};
  last_attributes().clear();
  return task;
}

// A stream that records keeps what the launch was made of.
Status submit(std::unique_ptr<Launch> task, device::Stream& stream) {
  const Handle function = task->function;
  const uint32_t blocks = task->launch.blocks;
  ANYNPU_TRY(stream.submit(kernel_task, [task = std::move(task)] {
    return queued_by("aclrtLaunchKernel", task->run());
  }));
  if (stream.recorder()) [[unlikely]] {
    const auto bytes = last_arguments();
    describe_last_kernel(
        {function, blocks, {bytes.begin(), bytes.end()}, last_attributes(), nullptr});
  }
  return {};
}

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
  ANYNPU_TRY(resolve<KernelFunction>(function).status());
  ANYNPU_ASSIGN(auto stream, device::Runtime::instance().stream(stream_handle));
  ANYNPU_ASSIGN(auto task, new_launch(function, blocks, stream));
  ANYNPU_TRY(read(*task->kernel, task->launch), "launch of kernel '{}'", task->kernel->name());
  return submit(std::move(task), *stream);
}

Status submit_kernel_with(Handle function, uint32_t blocks, Handle stream_handle,
                          const void* arguments, size_t bytes, const ReadLaunch& read) {
  ANYNPU_TRY(resolve<KernelFunction>(function).status());
  ANYNPU_ASSIGN(auto stream, device::Runtime::instance().stream(stream_handle));
  ANYNPU_ASSIGN(auto task, new_launch(function, blocks, stream));
  ANYNPU_TRY(read(*task->kernel, task->launch), "launch of kernel '{}'", task->kernel->name());
  if (bytes > kMostArgsBytes) {
    return fail(Code::invalid_argument, "argsSize is {}; expected at most {}", bytes,
                kMostArgsBytes);
  }
  if (bytes > 0) {
    ANYNPU_ASSIGN(task->late,
                  device::check_range(arguments, bytes, device::Access::read, "argsData"));
    if (!task->late.on_device()) {
      return fail(Code::invalid_address,
                  "argsData = {} is memory of the host; copy the arguments to memory of the device",
                  arguments);
    }
  }
  return submit(std::move(task), *stream);
}

Status read_values(const exec::DeviceKernel& kernel, void* const* values,
                   exec::KernelLaunch& launch) {
  ANYNPU_ASSIGN(const auto places, parameter_places(kernel));
  if (places.empty()) return {};
  ANYNPU_TRY(
      device::check_host_range(values, places.size() * sizeof(void*), device::Access::read, "args")
          .status());
  std::vector<std::byte> piece(round_up(places.back().offset + places.back().bytes, 8));
  for (size_t i = 0; i < places.size(); ++i) {
    ANYNPU_ASSIGN(
        const auto value,
        device::check_host_range(values[i], places[i].bytes, device::Access::read, "an argument"),
        "argument {} of {}", i, places.size());
    std::memcpy(piece.data() + places[i].offset, value.address, places[i].bytes);
  }
  return exec::add_arguments(launch, kernel, piece, {});
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
