// SPDX-License-Identifier: Apache-2.0
// Launches of kernels. What a launch needs is read before the call returns; the kernel runs as a
// task of the stream.
#include "acl/rt/kernel.h"
#include "anynpu.h"
#include "api/acl/entry.h"
#include "api/acl/kernel_dump.h"
#include "api/acl/kernel_objects.h"
#include "api/acl/model_ops.h"
#include "device/memory.h"
#include "device/runtime.h"
#include "exec/kernel_arguments.h"

namespace anynpu::acl {

namespace {

constexpr size_t kMostArgsBytes = size_t{1} << 26;
constexpr size_t kMostAttrs = 64;
constexpr size_t kMostHolders = 256;
constinit device::TaskKind kKernel{"kernel", device::Engine::npc};

Status check_flag(uint32_t value, uint32_t most, const char* name) {
  if (value <= most) return {};
  return fail(Code::invalid_argument, "{} is {}; expected 0 to {}", name, value, most);
}

// Attributes that say how the vendor's cores share their work change nothing here: all cores of a
// launch start together, and each has its whole local memory.
Status read_attr(const aclrtLaunchKernelAttr& attr, exec::KernelLaunch& launch) {
  const aclrtLaunchKernelAttrValue& value = attr.value;
  switch (static_cast<int>(attr.id)) {
    case ACL_RT_LAUNCH_KERNEL_ATTR_SCHEM_MODE:
      return check_flag(value.schemMode, 2, "schemMode");
    case ACL_RT_LAUNCH_KERNEL_ATTR_DYN_UBUF_SIZE:
      return check_flag(value.dynUBufSize, 1u << 20, "dynUBufSize");
    case ACL_RT_LAUNCH_KERNEL_ATTR_ENGINE_TYPE:
      return check_flag(static_cast<uint32_t>(value.engineType), 1, "engineType");
    case ACL_RT_LAUNCH_KERNEL_ATTR_BLOCKDIM_OFFSET:
      return check_flag(value.blockDimOffset, 0, "blockDimOffset");
    case ACL_RT_LAUNCH_KERNEL_ATTR_BLOCK_TASK_PREFETCH:
      return check_flag(value.isBlockTaskPrefetch, 1, "isBlockTaskPrefetch");
    case ACL_RT_LAUNCH_KERNEL_ATTR_DATA_DUMP:
      return check_flag(value.isDataDump, 1, "isDataDump");
    case ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT:
      launch.timeout_ns = uint64_t{value.timeout} * 1'000'000'000;
      return {};
    case ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT_US: {
      const uint64_t us = uint64_t{value.timeoutUs.timeoutHigh} << 32 | value.timeoutUs.timeoutLow;
      launch.timeout_ns = us > UINT64_MAX / 2000 ? UINT64_MAX / 2 : us * 1000;
      return {};
    }
    case ACL_RT_LAUNCH_KERNEL_ATTR_ENABLE_PROFILING:
      return check_flag(value.enableProfiling, 1, "enableProfiling");
    default:
      return fail(Code::invalid_argument, "an attribute has the id {}; expected 1 to 9",
                  static_cast<int>(attr.id));
  }
}

Status read_config(const aclrtLaunchKernelCfg* config, exec::KernelLaunch& launch) {
  if (!config) return {};
  ANYNPU_TRY(device::check_range(config, sizeof *config, device::Access::read, "cfg").status());
  if (config->numAttrs > kMostAttrs) {
    return fail(Code::invalid_argument, "numAttrs is {}; expected at most {}", config->numAttrs,
                kMostAttrs);
  }
  if (config->numAttrs == 0) return {};
  ANYNPU_TRY(device::check_range(config->attrs, config->numAttrs * sizeof(aclrtLaunchKernelAttr),
                                 device::Access::read, "attrs")
                 .status());
  for (size_t i = 0; i < config->numAttrs; ++i) {
    ANYNPU_TRY(read_attr(config->attrs[i], launch), "attribute {}", i);
  }
  return {};
}

Result<std::span<const std::byte>> read_piece(const void* data, size_t bytes, const char* name) {
  if (bytes > kMostArgsBytes) {
    return fail(Code::invalid_argument, "argsSize is {}; expected at most {}", bytes,
                kMostArgsBytes);
  }
  if (bytes == 0) return std::span<const std::byte>();
  ANYNPU_ASSIGN(auto range, device::check_range(data, bytes, device::Access::read, name));
  return std::as_bytes(std::span(range.address, bytes));
}

// What a checker asked about the next launch of this thread.
struct Watch {
  void (*done)(void* data, const anynpu_kernel_piece* pieces, size_t count) = nullptr;
  void* data = nullptr;

  void operator()(std::span<const exec::KernelPiece> pieces) const {
    std::vector<anynpu_kernel_piece> out;
    for (const exec::KernelPiece& p : pieces) out.push_back({p.data, p.bytes, p.changed});
    done(data, out.data(), out.size());
  }
};
thread_local Watch next_watch;

struct Launch {
  std::shared_ptr<exec::DeviceKernel> kernel;
  exec::KernelLaunch launch;
  int32_t device = 0;

  Status run() {
    Status status = run_kernel(*kernel, launch, device);
    if (!status.ok()) note_failed_op(OpInfo{kernel->name(), {}, {}});
    return status;
  }
};

// Fills `launch` by `read` and queues it.
template <typename Read>
Status submit_kernel(aclrtFuncHandle function, uint32_t blocks, aclrtStream stream_handle,
                     Read&& read) {
  ANYNPU_ASSIGN(auto pin, resolve<KernelFunction>(to_handle(function)));
  ANYNPU_TRY(exec::DeviceKernel::check_blocks(blocks));
  ANYNPU_ASSIGN(auto stream, device::Runtime::instance().stream(to_handle(stream_handle)));
  auto task = std::make_unique<Launch>();
  task->kernel = pin->kernel;
  task->launch.blocks = blocks;
  task->device = stream->device()->id();
  if (const Watch watch = std::exchange(next_watch, {}); watch.done) task->launch.touched = watch;
  ANYNPU_TRY(read(*task->kernel, task->launch), "launch of kernel '{}'", task->kernel->name());
  return stream->submit(kKernel, [task = std::move(task)] { return task->run(); });
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

}  // namespace anynpu::acl

using namespace anynpu;
using namespace anynpu::acl;

extern "C" {

void anynpu_acl_watch_kernel(void (*done)(void* data, const anynpu_kernel_piece* pieces,
                                          size_t count),
                             void* data) {
  next_watch = {done, data};
}

aclError aclrtLaunchKernel(aclrtFuncHandle funcHandle, uint32_t blockDim, const void* argsData,
                           size_t argsSize, aclrtStream stream) {
  return enter(__func__, [&] {
    return submit_kernel(funcHandle, blockDim, stream, [&](auto& kernel, auto& launch) -> Status {
      ANYNPU_ASSIGN(const auto piece, read_piece(argsData, argsSize, "argsData"));
      return exec::add_arguments(launch, kernel, piece, {});
    });
  });
}

aclError aclrtLaunchKernelWithConfig(aclrtFuncHandle funcHandle, uint32_t blockDim,
                                     aclrtStream stream, aclrtLaunchKernelCfg* cfg,
                                     aclrtArgsHandle argsHandle, void* reserve) {
  return enter(__func__, [&]() -> Status {
    if (reserve) return fail(Code::invalid_argument, "reserve is {}; expected null", reserve);
    return submit_kernel(funcHandle, blockDim, stream, [&](auto& kernel, auto& launch) -> Status {
      ANYNPU_TRY(read_config(cfg, launch));
      ANYNPU_ASSIGN(auto list, find_args(argsHandle));
      return read_list(kernel, *list, launch);
    });
  });
}

aclError aclrtLaunchKernelWithHostArgs(aclrtFuncHandle funcHandle, uint32_t blockDim,
                                       aclrtStream stream, aclrtLaunchKernelCfg* cfg,
                                       void* hostArgs, size_t argsSize,
                                       aclrtPlaceHolderInfo* placeHolderArray,
                                       size_t placeHolderNum) {
  return enter(__func__, [&] {
    return submit_kernel(funcHandle, blockDim, stream, [&](auto& kernel, auto& launch) -> Status {
      ANYNPU_TRY(read_config(cfg, launch));
      ANYNPU_ASSIGN(const auto piece, read_piece(hostArgs, argsSize, "hostArgs"));
      if (placeHolderNum > kMostHolders) {
        return fail(Code::invalid_argument, "placeHolderNum is {}; expected at most {}",
                    placeHolderNum, kMostHolders);
      }
      std::vector<exec::PlaceHolder> holders;
      if (placeHolderNum > 0) {
        ANYNPU_TRY(device::check_range(placeHolderArray,
                                       placeHolderNum * sizeof(aclrtPlaceHolderInfo),
                                       device::Access::read, "placeHolderArray")
                       .status());
      }
      for (size_t i = 0; i < placeHolderNum; ++i) {
        holders.push_back({placeHolderArray[i].addrOffset, placeHolderArray[i].dataOffset});
      }
      return exec::add_arguments(launch, kernel, piece, holders);
    });
  });
}

}  // extern "C"
