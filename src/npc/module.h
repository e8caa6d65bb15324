// SPDX-License-Identifier: Apache-2.0
// A device program loaded into the global memory of one cluster: a relocatable RV32 object as
// stc-ld.lld -r writes it, linked and decoded. Immutable after load, apart from the program's own
// writable data; shared by all launches that use it. Its memory is freed with the last
// reference.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace anynpu::npc {

class Cluster;
struct Image;  // linked sections, symbols, decoded code (image.h)

class Module {
 public:
  // Links `object` into the memory of `cluster`. Codes: see cluster.h. Any bytes are safe to pass.
  static Result<std::shared_ptr<Module>> load(Cluster& cluster, std::span<const std::byte> object);
  ~Module();
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  Cluster& cluster() const { return cluster_; }
  bool has_kernel(std::string_view name) const;
  std::vector<std::string> kernels() const;  // global functions, sorted
  const Image& image() const { return *image_; }

 private:
  Module(Cluster& cluster, std::unique_ptr<Image> image);
  Cluster& cluster_;
  std::unique_ptr<Image> image_;
};

}  // namespace anynpu::npc
