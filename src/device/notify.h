// SPDX-License-Identifier: Apache-2.0
// A notify is a flag that one stream sets and another waits for and clears. Unlike an event it has
// no history: one record releases one wait, whichever came first. All calls are thread-safe.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>

#include "base/handle_table.h"
#include "device/task.h"

namespace anynpu::device {

class Stream;

class Notify : public std::enable_shared_from_this<Notify> {
 public:
  explicit Notify(uint32_t flags);

  Status record(Stream& stream);
  // timeout_ms 0: for ever. A wait that times out fails its task.
  Status wait_and_reset(Stream& stream, uint32_t timeout_ms);
  // Clears the flag at once.
  void reset();

  uint32_t id() const { return id_; }

 private:
  struct Waiter {
    uint64_t ticket;
    Completion completion;
  };
  void set();
  void give_up(uint64_t ticket, uint32_t timeout_ms);

  const uint32_t flags_;
  const uint32_t id_;
  std::mutex mutex_;
  bool flag_ = false;
  uint64_t next_ticket_ = 0;
  std::deque<Waiter> waiters_;
};

}  // namespace anynpu::device

namespace anynpu {
ANYNPU_HANDLE_TYPE(device::Notify, notify);
}
