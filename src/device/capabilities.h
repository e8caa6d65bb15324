// SPDX-License-Identifier: Apache-2.0
// The optional features of a device, as data. Calls that need a missing one fail with
// unsupported_feature; the conformance suite (tests/device) skips their tests.
#pragma once

#include <string_view>

namespace anynpu::device {

struct Capabilities {
  std::string_view backend;  // as ANYNPU_DEVICES names it: "cpu"
  // Which kernels run on it. "cpu": the host's, on host views of its memory. The name of the back
  // end: its own (ops/backend_kernels.h); weights and work memory of models are then in device
  // memory, and plans are enqueued.
  std::string_view kernels = "cpu";
  bool host_readable = true;   // programs may dereference its addresses
  bool finishes_calls = true;  // its queues are synchronous: work is done when a call returns
  bool shared_memory = true;   // virtual memory, and memory shared with other processes
  bool media = true;           // pictures and video (acldvpp, himpi)
};

}  // namespace anynpu::device
