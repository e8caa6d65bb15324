// SPDX-License-Identifier: Apache-2.0
#include "device/queue.h"

#include <condition_variable>
#include <mutex>

namespace anynpu::device {

Status Queue::drain() {
  if (idle()) return {};
  std::mutex mutex;
  std::condition_variable changed;
  bool over = false;
  Status outcome;
  when_idle([&](Status status) {
    // With the lock held: the waiter may not return, and take these variables along, before.
    const std::lock_guard lock(mutex);
    outcome = std::move(status);
    over = true;
    changed.notify_all();
  });
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return over; });
  kept_.clear();
  return outcome;
}

}  // namespace anynpu::device
