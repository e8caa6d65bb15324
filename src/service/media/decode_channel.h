// SPDX-License-Identifier: Apache-2.0
// A video decoder with callbacks: packets go in, each comes back through the program's callback, in
// the thread that the channel was opened for. The end of the stream has no callback; sending it
// returns when all callbacks before it have run. Described by handles. Thread-safe.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "media/decode_session.h"
#include "service/media/callback_channel.h"
#include "service/media/media_objects.h"

namespace anynpu::media {

// Runs in the program's thread for each packet; `failure` says why a picture was not decoded.
using DecodeCallback =
    std::function<void(const Status& failure, Handle packet, Handle picture, void* user_data)>;

class DecodeChannel;

// Settings of a channel, and the channel once it is created.
struct DecoderDesc {
  uint64_t thread = 0;
  void* callback = nullptr;  // a function of the program: the front door knows its type
  uint32_t channel_id = 0;
  uint32_t stream_format = 2;  // 0: H.265; 1 to 3: profiles of H.264
  uint32_t format = pixel::kNv12;
  uint32_t width = 0;
  uint32_t height = 0;
  uint32_t reference_frames = 0;
  uint32_t bit_depth = 0;
  uint32_t out_mode = 0;
  uint32_t matrix = kVideoMatrix;
  std::shared_ptr<DecodeChannel> channel;
};
struct DecodeConfig {};

class DecodeChannel : public std::enable_shared_from_this<DecodeChannel> {
 public:
  static constexpr int kMostChannels = 16;

  struct Packet {
    Handle handle = 0;
    Handle output_handle = 0;
    std::shared_ptr<PictureDesc> output;  // null: the picture is decoded and dropped
    PictureSpec spec;
    std::vector<uint8_t> bytes;  // taken at the call: programs fill the same buffer again
    device::Range memory;        // of the output
    void* user_data = nullptr;
    bool end_of_stream = false;
  };

  // limit_exceeded when kMostChannels are open.
  static Result<std::shared_ptr<DecodeChannel>> open(const DecoderDesc& desc,
                                                     DecodeCallback callback);
  ~DecodeChannel();
  Status send(Packet packet);
  // Refused inside a callback of the channel's own thread.
  Status may_close() const { return channel_->may_close(); }
  // Waits for all packets and callbacks.
  Status close();

 private:
  void run(uint64_t id, const std::shared_ptr<Packet>& packet);
  Status wait_for_end(bool has_bytes);
  uint32_t write(Packet& packet, const DecodedFrame& frame) const;
  void deliver(const DecodeSession::Results& results);

  // Used only by tasks of the stream, except the counter.
  DecodeCallback callback_;
  int32_t format_ = 0;
  uint32_t matrix_ = 0;
  std::unique_ptr<DecodeSession> session_;
  std::shared_ptr<CallbackChannel> channel_;
  std::map<uint64_t, std::shared_ptr<Packet>> packets_;
  std::atomic<uint64_t> next_{0};
};

// The calls of a program. `callback_of` turns the function of the description into a callback.
Status create_decoder(Handle desc, DecodeCallback (*callback_of)(void* function));
Status destroy_decoder(Handle desc);
// Refused while the channel is there.
Status destroy_decoder_desc(Handle desc);

struct DecodeCall {
  Handle desc = 0;
  Handle packet = 0;
  Handle picture = 0;
  bool skipped = false;  // decoded, without a picture
  Handle config = 0;     // 0: none
  void* user_data = nullptr;
};
Status send_packet(const DecodeCall& call);

}  // namespace anynpu::media

namespace anynpu {
ANYNPU_HANDLE_TYPE(media::DecoderDesc, video_decoder);
ANYNPU_HANDLE_TYPE(media::DecodeConfig, decode_config);
}  // namespace anynpu
