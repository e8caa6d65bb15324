// SPDX-License-Identifier: Apache-2.0
// The buffers of one run for CPU kernels: the program's own or, on a device whose memory the host
// cannot read, host views of them (device/host_view.h).
#pragma once

#include <span>
#include <vector>

#include "device/host_view.h"
#include "exec/model.h"

namespace anynpu::exec {

class HostBuffers {
 public:
  HostBuffers(std::span<const Buffer> in, std::span<const Buffer> out);

  // `run` takes the spans of inputs and outputs.
  template <typename Run>
  Status run(Run&& run) {
    const auto on_views = [&] {
      std::vector<Buffer> seen;
      for (const device::HostRange& view : views_) seen.push_back({view.address, view.bytes});
      const std::span<const Buffer> all(seen);
      Status status = run(all.first(inputs_), all.subspan(inputs_));
      if (!status.ok()) restore_failed_addresses();
      return status;
    };
    return device::with_host_view(std::span(views_), on_views);
  }

 private:
  // Maps failed_addresses() (runner.h) back to the program's own addresses.
  void restore_failed_addresses() const;
  const void* program_address(const void* seen) const;

  size_t inputs_;
  std::vector<device::HostRange> views_, programs_;
};

}  // namespace anynpu::exec
