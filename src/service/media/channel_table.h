// SPDX-License-Identifier: Apache-2.0
// The open channels of one unit, known by the number that the program chose. Thread-safe. A channel
// has drain(), which waits for the work it has queued.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "base/result.h"

namespace anynpu::media {

template <typename T>
class ChannelTable {
 public:
  // Numbers are 0 to limit - 1.
  ChannelTable(const char* unit, int32_t limit) : unit_(unit), limit_(limit) {}

  // `make` gives the channel; it is called with the table locked.
  template <typename Make>
  Status create(int32_t number, Make&& make) {
    if (number < 0 || number >= limit_)
      return fail(Code::invalid_device, "the channel is {}; {} has channels 0 to {}", number, unit_,
                  limit_ - 1);
    const std::lock_guard lock(mutex_);
    if (channels_.count(number))
      return fail(Code::already_exists, "channel {} of {} exists already; destroy it first", number,
                  unit_);
    ANYNPU_ASSIGN(auto made, make());
    channels_[number] = std::move(made);
    return {};
  }

  Result<std::shared_ptr<T>> find(int32_t number) {
    const std::lock_guard lock(mutex_);
    const auto at = channels_.find(number);
    if (at != channels_.end()) return at->second;
    return absent(number);
  }

  // Drains the channel first: a task keeps its channel alive, and the last owner ends the stream,
  // which a task of that stream cannot wait for.
  Result<std::shared_ptr<T>> remove(int32_t number) {
    std::shared_ptr<T> channel;
    {
      const std::lock_guard lock(mutex_);
      const auto at = channels_.find(number);
      if (at == channels_.end()) return absent(number);
      channel = std::move(at->second);
      channels_.erase(at);
    }
    channel->drain();
    return channel;
  }

  // The lowest number that is free; -1 when there is none.
  int32_t free_number() {
    const std::lock_guard lock(mutex_);
    for (int32_t i = 0; i < limit_; ++i)
      if (!channels_.count(i)) return i;
    return -1;
  }

  void remove_all() {
    std::map<int32_t, std::shared_ptr<T>> taken;
    {
      const std::lock_guard lock(mutex_);
      taken = std::exchange(channels_, {});
    }
    for (auto& [number, channel] : taken) channel->drain();
  }

 private:
  Status absent(int32_t number) const {
    return fail(Code::not_found, "{} has no channel {}; create it first", unit_, number);
  }

  const char* unit_;
  const int32_t limit_;
  std::mutex mutex_;
  std::map<int32_t, std::shared_ptr<T>> channels_;
};

}  // namespace anynpu::media
