// SPDX-License-Identifier: Apache-2.0
// An encoder channel for H.264, H.265 and JPEG: settings, pictures in, packets out. Packets lie in
// device memory of the channel until they are released. Thread-safe.
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "media/rules.h"
#include "service/media/channel_stream.h"
#include "service/media/channel_table.h"
#include "service/media/ready_fd.h"
#include "service/media/record.h"
#include "service/media/region_board.h"
#include "service/media/venc_settings.h"

namespace anynpu::media {

// What a program writes at once: a group of settings, or one region.
struct VencChange {
  VencGroup group = VencGroup::attr;
  uint32_t region = 0;  // of VencGroup::region
  std::function<void(VencSettings&)> apply;
  Record record;
  std::string without_effect;  // names of fields that are set and change nothing, for the log
};

// A picture to encode. A height stride of 0 is the next even number.
struct VencFrame {
  PictureSpec spec;  // its `bytes` follow from the strides
  uint64_t pts = 0;
  bool key = false;  // asks for a key frame
};

// A part of an encoded picture: a NAL unit, or the whole.
struct VencPack {
  uint8_t* data = nullptr;
  uint32_t bytes = 0;
  bool last = true;   // of its picture
  uint32_t type = 0;  // NAL unit type of video; slices of pictures that are not key frames are 1
  struct Unit {
    uint32_t type = 0, offset = 0, bytes = 0;
  };
  std::vector<Unit> units;  // of a whole picture of video
};

struct VencPacket {
  CodecType codec = CodecType::other;
  std::vector<VencPack> packs;
  uint32_t bytes = 0;
  uint32_t number = 0;  // in the order of fetching
  uint64_t pts = 0;
  uint64_t input = 0;  // address of the picture
  bool key = false;
  uint32_t quality = 0;  // of JPEG
};

struct VencStatus {
  uint32_t waiting_pictures = 0;  // sent and not encoded
  uint32_t pictures_to_come = 0;  // that may still be sent; 0 also for any number
  uint32_t ready_packets = 0, ready_bytes = 0;
  uint32_t next_packs = 0, next_bytes = 0;  // of the packet that is fetched next
  uint32_t fetched_packets = 0;
  bool all_encoded = false;
};

class VencChannel : public std::enable_shared_from_this<VencChannel> {
 public:
  // `record` and `without_effect` as in VencChange.
  static Result<std::shared_ptr<VencChannel>> open(const VencAttr& attr, Record record,
                                                   const std::string& without_effect);
  ~VencChannel();

  // Takes effect with the next picture. Fails if the encoder does not accept the settings.
  Status change(const VencChange& change);
  // 1 to 100. Takes effect without a new encoder.
  Status change_jpeg(const VencChange& change);
  // 0, 1 or 2; other numbers are refused.
  Status set_scene(int32_t scene);
  VencSettings settings();
  Result<Record> record(VencGroup group, uint32_t region = 0);
  // Only JPEG channels have tables to compact; equal ones are written once in any case.
  Status compact_tables();

  // -1: any number of pictures.
  Status start(int32_t pictures);
  // Flushes the encoder.
  Status stop();
  // Waits for room in the output buffer: limit_exceeded when there is none in time.
  Status send(const VencFrame& frame, int32_t milliseconds);
  // The same, refused by JPEG channels without a buffer.
  Status send_to_buffer(const VencFrame& frame, int32_t milliseconds);
  // A JPEG picture into memory of the program, for channels without a buffer.
  Status send_to_memory(const VencFrame& frame, void* data, uint32_t bytes, int32_t milliseconds);
  // Fails when the next packet has more than `most_packs`; not_complete when none came in time.
  Result<VencPacket> fetch(uint32_t most_packs, int32_t milliseconds);
  // By the address of its first pack.
  Status release(const uint8_t* data);
  VencStatus status();
  void request_key() { key_ = true; }
  // Waits for what was sent.
  Status finish() { return stream_->synchronize(); }
  void drain() { (void)finish(); }

  // False when another source, which is still there, was taken before.
  bool take_source(const std::shared_ptr<void>& source);
  void leave_source();
  // What is drawn over the pictures before they are encoded.
  const std::shared_ptr<RegionBoard>& board() const { return board_; }

  ReadyFd& ready_fd() { return ready_fd_; }

 private:
  struct Packet {
    uint8_t* data = nullptr;
    uint32_t bytes = 0;
    bool own = true;  // memory of the channel
    uint64_t pts = 0;
    uint64_t input = 0;
    bool key = false;
    std::vector<std::pair<uint32_t, uint32_t>> nals;
  };
  struct Work {
    CheckedPicture picture;
    uint64_t input = 0;    // address of the picture that was sent
    device::Range memory;  // of the program, for JPEG; empty: the channel's own
    uint64_t pts = 0;
    bool key = false;
    std::optional<pixel::OwnPicture> drawn;  // with regions over it
  };
  bool is_jpeg() const { return settings_.attr.codec == CodecType::jpeg; }
  Status queue(const VencFrame& frame, device::Range memory, int32_t milliseconds);
  Result<CheckedPicture> check(const VencFrame& frame) const;
  // Whether the picture is one that is encoded; waits for room and counts it then.
  Result<bool> take_turn(uint64_t bytes, int32_t milliseconds);
  void run(Work& work, uint64_t id);
  void draw_regions(Work& work);
  Status open_encoder();
  void encode(const Work& work, uint64_t id);
  Status encode_jpeg(const Work& work);
  void take(const EncodedPacket& packet);
  void push(Packet packet);
  Result<uint8_t*> keep(Bytes bytes);
  uint32_t packs_of(const Packet& packet) const;
  VencPack pack_of(const Packet& packet, uint32_t index) const;
  uint32_t unit_type(const Packet& packet, size_t nal) const;

  ChannelStream stream_;
  std::shared_ptr<device::Device> device_;
  ReadyFd ready_fd_;
  const std::shared_ptr<RegionBoard> board_ = std::make_shared<RegionBoard>();
  std::mutex settings_mutex_;  // guards the next two
  VencSettings settings_;
  std::array<Record, kVencGroups> records_;
  std::unique_ptr<VideoEncoder> encoder_;  // used by tasks only, as the next member
  std::map<uint64_t, std::pair<uint64_t, uint64_t>> sent_;  // id: pts, input address
  std::atomic<bool> dirty_{false};  // settings changed: the next picture starts a new encoder
  std::atomic<bool> key_{false};
  std::atomic<uint64_t> next_{0};
  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::deque<Packet> ready_;
  std::map<const uint8_t*, Packet> fetched_;
  bool started_ = false;
  int64_t left_ = 0;  // pictures still to be received; -1: any number
  uint32_t waiting_ = 0;
  uint64_t coming_ = 0;  // bytes of the pictures that wait
  uint64_t held_ = 0;    // bytes encoded and not released
  uint64_t received_ = 0;
  uint32_t sequence_ = 0;
  std::weak_ptr<void> source_;
};

ChannelTable<VencChannel>& venc_channels();

// Settings of the encoder's modules (1 to 5), which have no effect and are given back.
Status set_venc_module(int32_t module, Record record, const std::string& without_effect);
Result<Record> venc_module(int32_t module);

// Of maps of QPs, one for each block of 16x16 pixels.
uint32_t qp_map_stride(uint32_t width);
uint32_t qp_map_bytes(uint32_t width, uint32_t height);

}  // namespace anynpu::media
