// SPDX-License-Identifier: Apache-2.0
#include "exec/custom_op.h"

#include <cstdio>

#include "npc/cluster.h"
#include "npc/module.h"
#include "trace/trace.h"

namespace anynpu::exec {

namespace {

// Memory of the cluster for one launch, given back at the end whatever happens.
class Staging {
 public:
  explicit Staging(npc::Cluster& cluster) : cluster_(cluster) {}
  ~Staging() {
    for (uint32_t address : held_) (void)cluster_.release(address);
  }
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;

  // An address is needed for empty tensors too.
  Result<uint32_t> room(size_t bytes) {
    ANYNPU_ASSIGN(const uint32_t address, cluster_.allocate(bytes == 0 ? 1 : bytes));
    held_.push_back(address);
    return address;
  }
  Result<uint32_t> copy_in(const void* data, size_t bytes) {
    ANYNPU_ASSIGN(const uint32_t address, room(bytes));
    ANYNPU_TRACE_ZONE(copy, "stage into NPC memory", 0, bytes);
    if (bytes > 0) ANYNPU_TRY(cluster_.write(address, data, bytes));
    return address;
  }

 private:
  npc::Cluster& cluster_;
  std::vector<uint32_t> held_;
};

}  // namespace

Result<std::shared_ptr<CustomKernel>> CustomKernel::load(std::string name,
                                                         std::span<const std::byte> object) {
  ANYNPU_ASSIGN(npc::Cluster * cluster, npc::Cluster::get(0));
  auto kernel = std::make_shared<CustomKernel>();
  ANYNPU_ASSIGN(kernel->module_, npc::Module::load(*cluster, object));
  if (!kernel->module_->has_kernel(name)) {
    std::string there;
    for (const std::string& one : kernel->module_->kernels()) there += " " + one;
    return fail(Code::not_found, "the object has no function '{}'; it has{}", name,
                there.empty() ? " none" : there);
  }
  kernel->name_ = std::move(name);
  return kernel;
}

Status CustomKernel::run(const KernelChoice& choice, std::span<const Buffer> inputs,
                         std::span<const Buffer> outputs) const {
  npc::Cluster& cluster = module_->cluster();
  Staging staging(cluster);
  npc::LaunchRequest request;
  request.kernel = name_;
  request.core_num = static_cast<int>(choice.blocks);
  for (const Buffer& input : inputs) {
    ANYNPU_ASSIGN(const uint32_t address, staging.copy_in(input.data, input.bytes));
    request.args.push_back(address);
  }
  const size_t first_output = request.args.size();
  for (const Buffer& output : outputs) {
    // What the kernel leaves alone stays as it was.
    ANYNPU_ASSIGN(const uint32_t address, staging.copy_in(output.data, output.bytes));
    request.args.push_back(address);
  }
  for (size_t bytes : choice.workspaces) {
    ANYNPU_ASSIGN(const uint32_t address, staging.room(bytes));
    request.args.push_back(address);
  }
  ANYNPU_ASSIGN(const uint32_t tiling, staging.copy_in(choice.tiling.data(), choice.tiling.size()));
  request.args.push_back(tiling);
  npc::LaunchStats stats;
  Status status = cluster.launch(*module_, request, &stats);
  if (!status.ok()) {
    if (!stats.trap_report.empty()) std::fputs(stats.trap_report.c_str(), stderr);
    return status;
  }
  for (size_t o = 0; o < outputs.size(); ++o) {
    ANYNPU_TRACE_ZONE(copy, "stage out of NPC memory", 0, outputs[o].bytes);
    if (outputs[o].bytes == 0) continue;
    ANYNPU_TRY(cluster.read(request.args[first_output + o], outputs[o].data, outputs[o].bytes));
  }
  return {};
}

CustomOps& CustomOps::instance() {
  static auto* ops = new CustomOps;
  return *ops;
}

void CustomOps::add_kernel(const std::string& type, const std::string& id,
                           std::shared_ptr<CustomKernel> kernel) {
  const std::lock_guard lock(mutex_);
  kernels_[type][id] = std::move(kernel);
}

bool CustomOps::has_type(const std::string& type) const {
  const std::lock_guard lock(mutex_);
  return kernels_.count(type) > 0;
}

Status CustomOps::choose(const std::string& type, const std::string& key, KernelChoice choice) {
  const std::lock_guard lock(mutex_);
  const auto kernels = kernels_.find(type);
  if (kernels == kernels_.end() || kernels->second.count(choice.kernel_id) == 0) {
    return fail(Code::not_found,
                "the selector of {} chose kernel '{}', which was not registered; call "
                "aclopCreateKernel for it",
                type, choice.kernel_id);
  }
  auto kernel = kernels->second.at(choice.kernel_id);
  ready_[key] = {std::move(kernel), std::make_shared<const KernelChoice>(std::move(choice))};
  return {};
}

Result<CustomOps::Ready> CustomOps::find(const std::string& type, const std::string& key) const {
  const std::lock_guard lock(mutex_);
  if (const auto found = ready_.find(key); found != ready_.end()) return found->second;
  return fail(
      Code::unsupported_op,
      "no kernel was chosen for operator {} with these tensors; call aclopUpdateParams with "
      "the same descriptions and attributes first",
      type);
}

void CustomOps::clear() {
  const std::lock_guard lock(mutex_);
  ready_.clear();
  kernels_.clear();
}

}  // namespace anynpu::exec
