// SPDX-License-Identifier: Apache-2.0
// A decoder channel: pieces of a stream are queued, pictures are fetched in order.
#pragma once

#include <deque>

#include "api/acl_dvpp_mpi/mpi.h"
#include "media/decode_session.h"

namespace anynpu::mpi {

class VdecChannel : public std::enable_shared_from_this<VdecChannel> {
 public:
  struct Sent {
    hi_vdec_stream stream{};
    hi_vdec_pic_info picture{};
    device::Range bytes, memory;
  };

  struct Picture {
    hi_video_frame_info frame{};
    hi_vdec_supplement_info supplement{};
    hi_vdec_stream stream{};
    bool display = true;
  };

  static Result<std::shared_ptr<VdecChannel>> make(const hi_vdec_chn_attr& attr);

  bool is_jpeg() const { return attr.type == HI_PT_JPEG; }
  Status send(Sent sent, hi_s32 milli_sec);
  Status get(Picture* picture, hi_s32 milli_sec);
  Status release(const hi_video_frame_info& frame);
  // Waits for what was sent and drops it, with all pictures and counts.
  Status reset();
  // While it is stopped: pictures to come are decoded with the new sizes and numbers.
  Status set_attr(const hi_vdec_chn_attr& changed);
  void drain() { (void)stream_->synchronize(); }
  hi_vdec_chn_status status();

  hi_vdec_chn_param param();
  void set_param(const hi_vdec_chn_param& changed);

  hi_vdec_chn_attr attr{};
  hi_vdec_protocol_param protocol{};
  hi_video_display_mode display_mode = HI_VIDEO_DISPLAY_MODE_PREVIEW;
  std::atomic<bool> started{false};
  Signal signal;

 private:
  static constexpr size_t kMostWaiting = 512;

  // A decoder that has seen nothing yet; packets whose pictures have not come are forgotten.
  Status open_session();
  void run(const std::shared_ptr<Sent>& sent);
  void run_video(const std::shared_ptr<Sent>& sent);
  void decode_unit(media::Bytes unit, const std::shared_ptr<Sent>& sent);
  void run_jpeg(Sent& sent);
  uint32_t write(Sent& sent, const media::DecodedFrame& frame);
  void deliver(const media::DecodeSession::Results& results);
  void push(const Sent& sent, uint32_t code, media::FrameType type);

  OwnStream stream_;
  std::unique_ptr<media::DecodeSession> session_;
  std::unique_ptr<media::PacketCutter> cutter_;
  std::map<uint64_t, std::shared_ptr<Sent>> sent_;  // by packet; the tasks' own
  std::deque<std::shared_ptr<Sent>> outputs_;       // of stream mode, not yet used; the tasks' own
  std::map<uint64_t, std::pair<std::shared_ptr<Sent>, media::DecodeResult>> ordered_;
  uint64_t next_ = 0;
  uint64_t next_out_ = 0;
  std::mutex mutex_;
  hi_vdec_chn_param param_{};
  std::condition_variable changed_;
  std::deque<Picture> ready_;
  hi_vdec_chn_status status_{};
  uint32_t fetched_ = 0;  // and not released
};

Channels<VdecChannel>& vdec_channels();

}  // namespace anynpu::mpi
