// SPDX-License-Identifier: Apache-2.0
// EngineGate: how many tasks of one engine (a copy unit, a codec) run at once on a device. A stream
// that finds no place parks in the gate, in order of arrival, and is woken with the place in hand.
#pragma once

#include <deque>
#include <memory>
#include <mutex>

namespace anynpu::device {

class Stream;

class EngineGate {
 public:
  static constexpr int kUnlimited = 0;

  void set_limit(int limit) { limit_ = limit; }  // before the first task

  bool limited() const { return limit_ != kUnlimited; }
  // True: the caller has a place. False: `stream` is queued and will be granted one later.
  bool enter(const std::shared_ptr<Stream>& stream);
  // Gives a place back, or passes it to the stream that waits longest.
  void leave();

 private:
  int limit_ = kUnlimited;
  std::mutex mutex_;
  int active_ = 0;
  std::deque<std::shared_ptr<Stream>> waiting_;
};

}  // namespace anynpu::device
