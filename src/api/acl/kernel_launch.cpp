// SPDX-License-Identifier: Apache-2.0
// Launches of kernels. What a launch needs is read before the call returns; the kernel runs as a
// task of the stream.
#include "service/kernel/kernel_launch.h"

#include <algorithm>
#include <functional>
#include <span>

#include "acl/rt/kernel.h"
#include "acl/rt/kernel_query.h"
#include "anynpu.h"
#include "api/acl/entry.h"
#include "device/memory.h"
#include "exec/kernel_arguments.h"
#include "service/kernel/kernel_query.h"

namespace anynpu::acl {

namespace {

constexpr size_t kMostAttrs = 64;
constexpr size_t kMostHolders = 256;

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

Status check_timeouts(std::span<const aclrtLaunchKernelAttr> attrs) {
  const auto has = [&](int id) {
    return std::any_of(attrs.begin(), attrs.end(),
                       [&](const auto& attr) { return static_cast<int>(attr.id) == id; });
  };
  if (!has(ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT) || !has(ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT_US))
    return {};
  return fail(Code::invalid_argument, "the configuration has timeout and timeoutUs; pass one");
}

Status read_config(const aclrtLaunchKernelCfg* config, exec::KernelLaunch& launch) {
  if (!config) return {};
  ANYNPU_TRY(
      device::check_host_range(config, sizeof *config, device::Access::read, "cfg").status());
  if (config->numAttrs > kMostAttrs) {
    return fail(Code::invalid_argument, "numAttrs is {}; expected at most {}", config->numAttrs,
                kMostAttrs);
  }
  if (config->numAttrs == 0) return {};
  ANYNPU_TRY(device::check_host_range(config->attrs,
                                      config->numAttrs * sizeof(aclrtLaunchKernelAttr),
                                      device::Access::read, "attrs")
                 .status());
  ANYNPU_TRY(check_timeouts({config->attrs, config->numAttrs}));
  for (size_t i = 0; i < config->numAttrs; ++i) {
    ANYNPU_TRY(read_attr(config->attrs[i], launch), "attribute {}", i);
    service::note_launch_attribute(static_cast<int32_t>(config->attrs[i].id),
                                   std::as_bytes(std::span(&config->attrs[i].value, 1)));
  }
  return {};
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

Status launch_kernel(aclrtFuncHandle function, uint32_t blocks, aclrtStream stream,
                     const service::ReadLaunch& read) {
  return service::submit_kernel(to_handle(function), blocks, to_handle(stream), read);
}

Result<std::vector<exec::PlaceHolder>> read_holders(const aclrtPlaceHolderInfo* array,
                                                    size_t count) {
  if (count > kMostHolders) {
    return fail(Code::invalid_argument, "placeHolderNum is {}; expected at most {}", count,
                kMostHolders);
  }
  std::vector<exec::PlaceHolder> holders;
  if (count > 0) {
    ANYNPU_TRY(device::check_host_range(array, count * sizeof(aclrtPlaceHolderInfo),
                                        device::Access::read, "placeHolderArray")
                   .status());
  }
  for (size_t i = 0; i < count; ++i) holders.push_back({array[i].addrOffset, array[i].dataOffset});
  return holders;
}

// Arguments in the program's layout, with placeholders for data that follows them.
struct HostArgs {
  aclrtLaunchKernelCfg* config;
  const void* args;
  size_t bytes;
  const aclrtPlaceHolderInfo* holders;
  size_t holder_count;
};

Status read_host_args(const HostArgs& from, const exec::DeviceKernel& kernel,
                      exec::KernelLaunch& launch) {
  ANYNPU_TRY(read_config(from.config, launch));
  ANYNPU_ASSIGN(const auto piece, service::read_args_memory(from.args, from.bytes, "hostArgs"));
  ANYNPU_ASSIGN(const auto holders, read_holders(from.holders, from.holder_count));
  return exec::add_arguments(launch, kernel, piece, holders);
}

}  // namespace

}  // namespace anynpu::acl

using namespace anynpu;
using namespace anynpu::acl;

extern "C" {

void anynpu_acl_watch_kernel(void (*done)(void* data, const anynpu_kernel_piece* pieces,
                                          size_t count),
                             void* data) {
  service::watch_next_launch(done ? Watch{done, data} : decltype(exec::KernelLaunch::touched)());
}

aclError aclrtLaunchKernel(aclrtFuncHandle funcHandle, uint32_t blockDim, const void* argsData,
                           size_t argsSize, aclrtStream stream) {
  return enter(__func__, [&] {
    return launch_kernel(funcHandle, blockDim, stream, [&](auto& kernel, auto& launch) -> Status {
      ANYNPU_ASSIGN(const auto piece, service::read_args_memory(argsData, argsSize, "argsData"));
      return exec::add_arguments(launch, kernel, piece, {});
    });
  });
}

aclError aclrtLaunchKernelWithConfig(aclrtFuncHandle funcHandle, uint32_t blockDim,
                                     aclrtStream stream, aclrtLaunchKernelCfg* cfg,
                                     aclrtArgsHandle argsHandle, void* reserve) {
  return enter(__func__, [&]() -> Status {
    if (reserve) return fail(Code::invalid_argument, "reserve is {}; expected null", reserve);
    return launch_kernel(funcHandle, blockDim, stream, [&](auto& kernel, auto& launch) -> Status {
      ANYNPU_TRY(read_config(cfg, launch));
      return service::read_args(kernel, argsHandle, launch);
    });
  });
}

aclError aclrtLaunchKernelWithHostArgs(aclrtFuncHandle funcHandle, uint32_t blockDim,
                                       aclrtStream stream, aclrtLaunchKernelCfg* cfg,
                                       void* hostArgs, size_t argsSize,
                                       aclrtPlaceHolderInfo* placeHolderArray,
                                       size_t placeHolderNum) {
  const HostArgs args{cfg, hostArgs, argsSize, placeHolderArray, placeHolderNum};
  return enter(__func__, [&] {
    return launch_kernel(funcHandle, blockDim, stream, std::bind_front(read_host_args, args));
  });
}

aclError aclrtLaunchKernelV2(aclrtFuncHandle funcHandle, uint32_t numBlocks, const void* argsData,
                             size_t argsSize, aclrtLaunchKernelCfg* cfg, aclrtStream stream) {
  return enter(__func__, [&] {
    return service::submit_kernel_with(
        to_handle(funcHandle), numBlocks, to_handle(stream), argsData, argsSize,
        [&](auto&, auto& launch) { return read_config(cfg, launch); });
  });
}

aclError aclrtLaunchKernelWithArgsArray(void* func, uint32_t numBlocks, aclrtStream stream,
                                        aclrtLaunchKernelCfg* cfg, void** args) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_ASSIGN(const Handle function, service::function_named(func));
    const auto read = [&](auto& kernel, auto& launch) -> Status {
      ANYNPU_TRY(read_config(cfg, launch));
      return service::read_values(kernel, args, launch);
    };
    return service::submit_kernel(function, numBlocks, to_handle(stream), read);
  });
}

}  // extern "C"
