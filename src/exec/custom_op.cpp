// SPDX-License-Identifier: Apache-2.0
#include "exec/custom_op.h"

namespace anynpu::exec {

KernelLaunch launch_of(const KernelChoice& choice, std::span<const Buffer> inputs,
                       std::span<const Buffer> outputs) {
  KernelLaunch launch;
  launch.blocks = choice.blocks;
  const auto add = [&](void* data, size_t bytes, KernelRegion::Back back) {
    const auto index = static_cast<uint32_t>(launch.regions.size());
    launch.regions.push_back({static_cast<std::byte*>(data), bytes, back, nullptr});
    launch.arguments.push_back({KernelArgument::Kind::region, 0, index});
  };
  for (const Buffer& input : inputs) add(input.data, input.bytes, KernelRegion::Back::none);
  for (const Buffer& output : outputs) add(output.data, output.bytes, KernelRegion::Back::all);
  for (size_t bytes : choice.workspaces) add(nullptr, bytes, KernelRegion::Back::none);
  launch.copies.push_back(choice.tiling);
  launch.arguments.push_back({KernelArgument::Kind::copy, 0, 0});
  return launch;
}

CustomOps& CustomOps::instance() {
  static auto* ops = new CustomOps;
  return *ops;
}

void CustomOps::add_kernel(const std::string& type, const std::string& id,
                           std::shared_ptr<DeviceKernel> kernel) {
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
