// SPDX-License-Identifier: Apache-2.0
// A video encoder with callbacks: pictures go in, packets come back through the program's callback.
// The memory of a packet belongs to the channel and is valid inside the callback. Described by
// handles. Thread-safe.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>

#include "media/video_codec.h"
#include "service/media/callback_channel.h"
#include "service/media/media_objects.h"

namespace anynpu::media {

// Runs in the program's thread for each picture; the packet's handle ends with the call.
using EncodeCallback = std::function<void(Handle picture, Handle packet, void* user_data)>;

class EncodeChannel;

// Settings of a channel, and the channel once it is created.
struct EncoderDesc {
  uint64_t thread = 0;
  void* callback = nullptr;  // a function of the program: the front door knows its type
  uint32_t channel_id = 0;
  uint32_t stream_format = 2;  // 0: H.265; 1 to 3: profiles of H.264
  uint32_t format = pixel::kNv12;
  uint32_t width = 0;
  uint32_t height = 0;
  uint32_t key_interval = 0;
  void* buffer = nullptr;
  uint32_t buffer_size = 0;
  uint32_t rate_mode = 0;  // 0 and 2: constant, 1: variable
  uint32_t source_rate = 30;
  uint32_t max_bit_rate = 300;
  uint32_t i_to_p = 70;
  std::shared_ptr<EncodeChannel> channel;
};
struct EncodeConfig {
  uint8_t force_key = 0;
  uint8_t eos = 0;
};

class EncodeChannel : public std::enable_shared_from_this<EncodeChannel> {
 public:
  struct Picture {
    Handle handle = 0;
    CheckedPicture view;
    void* user_data = nullptr;
    bool force_key = false;
  };

  static Result<std::shared_ptr<EncodeChannel>> open(const EncoderDesc& desc,
                                                     EncodeCallback callback);
  // The channel's size and layout, for pictures that do not state their own.
  Result<CheckedPicture> check(PictureSpec spec) const;
  Status send(Picture picture);
  // The end of the stream: flushes the encoder; the next picture starts a new stream.
  Status finish();
  // The same, and all callbacks have run when it returns.
  Status end();
  // Refused inside a callback of the channel's own thread.
  Status may_close() const { return channel_->may_close(); }
  // Waits for all pictures and callbacks.
  Status close();

 private:
  void encode(uint64_t id, const Picture& picture);
  Status encode_with_encoder(uint64_t id, const Picture& picture);
  void deliver(const EncodedPacket& packet);
  void call(const Picture& picture, std::shared_ptr<PacketDesc> packet);
  Status store(const EncodedPacket& packet, PacketDesc& desc);
  Result<void*> memory_for(size_t bytes);

  EncodeCallback callback_;
  PictureSpec shape_;
  VideoEncoderOptions options_;
  void* buffer_ = nullptr;  // of the program
  uint32_t buffer_size_ = 0;
  std::shared_ptr<device::Device> device_;
  std::unique_ptr<VideoEncoder> encoder_;  // used by tasks; a new one after each end of stream
  std::shared_ptr<CallbackChannel> channel_;
  std::map<uint64_t, Picture> pictures_;
  std::atomic<uint64_t> next_{0};
};

// The calls of a program. `callback_of` turns the function of the description into a callback.
Status create_encoder(Handle desc, EncodeCallback (*callback_of)(void* function));
Status destroy_encoder(Handle desc);
// Refused while the channel is there.
Status destroy_encoder_desc(Handle desc);
// A config with the end of the stream may come without a picture (0).
Status send_picture(Handle desc, Handle picture, Handle config, void* user_data);

}  // namespace anynpu::media

namespace anynpu {
ANYNPU_HANDLE_TYPE(media::EncoderDesc, video_encoder);
ANYNPU_HANDLE_TYPE(media::EncodeConfig, encode_config);
}  // namespace anynpu
