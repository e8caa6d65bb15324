// SPDX-License-Identifier: Apache-2.0
#include "device/engine_gate.h"

#include "device/stream.h"

namespace anynpu::device {

bool EngineGate::enter(const std::shared_ptr<Stream>& stream) {
  std::lock_guard lock(mutex_);
  if (active_ < limit_) {
    ++active_;
    return true;
  }
  waiting_.push_back(stream);
  return false;
}

void EngineGate::leave() {
  std::shared_ptr<Stream> next;
  {
    std::lock_guard lock(mutex_);
    if (waiting_.empty()) {
      --active_;
      return;
    }
    next = std::move(waiting_.front());
    waiting_.pop_front();
  }
  next->engine_granted(*this);
}

}  // namespace anynpu::device
