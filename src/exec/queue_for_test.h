// SPDX-License-Identifier: Apache-2.0
// For tests of plans for a device: a queue whose work is always done.
#pragma once

#include <functional>

#include "device/queue.h"

namespace anynpu::exec {

class IdleQueue : public device::Queue {
 public:
  Status copy(const device::CopyRows&) override { return {}; }
  Status fill(void*, int, size_t) override { return {}; }
  bool idle() const override { return true; }
  void when_idle(std::function<void(Status)> done) override { done({}); }
  Status drain() override {
    ++drains;
    return {};
  }

  int drains = 0;
};

}  // namespace anynpu::exec
