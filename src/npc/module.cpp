// SPDX-License-Identifier: Apache-2.0
#include "npc/module.h"

#include "npc/cluster.h"
#include "npc/image.h"
#include "npc/translate/translation.h"

namespace anynpu::npc {

Result<std::shared_ptr<Module>> Module::load(Cluster& cluster, std::span<const std::byte> object) {
  ANYNPU_ASSIGN(auto image, link(object, cluster.memory()));
  image->translation = Translation::make(*image);
  return std::shared_ptr<Module>(new Module(cluster, std::move(image)));
}

Module::Module(Cluster& cluster, std::unique_ptr<Image> image)
    : cluster_(cluster), image_(std::move(image)) {}

Module::~Module() = default;

bool Module::has_kernel(std::string_view name) const { return image_->find_kernel(name) != 0; }

std::vector<std::string> Module::kernels() const {
  std::vector<std::string> names;
  for (const auto& [name, address] : image_->kernels) names.push_back(name);
  return names;
}

}  // namespace anynpu::npc
