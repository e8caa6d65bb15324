// SPDX-License-Identifier: Apache-2.0
#include "npc/cluster.h"

#include <algorithm>
#include <cstring>
#include <mutex>

#include "base/env.h"
#include "base/fork_guard.h"
#include "npc/image.h"
#include "npc/launch.h"
#include "npc/memory.h"
#include "npc/module.h"
#include "npc/parameters.h"

namespace anynpu::npc {

struct Cluster::Machine {
  std::mutex launching;  // one kernel at a time
  LaunchFrame frame;
};

Result<Cluster*> Cluster::get(int id) {
  static std::mutex mutex;
  static Cluster* clusters[kClusters] = {};
  if (id < 0 || id >= kClusters) {
    return fail(Code::invalid_device, "cluster {} is not there; the card has clusters 0 to {}", id,
                kClusters - 1);
  }
  std::lock_guard lock(mutex);
  if (!clusters[id]) {
    mark_runtime_used();
    ANYNPU_ASSIGN(auto memory, Memory::create());
    ANYNPU_ASSIGN(const uint32_t stacks,
                  memory->take(Space::global, (kStackGuard + kStackBytes) * kCores, kNone));
    for (uint32_t core = 0; core < kCores; ++core) {
      memory->protect(stack_of(stacks, core), kStackBytes, kReadWrite);
    }
    auto* machine = new Machine;
    machine->frame.memory = memory;
    machine->frame.stacks = stacks;
    clusters[id] = new Cluster(id, std::move(memory));
    clusters[id]->machine_ = machine;
  }
  return clusters[id];
}

Cluster::Cluster(int id, std::shared_ptr<Memory> memory)
    : id_(id), memory_(std::move(memory)), machine_(nullptr) {}

Result<uint32_t> Cluster::allocate(size_t bytes) { return memory_->allocate(Space::global, bytes); }
Result<uint32_t> Cluster::allocate_high(size_t bytes) {
  return memory_->allocate(Space::high, bytes);
}
Status Cluster::release(uint32_t address) { return memory_->release(address); }
size_t Cluster::free_bytes() const { return memory_->free_bytes(Space::global); }

Result<std::shared_ptr<Block>> Cluster::find(uint32_t address, size_t count) const {
  auto block = memory_->find(address, count);
  if (block) return block;
  if (const auto part = memory_->find(address, 0)) {
    return fail(
        Code::invalid_address,
        "device memory: {} bytes at {:#x} of cluster {} run over the end of the allocation of {} "
        "bytes at {:#x}; copy less or allocate more",
        count, address, id_, part->bytes(), part->base());
  }
  return fail(
      Code::invalid_address,
      "device memory: {:#x} of cluster {} is not allocated; pass an address inside memory that "
      "was allocated there and not freed",
      address, id_);
}

Status Cluster::write(uint32_t address, const void* from, size_t count) {
  ANYNPU_ASSIGN(auto block, find(address, count));
  if (count > 0) std::memcpy(block->host(address), from, count);
  return {};
}

Status Cluster::read(uint32_t address, void* to, size_t count) const {
  ANYNPU_ASSIGN(auto block, find(address, count));
  if (count > 0) std::memcpy(to, block->host(address), count);
  return {};
}

Status Cluster::check(const Module& module, const LaunchRequest& request) const {
  if (&module.cluster() != this) {
    return fail(
        Code::invalid_handle,
        "launch: the module was loaded on cluster {}, the kernel is launched on cluster {}; load "
        "it there too",
        module.cluster().id(), id_);
  }
  if (request.core_num < 1 || request.core_num > kCores) {
    return fail(Code::invalid_config, "launch: core_num is {}, expected 1 to {}", request.core_num,
                kCores);
  }
  if (request.blocks != 0 && (request.blocks < request.core_num || request.blocks > kMostBlocks)) {
    return fail(Code::invalid_config, "launch: {} blocks on {} cores, expected {} to {}",
                request.blocks, request.core_num, request.core_num, kMostBlocks);
  }
  if (request.flags > 3) {
    return fail(Code::invalid_argument, "launch: flags are {}, expected a KernelFlag from 0 to 3",
                request.flags);
  }
  if (request.args.size() > kMaxArgs) {
    return fail(Code::invalid_argument, "launch: {} parameters, at most {} are taken",
                request.args.size(), kMaxArgs);
  }
  if (!module.has_kernel(request.kernel)) {
    std::string known;
    for (const std::string& name : module.kernels()) {
      if (known.size() > 200) break;
      known += (known.empty() ? "" : ", ") + name;
    }
    return fail(Code::not_found,
                "launch: the module has no kernel '{}'; its functions are: {}. Declare C++ kernels "
                "extern \"C\"",
                request.kernel, known);
  }
  return check_parameters(module.image(), request);
}

Status Cluster::launch(const Module& module, const LaunchRequest& request, LaunchStats* stats) {
  ANYNPU_TRY(check(module, request));
  LaunchStats own;
  LaunchStats& result = stats ? *stats : own;
  result = {};
  result.kernel = request.kernel;
  result.cluster = id_;
  const Image& image = module.image();
  LaunchSetup setup{&image,
                    request.kernel,
                    image.find_kernel(request.kernel),
                    fitted_parameters(image, request),
                    request.core_num,
                    request.blocks == 0 ? request.core_num : request.blocks,
                    request.budget};
  setup.timeout_ns = request.timeout_ns;
  if (setup.timeout_ns == 0) {
    const int64_t seconds = std::clamp<int64_t>(env::integer(env::Name::npc_timeout), 0, 1 << 30);
    setup.timeout_ns = static_cast<uint64_t>(seconds) * 1'000'000'000;
    setup.is_default_timeout = true;
  }
  if (setup.budget == 0) {
    const int64_t set = env::integer(env::Name::npc_budget);
    setup.budget = set > 0 ? static_cast<uint64_t>(set) : uint64_t{1} << 40;
  }
  PrintSink sink;
  sink.print = request.print;
  std::lock_guard lock(machine_->launching);
  if (!image.constructed) {
    for (const uint32_t function : image.constructors) {
      LaunchSetup constructor{&image, "(constructor)", function, {}, 1, 1, setup.budget};
      ANYNPU_TRY(run_launch(machine_->frame, constructor, sink, result),
                 "in a constructor of the module, before kernel '{}'", request.kernel);
    }
    image.constructed = true;
    result.dma = {};
  }
  return run_launch(machine_->frame, setup, sink, result);
}

}  // namespace anynpu::npc
