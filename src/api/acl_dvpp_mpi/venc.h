// SPDX-License-Identifier: Apache-2.0
// An encoder channel: settings, frames in, packets out.
#pragma once

#include <deque>
#include <vector>

#include "api/acl_dvpp_mpi/mpi.h"
#include "media/image_codec.h"
#include "media/video_codec.h"

namespace anynpu::mpi {

// What programs read and write; defaults are those of a new channel.
struct VencSettings {
  hi_venc_chn_attr attr{};
  hi_venc_chn_param chn{};
  hi_venc_rc_param rc{};
  hi_venc_ref_param ref{};
  hi_venc_h264_vui h264_vui{};
  hi_venc_h265_vui h265_vui{};
  hi_venc_cu_prediction cu_pred{};
  hi_venc_intra_refresh refresh{};
  hi_venc_slice_split slices{};
  hi_venc_streamcopy_param copy{};
  hi_venc_jpeg_param jpeg{};
  hi_venc_jpeg_huffman_param huffman{};
  hi_venc_scene_mode scene = HI_VENC_SCENE_0;
  hi_venc_roi_attr roi[8] = {};
};

// The nearest settings of x264 and x265; docs/media.md has the table.
Result<media::VideoEncoderOptions> options_of(const VencSettings& settings);
// Pictures that come and pictures that go in a second; 0 and 0 where all go.
struct FrameRates {
  hi_u32 source = 0, target = 0;
};
FrameRates rates_of(const VencSettings& settings);

class VencChannel : public std::enable_shared_from_this<VencChannel> {
 public:
  static Result<std::shared_ptr<VencChannel>> make(const hi_venc_chn_attr& attr);

  bool is_jpeg() const { return settings.attr.venc_attr.type == HI_PT_JPEG; }
  Status start(hi_s32 pictures);
  Status stop();
  // `to` is memory of the program for a JPEG picture; null: the channel's own. `key` asks for a key
  // frame.
  Status send(const hi_video_frame_info& frame, const hi_img_stream* to, hi_s32 milli_sec,
              bool key = false);
  Status get(hi_venc_stream* stream, hi_s32 milli_sec);
  Status release(const hi_venc_stream& stream);
  hi_venc_chn_status status();
  Status finish();
  void drain() { (void)finish(); }
  // Settings changed: the encoder starts anew with the next picture.
  void renew() { dirty_ = true; }
  void request_key() { key_ = true; }

  std::mutex settings_mutex;
  VencSettings settings;
  Signal signal;

 private:
  struct Packet {
    uint8_t* data = nullptr;
    uint32_t bytes = 0;
    bool own = true;  // memory of the channel
    uint64_t pts = 0;
    uint64_t input = 0;
    bool key = false;
    media::FrameType type = media::FrameType::i;
    std::vector<std::pair<uint32_t, uint32_t>> nals;
  };
  void encode(const media::CheckedPicture& picture, uint64_t pts, uint64_t id, bool key);
  void encode_jpeg(const media::CheckedPicture& picture, uint64_t pts, device::Range to);
  void take(const media::EncodedPacket& packet);
  void push(Packet packet);
  hi_u32 packs_of(const Packet& packet) const;
  hi_venc_pack pack_of(const Packet& packet, hi_u32 index) const;

  OwnStream stream_;
  std::shared_ptr<device::Device> device_;
  std::unique_ptr<media::VideoEncoder> encoder_;            // the tasks' own, as the next two
  std::map<uint64_t, std::pair<uint64_t, uint64_t>> sent_;  // id: pts, input address
  std::atomic<bool> dirty_{false};
  std::atomic<bool> key_{false};
  std::atomic<uint64_t> next_{0};
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Packet> ready_;
  std::map<uint8_t*, Packet> fetched_;
  bool started_ = false;
  int64_t left_ = 0;  // pictures still to be received; -1: any number
  uint32_t waiting_ = 0;
  uint64_t coming_ = 0;  // bytes of the pictures that wait
  uint64_t held_ = 0;    // bytes encoded and not released
  uint64_t received_ = 0;
  uint32_t sequence_ = 0;

 public:
  ~VencChannel();
};

Channels<VencChannel>& venc_channels();

}  // namespace anynpu::mpi
