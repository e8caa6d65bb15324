// SPDX-License-Identifier: Apache-2.0
// A channel that decodes PNG files: files are queued, pictures are fetched in order. Thread-safe.
#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>

#include "media/rules.h"
#include "service/media/channel_stream.h"
#include "service/media/channel_table.h"
#include "service/media/record.h"

namespace anynpu::media {

// A file of the program.
struct ImageFile {
  const uint8_t* data = nullptr;
  uint32_t bytes = 0;
  Record record;  // given back with the picture
};

class PngChannel : public std::enable_shared_from_this<PngChannel> {
 public:
  struct Picture {
    ImageFile file;
    PictureSpec spec;  // what the program left open is filled in once it is decoded
    Status status;     // of decoding
  };

  // `queue`: files that may be sent and not fetched; 0 for 64.
  static Result<std::shared_ptr<PngChannel>> open(uint32_t queue);
  PngChannel(ChannelStream stream, uint32_t queue) : stream_(std::move(stream)), queue_(queue) {}

  // Waits for room in the queue: limit_exceeded when there is none in time.
  Status send(const ImageFile& file, const PictureSpec& output, int32_t milliseconds);
  // The next picture, also one that could not be decoded; not_complete when none came in time.
  Result<Picture> fetch(int32_t milliseconds);
  void drain() { (void)stream_->synchronize(); }

 private:
  ChannelStream stream_;
  const uint32_t queue_;
  std::mutex mutex_;
  std::condition_variable changed_;
  uint32_t pending_ = 0;  // sent and not fetched
  std::deque<std::shared_ptr<Picture>> done_;
};

ChannelTable<PngChannel>& png_channels();

}  // namespace anynpu::media
