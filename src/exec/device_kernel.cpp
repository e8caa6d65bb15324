// SPDX-License-Identifier: Apache-2.0
#include "exec/device_kernel.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/quiet_write.h"
#include "device/host_view.h"
#include "npc/cluster.h"
#include "npc/image.h"
#include "npc/module.h"
#include "trace/trace.h"

namespace anynpu::exec {

namespace {

// Memory of the cluster for one launch, freed at the end in any case.
class Staging {
 public:
  explicit Staging(npc::Cluster& cluster) : cluster_(cluster) {}
  ~Staging() {
    for (uint32_t address : held_) (void)cluster_.release(address);
  }
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;

  Result<uint32_t> copy_in(const void* data, size_t bytes) {
    // An address is needed for empty tensors too.
    ANYNPU_ASSIGN(const uint32_t address, cluster_.allocate(bytes == 0 ? 1 : bytes));
    held_.push_back(address);
    if (!data || bytes == 0) return address;
    ANYNPU_TRACE_ZONE(copy, "stage into NPC memory", 0, bytes);
    ANYNPU_TRY(cluster_.write(address, data, bytes));
    return address;
  }

 private:
  npc::Cluster& cluster_;
  std::vector<uint32_t> held_;
};

constexpr size_t kMergeStep = 256;

// The first and one past the last byte of [begin, end) that differ.
std::pair<size_t, size_t> changed_in(const std::byte* after, const std::byte* before, size_t begin,
                                     size_t end) {
  while (after[begin] == before[begin]) ++begin;
  while (after[end - 1] == before[end - 1]) --end;
  return {begin, end};
}

// Brings the bytes that differ from `before` to `to`, so that what other streams wrote into the
// same allocation meanwhile stays. `each` gets the ends of what changed in one step.
template <typename Each>
void merge(const std::byte* after, const std::byte* before, std::byte* to, size_t bytes,
           Each&& each) {
  for (size_t at = 0; at < bytes; at += kMergeStep) {
    const size_t step = std::min(kMergeStep, bytes - at);
    if (std::memcmp(after + at, before + at, step) == 0) continue;
    const auto [begin, end] = changed_in(after, before, at, at + step);
    for (size_t i = begin; i < end; ++i) {
      if (after[i] != before[i]) to[i] = after[i];
    }
    each(begin, end);
  }
}

// What the kernel changed, in pieces; steps side by side are one.
void add_piece(std::vector<KernelPiece>& pieces, const std::byte* data, size_t bytes) {
  if (!pieces.empty() && pieces.back().changed &&
      pieces.back().data + pieces.back().bytes + kMergeStep > data && pieces.back().data < data) {
    pieces.back().bytes = static_cast<size_t>(data - pieces.back().data) + bytes;
    return;
  }
  pieces.push_back({data, bytes, true});
}

Status bring_back(npc::Cluster& cluster, uint32_t address, const KernelRegion& region,
                  const std::vector<std::byte>& before, std::vector<KernelPiece>& pieces) {
  if (region.back == KernelRegion::Back::none || region.bytes == 0) return {};
  ANYNPU_TRACE_ZONE(copy, "stage out of NPC memory", 0, region.bytes);
  if (region.back == KernelRegion::Back::all) {
    return cluster.read(address, region.data, region.bytes);
  }
  ANYNPU_ASSIGN(auto block, cluster.find(address, region.bytes));
  pieces.push_back({region.data, region.bytes, false});
  merge(block->host(address), before.data(), region.data, region.bytes,
        [&](size_t begin, size_t end) { add_piece(pieces, region.data + begin, end - begin); });
  return {};
}

// Pieces of `seen` become the same pieces of `regions`.
void to_program_addresses(std::span<const KernelRegion> regions, std::span<const KernelRegion> seen,
                          std::vector<KernelPiece>& pieces) {
  for (KernelPiece& piece : pieces) {
    for (size_t i = 0; i < regions.size(); ++i) {
      const auto offset = static_cast<size_t>(piece.data - seen[i].data);
      if (seen[i].data > piece.data || offset >= seen[i].bytes) continue;
      piece.data = regions[i].data + offset;
      break;
    }
  }
}

}  // namespace

Status DeviceKernel::check_blocks(uint32_t blocks) {
  if (blocks > 0 && blocks <= npc::kMostBlocks) return {};
  return fail(Code::invalid_argument, "blockDim is {}; expected 1 to {}", blocks, npc::kMostBlocks);
}

Result<std::shared_ptr<npc::Module>> DeviceKernel::load(std::span<const std::byte> object) {
  ANYNPU_ASSIGN(npc::Cluster * cluster, npc::Cluster::get(0));
  return npc::Module::load(*cluster, object);
}

Result<std::shared_ptr<DeviceKernel>> DeviceKernel::find(std::shared_ptr<npc::Module> module,
                                                         std::string name) {
  if (!module->has_kernel(name)) {
    std::string there;
    for (const std::string& one : module->kernels()) there += " " + one;
    return fail(Code::not_found, "the object has no function '{}'; it has{}", name,
                there.empty() ? " none" : there);
  }
  auto kernel = std::make_shared<DeviceKernel>();
  kernel->name_ = std::move(name);
  kernel->module_ = std::move(module);
  return kernel;
}

uint32_t DeviceKernel::address() const { return module_->image().find_kernel(name_); }

Status DeviceKernel::run(const KernelLaunch& launch) const {
  std::vector<KernelPiece> pieces;
  std::vector<device::HostRange> views;
  for (const KernelRegion& region : launch.regions) {
    views.push_back(
        {region.data, region.data ? region.bytes : 0,
         region.back == KernelRegion::Back::none ? device::Access::read : device::Access::write});
  }
  Status status = device::with_host_view(std::span(views), [&] {
    std::vector<KernelRegion> regions = launch.regions;
    for (size_t i = 0; i < views.size(); ++i) {
      regions[i].data = static_cast<std::byte*>(views[i].address);
    }
    Status ran = run(launch, regions, pieces);
    to_program_addresses(launch.regions, regions, pieces);
    return ran;
  });
  if (launch.touched) launch.touched(pieces);
  return status;
}

Status DeviceKernel::run(const KernelLaunch& launch, std::span<const KernelRegion> given,
                         std::vector<KernelPiece>& pieces) const {
  npc::Cluster& cluster = module_->cluster();
  Staging staging(cluster);
  npc::LaunchRequest request;
  request.kernel = name_;
  request.blocks = static_cast<int>(launch.blocks);
  request.core_num = std::min(request.blocks, npc::kCores);
  request.timeout_ns = launch.timeout_ns;
  if (launch.print) request.print = [&](int, std::string_view text) { launch.print(text); };
  std::vector<uint32_t> regions, copies;
  std::vector<std::vector<std::byte>> before(given.size());
  for (size_t i = 0; i < given.size(); ++i) {
    const KernelRegion& region = given[i];
    if (region.back == KernelRegion::Back::changed) {
      before[i].assign(region.data, region.data + region.bytes);
    }
    // Bytes that the kernel does not write stay unchanged, so all of them are copied in.
    const void* from = before[i].empty() ? region.data : before[i].data();
    ANYNPU_ASSIGN(const uint32_t address, staging.copy_in(from, region.bytes));
    regions.push_back(address);
  }
  for (const std::vector<std::byte>& copy : launch.copies) {
    ANYNPU_ASSIGN(const uint32_t address, staging.copy_in(copy.data(), copy.size()));
    copies.push_back(address);
  }
  for (const KernelArgument& a : launch.arguments) {
    const uint32_t base = a.kind == KernelArgument::Kind::region ? regions[a.index]
                          : a.kind == KernelArgument::Kind::copy ? copies[a.index]
                                                                 : 0;
    request.args.push_back(base + a.word);
  }
  npc::LaunchStats stats;
  Status status = cluster.launch(*module_, request, &stats);
  if (!status.ok()) {
    write_error_text(stats.trap_report);
    if (status.code() != Code::task_failed) return status;
    return Status(Code::kernel_failed, status.message());
  }
  for (size_t i = 0; i < given.size(); ++i) {
    ANYNPU_TRY(bring_back(cluster, regions[i], given[i], before[i], pieces));
  }
  return {};
}

}  // namespace anynpu::exec
