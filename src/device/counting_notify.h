// SPDX-License-Identifier: Apache-2.0
// A counter that streams set and wait for. It starts at 0. Thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "base/handle_table.h"
#include "base/result.h"
#include "device/task.h"

namespace anynpu::device {

class Stream;

class CountingNotify : public std::enable_shared_from_this<CountingNotify> {
 public:
  enum class Change : uint32_t { set = 0, add = 1, bit_or = 2, bit_and = 4 };
  enum class Until : uint32_t { less = 0, equal = 1, greater = 2, at_least = 3, has_bits = 4 };
  struct Wait {
    Until until = Until::equal;
    uint32_t value = 0;
    uint32_t timeout_s = 0;  // 0: forever
    bool clears = false;     // resets the counter after the wait
  };

  CountingNotify();

  Status record(Stream& stream, Change change, uint32_t value);
  // A wait that times out fails its task.
  Status wait(Stream& stream, const Wait& wait);
  Status reset(Stream& stream);

  uint32_t id() const { return id_; }

 private:
  struct Waiter {
    uint64_t ticket;
    Wait wait;
    Completion completion;
  };
  void change(Change change, uint32_t value);
  bool passes(const Wait& wait);  // and resets
  void give_up(uint64_t ticket);

  const uint32_t id_;
  std::mutex mutex_;
  uint32_t count_ = 0;
  uint64_t next_ticket_ = 0;
  std::vector<Waiter> waiters_;
};

}  // namespace anynpu::device

namespace anynpu {
ANYNPU_HANDLE_TYPE(device::CountingNotify, counting_notify);
}
