// SPDX-License-Identifier: Apache-2.0
// The stream of one channel: made in the thread's current context, ended with the channel.
#pragma once

#include <memory>
#include <utility>

#include "base/handle_table.h"
#include "device/stream.h"

namespace anynpu::media {

class ChannelStream {
 public:
  static Result<ChannelStream> make();
  ChannelStream() = default;
  ChannelStream(ChannelStream&& other) noexcept { *this = std::move(other); }
  ChannelStream& operator=(ChannelStream&& other) noexcept {
    std::swap(handle_, other.handle_);
    std::swap(stream_, other.stream_);
    return *this;
  }
  ~ChannelStream();
  device::Stream* operator->() const { return stream_.get(); }

 private:
  Handle handle_ = 0;
  std::shared_ptr<device::Stream> stream_;
};

}  // namespace anynpu::media
