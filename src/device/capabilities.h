// SPDX-License-Identifier: Apache-2.0
// What a device offers beyond what every device must, as data. Calls that need something a device
// lacks fail with unsupported_feature; the conformance suite (tests/device) skips by it.
#pragma once

#include <string_view>

namespace anynpu::device {

struct Capabilities {
  std::string_view backend;  // as ANYNPU_DEVICES names it: "cpu"
  // Whose kernels run on it. "cpu": those of the host, on views of its memory. Its own name: those
  // that it brought along (ops/backend_kernels.h); weights and work of models then lie in its
  // memory, and plans are enqueued.
  std::string_view kernels = "cpu";
  bool host_readable = true;   // programs may dereference its addresses
  bool finishes_calls = true;  // its queues are done with a call when the call returns
  bool shared_memory = true;   // virtual memory, and memory of other processes
  bool media = true;           // pictures and video (acldvpp, himpi)
};

}  // namespace anynpu::device
