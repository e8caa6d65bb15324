// SPDX-License-Identifier: Apache-2.0
// A notify is a flag that one stream sets and another waits for and clears. Unlike an event it has
// no history: one record releases one wait, in either order. An exported notify keeps its flag in
// shared memory; waits then poll the flag, every few milliseconds at most. All calls are
// thread-safe.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/handle_table.h"
#include "base/shared_file.h"
#include "device/task.h"

namespace anynpu::device {

class Stream;

class Notify : public std::enable_shared_from_this<Notify> {
 public:
  explicit Notify(uint32_t flags);
  ~Notify();

  Status record(Stream& stream);
  // timeout_ms 0: forever. A wait that times out fails its task.
  Status wait_and_reset(Stream& stream, uint32_t timeout_ms);
  // Clears the flag at once.
  void reset();

  // The key under which another process imports this notify; the same one on each call.
  Result<std::string> export_key(SharedFile::Admit admit);
  // Lets processes import it; after export_key.
  Status let_in(std::span<const int32_t> pids);
  static Result<std::shared_ptr<Notify>> import(std::string_view key, uint32_t flags);

  uint32_t id() const { return id_; }

 private:
  struct Waiter {
    uint64_t ticket;
    Completion completion;
  };
  struct SharedFlag;
  Status attach(std::shared_ptr<SharedFile> file);
  bool take_flag();  // clears it; whether it was set
  void set();
  void give_up(uint64_t ticket, uint32_t timeout_ms);
  // Releases the first waiter for each flag it can take; the result keeps the completions until the
  // lock is released.
  std::vector<Completion> release_waiters();
  void look_again(uint64_t delay_ns);

  const uint32_t flags_;
  const uint32_t id_;
  std::mutex mutex_;
  bool flag_ = false;
  std::shared_ptr<SharedFile> file_;  // set once exported or imported
  SharedFlag* shared_ = nullptr;
  bool imported_ = false;
  bool looking_ = false;  // a timer will poll the shared flag
  uint64_t next_ticket_ = 0;
  std::deque<Waiter> waiters_;
};

}  // namespace anynpu::device

namespace anynpu {
ANYNPU_HANDLE_TYPE(device::Notify, notify);
}
