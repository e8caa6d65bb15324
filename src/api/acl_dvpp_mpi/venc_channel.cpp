// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "api/acl_dvpp_mpi/venc.h"
#include "api/acl_dvpp_mpi/venc_idle.h"
#include "base/align.h"
#include "base/log.h"
#include "media/image.h"

namespace anynpu::mpi {
namespace {

constinit device::TaskKind kVencTask{"venc", device::Engine::venc};

void note(const Status& status) {
  if (!status.ok()) ANYNPU_LOG(error, "encoder: {}", status.message());
}

}  // namespace

Channels<VencChannel>& venc_channels() {
  static auto& all = *new Channels<VencChannel>("VENC", 256);
  return all;
}

void close_venc() { venc_channels().remove_all(); }

Result<std::shared_ptr<VencChannel>> VencChannel::make(const hi_venc_chn_attr& attr) {
  const auto& a = attr.venc_attr;
  const bool jpeg = a.type == HI_PT_JPEG;
  ANYNPU_TRY(
      media::check_support(jpeg ? media::Unit::jpege : media::Unit::venc, media::Version::v2));
  auto made = std::make_shared<VencChannel>();
  made->settings.attr = attr;
  // The guide's sample writes HI_VENC_MOD_H265 and HI_VENC_MOD_H264 for the type.
  if (a.type == static_cast<int>(HI_VENC_MOD_H265))
    made->settings.attr.venc_attr.type = HI_PT_H265;
  else if (a.type == static_cast<int>(HI_VENC_MOD_H264))
    made->settings.attr.venc_attr.type = HI_PT_H264;
  else if (!jpeg && a.type != HI_PT_H264 && a.type != HI_PT_H265)
    return fail(Code::invalid_argument,
                "the type is {}; expected {} (H.264), {} (H.265) or {} "
                "(JPEG)",
                a.type, HI_PT_H264, HI_PT_H265, HI_PT_JPEG);
  if (a.pic_width < (jpeg ? 1u : 16u) || a.pic_height < (jpeg ? 1u : 16u) || a.pic_width > 8192 ||
      a.pic_height > 8192)
    return fail(Code::invalid_argument, "the pictures have {}x{} pixels; expected up to 8192x8192",
                a.pic_width, a.pic_height);
  made->settings.jpeg.qfactor = 80;
  made->settings.chn.frame_rate = {-1, -1};
  made->settings.chn.max_stream_cnt = 200;
  if (!jpeg) ANYNPU_TRY(options_of(made->settings).status());
  ANYNPU_ASSIGN(made->stream_, OwnStream::make());
  made->device_ = made->stream_->device();
  IdleSettings(attr).warn();
  return made;
}

VencChannel::~VencChannel() {
  for (const Packet& packet : ready_)
    if (packet.own) (void)device::free_device(packet.data);
  for (const auto& [data, packet] : fetched_)
    if (packet.own) (void)device::free_device(data);
}

Status VencChannel::start(hi_s32 pictures) {
  if (pictures == 0 || pictures < -1)
    return fail(Code::invalid_argument,
                "recv_pic_num is {}; expected -1 (any number) or more "
                "than 0",
                pictures);
  const std::lock_guard lock(mutex_);
  started_ = true;
  left_ = pictures;
  return {};
}

Status VencChannel::stop() {
  {
    const std::lock_guard lock(mutex_);
    if (!std::exchange(started_, false)) return {};
  }
  // B frames that wait for their turn come out.
  return stream_->submit({kVencTask, 0}, [self = shared_from_this()]() -> Status {
    if (!self->encoder_) return {};
    note(self->encoder_->flush([&](const media::EncodedPacket& packet) { self->take(packet); }));
    self->encoder_.reset();
    return {};
  });
}

Status VencChannel::finish() { return stream_->synchronize(); }

Status VencChannel::send(const hi_video_frame_info& frame, const hi_img_stream* to,
                         hi_s32 milli_sec, bool key) {
  const hi_video_frame& v = frame.v_frame;
  const auto& a = settings.attr.venc_attr;
  if (v.width != a.pic_width || v.height != a.pic_height)
    return fail(Code::invalid_argument, "the frame has {}x{} pixels, the channel {}x{}", v.width,
                v.height, a.pic_width, a.pic_height);
  media::PictureSpec spec;
  spec.data = v.virt_addr[0];
  spec.format = v.pixel_format;
  spec.width = v.width;
  spec.height = v.height;
  spec.width_stride = v.width_stride[0];
  spec.height_stride = v.height_stride[0] ? v.height_stride[0] : round_up(v.height, 2);
  const pixel::Format* format = pixel::find_format(spec.format);
  if (format != nullptr && spec.width_stride <= 64 * 8192 && spec.height_stride <= 4 * 8192)
    spec.bytes =
        static_cast<uint32_t>(pixel::picture_bytes(*format, spec.width_stride, spec.height_stride));
  ANYNPU_ASSIGN(auto picture,
                check_picture(spec, is_jpeg() ? media::kJpegeRules : media::kVencRules, "frame",
                              device::Access::read));
  device::Range room;
  if (to != nullptr) {
    if (!is_jpeg() || a.buf_size != 0)
      return fail(Code::bad_call_order,
                  "output memory of the program needs a JPEG channel with buf_size 0");
    ANYNPU_ASSIGN(room,
                  device::check_range(to->addr, to->len, device::Access::write, "jpege_stream"));
  }
  FrameRates rates;
  if (!is_jpeg()) {
    const std::lock_guard lock(settings_mutex);
    rates = rates_of(settings);
  }
  {
    std::unique_lock lock(mutex_);
    if (!started_ || left_ == 0)
      return fail(Code::bad_call_order, "the channel does not receive; call venc_start_chn first");
    // Of `source` pictures a second `target` are encoded, evenly.
    const uint64_t number = received_++;
    if (rates.target < rates.source &&
        (number + 1) * rates.target / rates.source == number * rates.target / rates.source) {
      if (left_ > 0) --left_;
      return {};
    }
    const uint64_t most = a.buf_size ? a.buf_size : uint64_t{64} << 20;
    // What a picture on its way will take is not known yet: it counts with its own size.
    const Status fits = wait_until(
        changed_, lock, milli_sec,
        [&] {
          return held_ < most && (waiting_ == 0 || held_ + coming_ < most) &&
                 waiting_ < settings.chn.max_stream_cnt;
        },
        "the output buffer stayed full; release streams that were fetched");
    if (fits.code() == Code::not_complete) return fail(Code::limit_exceeded, "{}", fits.message());
    ANYNPU_TRY(fits);
    if (left_ > 0) --left_;
    ++waiting_;
    coming_ += picture.memory.bytes;
  }
  struct Work {
    media::CheckedPicture picture;
    device::Range room;
    uint64_t pts;
    bool key;
  };
  auto work = std::make_shared<Work>(Work{std::move(picture), std::move(room), v.pts, key});
  return stream_->submit({kVencTask, work->picture.memory.bytes},
                         [self = shared_from_this(), work, id = next_.fetch_add(1)]() -> Status {
                           if (self->is_jpeg())
                             self->encode_jpeg(work->picture, work->pts, work->room);
                           else
                             self->encode(work->picture, work->pts, id, work->key);
                           const std::lock_guard lock(self->mutex_);
                           --self->waiting_;
                           self->coming_ -= work->picture.memory.bytes;
                           self->changed_.notify_all();
                           return {};
                         });
}

void VencChannel::encode(const media::CheckedPicture& picture, uint64_t pts, uint64_t id,
                         bool key) {
  const auto sink = [this](const media::EncodedPacket& packet) { take(packet); };
  if (dirty_.exchange(false) && encoder_) {
    note(encoder_->flush(sink));
    encoder_.reset();
  }
  if (!encoder_) {
    const auto open = [&]() -> Status {
      VencSettings now;
      {
        const std::lock_guard lock(settings_mutex);
        now = settings;
      }
      ANYNPU_ASSIGN(const auto options, options_of(now));
      const bool h265 = options.type == media::VideoType::h265;
      if (h265 && options.first_qp >= 0) IdleSettings("first_frame_start_qp of H.265").warn();
      if (h265 && options.scene_cut) IdleSettings("scene_chg_detect of H.265").warn();
      ANYNPU_ASSIGN(media::VideoCodec * codec, media::video_codec());
      ANYNPU_ASSIGN(encoder_, codec->make_encoder(options));
      return {};
    };
    const Status status = open();
    if (!status.ok()) return note(status);
  }
  sent_[id] = {pts, reinterpret_cast<uint64_t>(picture.view.data)};
  key |= key_.exchange(false);
  note(encoder_->encode(picture.view, id, key, sink));
}

void VencChannel::take(const media::EncodedPacket& packet) {
  Packet made;
  auto room = device::allocate_device(*device_, packet.bytes.size(), {});
  if (!room.ok()) return note(room.status());
  std::memcpy(*room, packet.bytes.data(), packet.bytes.size());
  made.data = static_cast<uint8_t*>(*room);
  made.bytes = static_cast<uint32_t>(packet.bytes.size());
  made.key = packet.key;
  made.type = packet.type;
  made.nals.assign(packet.nals.begin(), packet.nals.end());
  const auto at = sent_.find(packet.id);
  if (at != sent_.end()) {
    made.pts = at->second.first;
    made.input = at->second.second;
    sent_.erase(at);
  }
  push(std::move(made));
}

void VencChannel::encode_jpeg(const media::CheckedPicture& picture, uint64_t pts,
                              device::Range to) {
  VencSettings now;
  {
    const std::lock_guard lock(settings_mutex);
    now = settings;
  }
  media::JpegTables tables;
  const hi_u8* quant[] = {now.jpeg.y_qt, now.jpeg.cb_qt, now.jpeg.cr_qt};
  for (int i = 0; i < 3; ++i)
    if (quant[i][0] != 0) tables.quant[i] = quant[i];
  for (int i = 0; i < 2; ++i) {
    const auto sum = [](const hi_u8* bits) {
      size_t n = 0;
      for (int k = 0; k < 16; ++k) n += bits[k];
      return n;
    };
    const auto& dc = now.huffman.dc_tables[i];
    const auto& ac = now.huffman.ac_tables[i];
    if (const size_t n = sum(dc.dc_bits); n > 0 && n <= sizeof dc.dc_value)
      tables.dc[i] = {dc.dc_bits, dc.dc_value, n};
    if (const size_t n = sum(ac.ac_bits); n > 0 && n <= sizeof ac.ac_value)
      tables.ac[i] = {ac.ac_bits, ac.ac_value, n};
  }
  tables.restart_interval = now.jpeg.mcu_per_ecs;
  // The unit marks pictures that it wrote into memory of the program.
  if (to.address != nullptr) tables.comment = "AnyNPU";
  const bool own = to.address == nullptr;
  Packet made;
  made.own = own;
  made.pts = pts;
  made.input = reinterpret_cast<uint64_t>(picture.view.data);
  made.key = true;
  std::vector<uint8_t> buffer;
  std::span<uint8_t> room(to.address, to.bytes);
  if (own) {
    media::PictureSpec spec;
    spec.format = picture.view.format->number;
    spec.width = picture.view.width;
    spec.height = picture.view.height;
    auto most = media::jpeg_encoded_bytes(spec);
    if (!most.ok()) return note(most.status());
    buffer.resize(*most);
    room = buffer;
  }
  auto bytes = media::encode_jpeg(picture.view, now.jpeg.qfactor, tables, room);
  if (!bytes.ok()) return note(bytes.status());
  made.bytes = static_cast<uint32_t>(*bytes);
  made.data = to.address;
  if (own) {
    auto memory = device::allocate_device(*device_, *bytes, {});
    if (!memory.ok()) return note(memory.status());
    std::memcpy(*memory, buffer.data(), *bytes);
    made.data = static_cast<uint8_t*>(*memory);
  }
  push(std::move(made));
}

void VencChannel::push(Packet packet) {
  const std::lock_guard lock(mutex_);
  if (packet.own) held_ += packet.bytes;
  ready_.push_back(std::move(packet));
  signal.set(true);
  changed_.notify_all();
}

hi_u32 VencChannel::packs_of(const Packet& packet) const {
  if (is_jpeg() || settings.attr.venc_attr.is_by_frame || packet.nals.empty()) return 1;
  return static_cast<hi_u32>(packet.nals.size());
}

hi_venc_pack VencChannel::pack_of(const Packet& packet, hi_u32 index) const {
  hi_venc_pack pack{};
  const bool whole = packs_of(packet) == 1;
  uint32_t begin = 0, end = packet.bytes;
  if (!whole) {
    // Start codes belong to the unit behind them.
    begin = index == 0 ? 0 : packet.nals[index - 1].first + packet.nals[index - 1].second;
    end = packet.nals[index].first + packet.nals[index].second;
    if (index + 1 == packet.nals.size()) end = packet.bytes;
  }
  pack.addr = packet.data + begin;
  pack.phys_addr = reinterpret_cast<hi_u64>(pack.addr);
  pack.input_addr = packet.input;
  pack.len = end - begin;
  pack.pts = packet.pts;
  pack.is_frame_end = whole || index + 1 == packet.nals.size() ? HI_TRUE : HI_FALSE;
  const auto kind_of = [&](size_t nal) -> hi_venc_data_type {
    hi_venc_data_type type{};
    const uint8_t head = packet.data[packet.nals[nal].first];
    const bool h265 = settings.attr.venc_attr.type == HI_PT_H265;
    const int number = h265 ? head >> 1 & 63 : head & 31;
    // Slices are told apart by the picture they belong to, not by their own number.
    const bool slice = h265 ? number < 16 : number == 1;
    type.h264_type = static_cast<hi_venc_h264_nalu_type>(slice                  ? 1
                                                         : h265 && number == 20 ? 19
                                                                                : number);
    return type;
  };
  if (is_jpeg()) {
    pack.data_type.jpeg_type = HI_VENC_JPEG_PACK_PIC;
  } else if (!packet.nals.empty()) {
    pack.data_type = kind_of(whole ? packet.nals.size() - 1 : index);
    if (whole) {
      pack.data_num = std::min<hi_u32>(packet.nals.size(), HI_VENC_MAX_PACK_INFO_NUM);
      for (hi_u32 i = 0; i < pack.data_num; ++i) {
        pack.pack_info[i].pack_type = kind_of(i);
        pack.pack_info[i].pack_offset = packet.nals[i].first;
        pack.pack_info[i].pack_len = packet.nals[i].second;
      }
    }
  }
  return pack;
}

Status VencChannel::get(hi_venc_stream* stream, hi_s32 milli_sec) {
  std::unique_lock lock(mutex_);
  ANYNPU_TRY(wait_until(
      changed_, lock, milli_sec, [&] { return !ready_.empty(); }, "nothing was encoded"));
  const Packet packet = ready_.front();
  const hi_u32 packs = packs_of(packet);
  if (stream->pack == nullptr || stream->pack_cnt < packs)
    return fail(Code::invalid_argument, "there is room for {} packs; the picture has {}",
                stream->pack ? stream->pack_cnt : 0, packs);
  ready_.pop_front();
  if (ready_.empty()) signal.set(false);
  for (hi_u32 i = 0; i < packs; ++i) stream->pack[i] = pack_of(packet, i);
  stream->pack_cnt = packs;
  stream->seq = sequence_++;
  if (is_jpeg()) {
    stream->jpeg_info.pic_bytes = packet.bytes;
    stream->jpeg_info.qfactor = settings.jpeg.qfactor;
  } else {
    stream->h264_info.pic_bytes = stream->h265_info.pic_bytes = packet.bytes;
    stream->h264_info.ref_type = stream->h265_info.ref_type =
        packet.key ? HI_VENC_BASE_IDR_SLICE : HI_VENC_BASE_P_SLICE_REF_BY_BASE;
  }
  fetched_[packet.data] = packet;
  return {};
}

Status VencChannel::release(const hi_venc_stream& stream) {
  const std::lock_guard lock(mutex_);
  const auto at = stream.pack != nullptr && stream.pack_cnt > 0 ? fetched_.find(stream.pack[0].addr)
                                                                : fetched_.end();
  if (at == fetched_.end())
    return fail(Code::invalid_argument,
                "the stream was not fetched from this channel, or was "
                "released already");
  if (at->second.own) {
    held_ -= at->second.bytes;
    (void)device::free_device(at->first);
  }
  fetched_.erase(at);
  changed_.notify_all();
  return {};
}

hi_venc_chn_status VencChannel::status() {
  const std::lock_guard lock(mutex_);
  hi_venc_chn_status now{};
  now.left_pics = now.left_enc_pics = waiting_;
  now.left_recv_pics = left_ > 0 ? static_cast<hi_u32>(left_) : 0;
  now.left_stream_frames = static_cast<hi_u32>(ready_.size());
  for (const Packet& packet : ready_) now.left_stream_bytes += packet.bytes;
  now.cur_packs = ready_.empty() ? 0 : packs_of(ready_.front());
  now.is_jpeg_snap_end = waiting_ == 0 && left_ == 0 ? HI_TRUE : HI_FALSE;
  if (!ready_.empty()) now.stream_info.pic_bytes = ready_.front().bytes;
  now.stream_info.pic_cnt = sequence_;
  return now;
}

}  // namespace anynpu::mpi
