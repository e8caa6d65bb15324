// SPDX-License-Identifier: Apache-2.0
// EngineGate limits how many tasks of one engine (a copy unit, a codec) run at once on a device. A
// stream that finds no free slot parks, in order of arrival, and is woken when it has one.
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
  // True: the caller has a slot. False: `stream` is queued and will be given one later.
  bool enter(const std::shared_ptr<Stream>& stream);
  // Returns a slot, or passes it to the stream that has waited longest.
  void leave();

 private:
  int limit_ = kUnlimited;
  std::mutex mutex_;
  int active_ = 0;
  std::deque<std::shared_ptr<Stream>> waiting_;
};

}  // namespace anynpu::device
