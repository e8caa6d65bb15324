// SPDX-License-Identifier: Apache-2.0
#include "exec/host_buffers.h"

#include "exec/runner.h"

namespace anynpu::exec {

HostBuffers::HostBuffers(std::span<const Buffer> in, std::span<const Buffer> out)
    : inputs_(in.size()) {
  for (const Buffer& b : in) views_.push_back({b.data, b.bytes, device::Access::read});
  for (const Buffer& b : out) views_.push_back({b.data, b.bytes, device::Access::write});
  programs_ = views_;
}

const void* HostBuffers::program_address(const void* seen) const {
  const auto at = reinterpret_cast<uintptr_t>(seen);
  for (size_t i = 0; i < views_.size(); ++i) {
    const auto base = reinterpret_cast<uintptr_t>(views_[i].address);
    if (at - base < views_[i].bytes) {
      return static_cast<const std::byte*>(programs_[i].address) + (at - base);
    }
  }
  return seen;
}

void HostBuffers::restore_failed_addresses() const {
  StepAddresses failed = failed_addresses();
  for (const void*& address : failed.inputs) address = program_address(address);
  for (const void*& address : failed.outputs) address = program_address(address);
  set_failed_addresses(std::move(failed));
}

}  // namespace anynpu::exec
