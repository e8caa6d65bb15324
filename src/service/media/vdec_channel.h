// SPDX-License-Identifier: Apache-2.0
// A decoder channel for H.264, H.265 and JPEG: pieces of a stream are queued with memory for their
// pictures, and pictures are fetched in order. Thread-safe.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>

#include "media/decode_session.h"
#include "service/media/channel_stream.h"
#include "service/media/channel_table.h"
#include "service/media/codec_type.h"
#include "service/media/ready_fd.h"
#include "service/media/record.h"

namespace anynpu::media {

struct VdecAttr {
  CodecType codec = CodecType::other;
  int32_t type_number = 0;  // as the program wrote it, for messages
  int32_t mode = 0;         // SendMode
  uint32_t width = 0, height = 0;
  uint32_t reference_frames = 0;
  Record record;
};
// Whether the program sends any bytes of a stream, or one picture at a time.
enum SendMode : int32_t { kSendStream, kSendFrames, kSendCompatible };

struct VdecParam {
  enum Frames : int32_t { all, without_b, only_i };
  enum Order : int32_t { by_display, by_decoding };
  uint32_t display_frames = 0;
  int32_t frames = all;
  int32_t order = by_display;
  int32_t format = pixel::kUnknown;  // of JPEG pictures
  uint32_t alpha = 255;
  Record record;
};

// A piece of a stream.
struct VdecPacket {
  uint8_t* data = nullptr;
  uint32_t bytes = 0;
  uint64_t pts = 0;
  uint64_t private_data = 0;
  bool end_of_frame = false;
  bool end_of_stream = false;
  bool display = false;
};

struct VdecPicture {
  PictureSpec spec;  // with the size and the strides of the decoded picture
  VdecPacket packet;
  CodecType codec = CodecType::other;
  FrameType type = FrameType::i;
  uint32_t code = 0;    // of vdec_codes.h
  uint32_t number = 0;  // in the order of output
};

struct VdecStatus {
  CodecType codec = CodecType::other;
  bool started = false;
  uint32_t waiting_bytes = 0, waiting_packets = 0;  // sent and not decoded
  uint32_t ready_pictures = 0;                      // decoded and not fetched
  uint32_t received_packets = 0, decoded_pictures = 0;
  int32_t reference_errors = 0, size_errors = 0, output_errors = 0, stream_errors = 0;
  uint32_t width = 0, height = 0;
  uint64_t pts = 0;  // of the last picture
};

class VdecChannel : public std::enable_shared_from_this<VdecChannel> {
 public:
  static Result<std::shared_ptr<VdecChannel>> open(const VdecAttr& attr);

  void start() { started_ = true; }
  void stop() { started_ = false; }
  // While it is stopped. Waits for what was sent and drops it, with all pictures and counts.
  Status reset();

  // `output` is memory for the picture; its strides may be 0. Waits for room in the queue:
  // limit_exceeded when there is none in time.
  Status send(const VdecPacket& packet, const PictureSpec& output, int32_t milliseconds);
  // not_complete when no picture came in time.
  Result<VdecPicture> fetch(int32_t milliseconds);
  // Gives one fetched picture back.
  Status release();
  VdecStatus status();
  void drain() { (void)stream_->synchronize(); }

  VdecAttr attr();
  // While it is stopped: pictures to come are decoded with the new sizes and numbers.
  Status set_attr(const VdecAttr& changed);
  VdecParam param();
  Status set_param(const VdecParam& changed);
  // Settings without effect, kept to be given back.
  Record protocol();
  void set_protocol(Record protocol);
  int32_t display_mode();
  Status set_display_mode(int32_t mode);
  Status set_jpeg_precision(int32_t mode);

  // Decoded pictures go to the sinks and are not fetched while there is one.
  using Sink = std::function<void(const VdecPicture&)>;
  void add_sink(int32_t key, Sink sink);
  bool remove_sink(int32_t key);

  ReadyFd& ready_fd() { return ready_fd_; }

 private:
  struct Sent {
    VdecPacket packet;
    PictureSpec spec;
    device::Range bytes, memory;
  };

  bool is_jpeg() const { return attr_.codec == CodecType::jpeg; }
  // Opens a fresh decoder; packets whose pictures have not been delivered are dropped.
  Status open_session();
  void run(const std::shared_ptr<Sent>& sent);
  void run_video(const std::shared_ptr<Sent>& sent);
  void decode_unit(Bytes unit, const std::shared_ptr<Sent>& sent);
  void run_jpeg(Sent& sent);
  Status decode_jpeg_file(Sent& sent);
  uint32_t write(Sent& sent, const DecodedFrame& frame);
  void deliver(const DecodeSession::Results& results);
  void push(const Sent& sent, uint32_t code, FrameType type);
  void count(const Sent& sent, uint32_t code);

  ChannelStream stream_;
  ReadyFd ready_fd_;
  VdecAttr attr_;
  std::atomic<bool> started_{false};
  std::unique_ptr<DecodeSession> session_;  // used by tasks only, as what follows
  std::unique_ptr<PacketCutter> cutter_;
  std::map<uint64_t, std::shared_ptr<Sent>> sent_;  // by packet
  std::deque<std::shared_ptr<Sent>> outputs_;       // of stream mode, not yet used
  std::map<uint64_t, std::pair<std::shared_ptr<Sent>, DecodeResult>> ordered_;
  uint64_t next_ = 0;
  uint64_t next_out_ = 0;
  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  VdecParam param_;
  Record protocol_;
  int32_t display_mode_ = 0;
  std::map<int32_t, Sink> sinks_;
  std::deque<VdecPicture> ready_;
  VdecStatus status_;
  uint32_t fetched_ = 0;  // and not released
};

ChannelTable<VdecChannel>& vdec_channels();

}  // namespace anynpu::media
