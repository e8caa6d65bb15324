// SPDX-License-Identifier: Apache-2.0
// What the tasks of an encoder channel do: pictures in, packets out.
#include <algorithm>

#include "base/log.h"
#include "device/host_view.h"
#include "media/image.h"
#include "media/support.h"
#include "service/media/venc_channel.h"

namespace anynpu::media {
namespace {

constexpr size_t kMostUnitsOfPack = 8;

void log_encoder(const Status& status) {
  if (!status.ok()) ANYNPU_LOG(error, "encoder: {}", status.message());
}

}  // namespace

void VencChannel::draw_regions(Work& work) {
  if (board_->empty()) return;
  const pixel::Picture& sent = work.picture.view;
  work.drawn.emplace(*sent.format, sent.width, sent.height);
  pixel::convert(sent, work.drawn->view(), pixel::color_matrix(0));  // a copy
  board_->draw(work.drawn->view());
  work.picture.view = work.drawn->view();
}

void VencChannel::run(Work& work, uint64_t id) {
  draw_regions(work);
  if (is_jpeg())
    log_encoder(encode_jpeg(work));
  else
    encode(work, id);
  const std::lock_guard lock(mutex_);
  --waiting_;
  coming_ -= work.picture.memory.bytes;
  changed_.notify_all();
}

Status VencChannel::open_encoder() {
  ANYNPU_ASSIGN(const auto options, encoder_options(settings()));
  const bool h265 = options.type == VideoType::h265;
  if (h265 && options.first_qp >= 0) warn_without_effect("VENC", "first_frame_start_qp of H.265");
  if (h265 && options.scene_cut) warn_without_effect("VENC", "scene_chg_detect of H.265");
  ANYNPU_ASSIGN(VideoCodec * codec, video_codec());
  ANYNPU_ASSIGN(encoder_, codec->make_encoder(options));
  return {};
}

void VencChannel::encode(const Work& work, uint64_t id) {
  const auto sink = [this](const EncodedPacket& packet) { take(packet); };
  if (dirty_.exchange(false) && encoder_) {
    log_encoder(encoder_->flush(sink));
    encoder_.reset();
  }
  if (!encoder_) {
    const Status status = open_encoder();
    if (!status.ok()) return log_encoder(status);
  }
  const pixel::Picture& picture = work.picture.view;
  sent_[id] = {work.pts, work.input};
  const bool key = key_.exchange(false) || work.key;
  log_encoder(encoder_->encode(picture, id, key, sink));
}

Result<uint8_t*> VencChannel::keep(Bytes bytes) {
  ANYNPU_ASSIGN(void* memory, device::allocate_device(*device_, bytes.size(), {}));
  ANYNPU_TRY(device::copy_bytes(memory, bytes.data(), bytes.size()));
  return static_cast<uint8_t*>(memory);
}

void VencChannel::take(const EncodedPacket& packet) {
  auto kept = keep(packet.bytes);
  if (!kept.ok()) return log_encoder(kept.status());
  Packet made;
  made.data = *kept;
  made.bytes = static_cast<uint32_t>(packet.bytes.size());
  made.key = packet.key;
  made.nals.assign(packet.nals.begin(), packet.nals.end());
  const auto at = sent_.find(packet.id);
  if (at != sent_.end()) {
    made.pts = at->second.first;
    made.input = at->second.second;
    sent_.erase(at);
  }
  push(std::move(made));
}

Status VencChannel::encode_jpeg(const Work& work) {
  const VencSettings now = settings();
  const pixel::Picture& picture = work.picture.view;
  const bool own = work.memory.address == nullptr;
  JpegTables tables = jpeg_tables(now);
  // The unit marks pictures that it wrote into memory of the program.
  if (!own) tables.comment = "AnyNPU";
  std::vector<uint8_t> buffer;
  std::span<uint8_t> room(work.memory.address, work.memory.bytes);
  if (own) {
    PictureSpec spec;
    spec.format = picture.format->number;
    spec.width = picture.width;
    spec.height = picture.height;
    ANYNPU_ASSIGN(const uint32_t most, jpeg_encoded_bytes(spec));
    buffer.resize(most);
    room = buffer;
  }
  ANYNPU_ASSIGN(const size_t bytes, media::encode_jpeg(picture, now.jpeg.quality, tables, room));
  Packet made;
  made.own = own;
  made.pts = work.pts;
  made.input = work.input;
  made.key = true;
  made.bytes = static_cast<uint32_t>(bytes);
  made.data = work.memory.address;
  if (own) {
    ANYNPU_ASSIGN(made.data, keep({buffer.data(), bytes}));
  }
  push(std::move(made));
  return {};
}

void VencChannel::push(Packet packet) {
  const std::lock_guard lock(mutex_);
  if (packet.own) held_ += packet.bytes;
  ready_.push_back(std::move(packet));
  ready_fd_.set(true);
  changed_.notify_all();
}

uint32_t VencChannel::packs_of(const Packet& packet) const {
  if (is_jpeg() || settings_.attr.whole_frames || packet.nals.empty()) return 1;
  return static_cast<uint32_t>(packet.nals.size());
}

uint32_t VencChannel::unit_type(const Packet& packet, size_t nal) const {
  const uint8_t head = packet.data[packet.nals[nal].first];
  const bool h265 = settings_.attr.codec == CodecType::h265;
  const uint32_t number = h265 ? head >> 1 & 63 : head & 31;
  // Slices are told apart by the picture they belong to, not by their own number.
  const bool slice = h265 ? number < 16 : number == 1;
  if (slice) return 1;
  return h265 && number == 20 ? 19 : number;
}

VencPack VencChannel::pack_of(const Packet& packet, uint32_t index) const {
  const bool whole = packs_of(packet) == 1;
  uint32_t begin = 0, end = packet.bytes;
  if (!whole) {
    // Start codes belong to the unit after them.
    begin = index == 0 ? 0 : packet.nals[index - 1].first + packet.nals[index - 1].second;
    end = packet.nals[index].first + packet.nals[index].second;
    if (index + 1 == packet.nals.size()) end = packet.bytes;
  }
  VencPack pack;
  pack.data = packet.data + begin;
  pack.bytes = end - begin;
  pack.last = whole || index + 1 == packet.nals.size();
  if (is_jpeg() || packet.nals.empty()) return pack;
  pack.type = unit_type(packet, whole ? packet.nals.size() - 1 : index);
  if (!whole) return pack;
  for (size_t i = 0; i < std::min(packet.nals.size(), kMostUnitsOfPack); ++i)
    pack.units.push_back({unit_type(packet, i), packet.nals[i].first, packet.nals[i].second});
  return pack;
}

}  // namespace anynpu::media
