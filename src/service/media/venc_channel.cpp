// SPDX-License-Identifier: Apache-2.0
#include "service/media/venc_channel.h"

#include <mutex>

#include "base/align.h"
#include "base/log.h"
#include "media/support.h"
#include "service/media/wait.h"

namespace anynpu::media {
namespace {

constinit device::TaskKind kVencFrame{"venc", device::Engine::venc};

void warn_of_venc(const std::string& without_effect) {
  if (!without_effect.empty()) warn_without_effect("VENC", without_effect);
}

size_t record_index(VencGroup group, uint32_t region) {
  return static_cast<size_t>(group) + (group == VencGroup::region ? region : 0);
}

Status check_venc_attr(const VencAttr& a) {
  const bool jpeg = a.codec == CodecType::jpeg;
  ANYNPU_TRY(check_support(jpeg ? Unit::jpege : Unit::venc, Version::v2));
  if (a.codec == CodecType::other)
    return fail(Code::invalid_argument,
                "the type is {}; expected 96 (H.264), 265 (H.265) or 26 (JPEG)", a.type_number);
  const uint32_t least = jpeg ? 1 : 16;
  if (a.width < least || a.height < least || a.width > 8192 || a.height > 8192)
    return fail(Code::invalid_argument, "the pictures have {}x{} pixels; expected up to 8192x8192",
                a.width, a.height);
  return {};
}

Status check_region_index(uint32_t index) {
  if (index < kQpRegions) return {};
  return fail(Code::invalid_argument, "the index is {}; expected 0 to 7", index);
}

}  // namespace

ChannelTable<VencChannel>& venc_channels() {
  static auto& all = *new ChannelTable<VencChannel>("VENC", 256);
  return all;
}

Result<std::shared_ptr<VencChannel>> VencChannel::open(const VencAttr& attr, Record record,
                                                       const std::string& without_effect) {
  ANYNPU_TRY(check_venc_attr(attr));
  auto made = std::make_shared<VencChannel>();
  made->settings_.attr = attr;
  made->records_[record_index(VencGroup::attr, 0)] = std::move(record);
  if (!made->is_jpeg()) ANYNPU_TRY(encoder_options(made->settings_).status());
  ANYNPU_ASSIGN(made->stream_, ChannelStream::make());
  made->device_ = made->stream_->device();
  warn_of_venc(without_effect);
  return made;
}

VencChannel::~VencChannel() {
  for (const Packet& packet : ready_)
    if (packet.own) (void)device::free_device(packet.data);
  for (const auto& [data, packet] : fetched_)
    if (packet.own) (void)device::free_device(packet.data);
}

Status VencChannel::change(const VencChange& change) {
  if (change.group == VencGroup::region) ANYNPU_TRY(check_region_index(change.region));
  const std::lock_guard lock(settings_mutex_);
  VencSettings changed = settings_;
  if (change.apply) change.apply(changed);
  if (!is_jpeg()) ANYNPU_TRY(encoder_options(changed).status());
  warn_of_venc(change.without_effect);
  settings_ = changed;
  records_[record_index(change.group, change.region)] = change.record;
  dirty_ = true;
  return {};
}

Status VencChannel::change_jpeg(const VencChange& change) {
  const std::lock_guard lock(settings_mutex_);
  VencSettings changed = settings_;
  change.apply(changed);
  if (changed.jpeg.quality < 1 || changed.jpeg.quality > 100)
    return fail(Code::invalid_argument, "qfactor is {}; expected 1 to 100", changed.jpeg.quality);
  warn_of_venc(change.without_effect);
  settings_ = changed;
  records_[record_index(VencGroup::jpeg, 0)] = change.record;
  return {};
}

Status VencChannel::set_scene(int32_t scene) {
  if (scene < 0 || scene > 2)
    return fail(Code::invalid_argument, "the scene is {}; expected 0 to 2", scene);
  const std::lock_guard lock(settings_mutex_);
  VencSettings changed = settings_;
  changed.scene = scene;
  if (!is_jpeg()) ANYNPU_TRY(encoder_options(changed).status());
  settings_ = changed;
  dirty_ = true;
  return {};
}

VencSettings VencChannel::settings() {
  const std::lock_guard lock(settings_mutex_);
  return settings_;
}

Result<Record> VencChannel::record(VencGroup group, uint32_t region) {
  if (group == VencGroup::region) ANYNPU_TRY(check_region_index(region));
  const std::lock_guard lock(settings_mutex_);
  return records_[record_index(group, region)];
}

Status VencChannel::compact_tables() {
  if (is_jpeg()) return {};
  return fail(Code::bad_call_order, "the channel encodes video");
}

Status VencChannel::start(int32_t pictures) {
  if (pictures == 0 || pictures < -1)
    return fail(Code::invalid_argument,
                "recv_pic_num is {}; expected -1 (any number) or more than 0", pictures);
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
  return stream_->submit({kVencFrame, 0}, [self = shared_from_this()]() -> Status {
    if (!self->encoder_) return {};
    const Status status =
        self->encoder_->flush([&](const EncodedPacket& packet) { self->take(packet); });
    if (!status.ok()) ANYNPU_LOG(error, "encoder: {}", status.message());
    self->encoder_.reset();
    return {};
  });
}

Status VencChannel::send(const VencFrame& frame, int32_t milliseconds) {
  return queue(frame, {}, milliseconds);
}

Status VencChannel::send_to_buffer(const VencFrame& frame, int32_t milliseconds) {
  if (is_jpeg() && settings_.attr.buffer_bytes == 0)
    return fail(Code::bad_call_order,
                "the channel has no buffer (buf_size 0); call venc_send_jpege_frame");
  return queue(frame, {}, milliseconds);
}

Status VencChannel::send_to_memory(const VencFrame& frame, void* data, uint32_t bytes,
                                   int32_t milliseconds) {
  ANYNPU_TRY(check(frame).status());
  if (!is_jpeg() || settings_.attr.buffer_bytes != 0)
    return fail(Code::bad_call_order,
                "output memory of the program needs a JPEG channel with buf_size 0");
  ANYNPU_ASSIGN(auto memory,
                device::check_host_range(data, bytes, device::Access::write, "jpege_stream"));
  return queue(frame, std::move(memory), milliseconds);
}

Result<CheckedPicture> VencChannel::check(const VencFrame& frame) const {
  PictureSpec spec = frame.spec;
  const VencAttr& a = settings_.attr;
  if (spec.width != a.width || spec.height != a.height)
    return fail(Code::invalid_argument, "the frame has {}x{} pixels, the channel {}x{}", spec.width,
                spec.height, a.width, a.height);
  if (spec.height_stride == 0) spec.height_stride = round_up(spec.height, 2);
  const pixel::Format* format = pixel::find_format(spec.format);
  if (format != nullptr && spec.width_stride <= 64 * 8192 && spec.height_stride <= 4 * 8192)
    spec.bytes =
        static_cast<uint32_t>(pixel::picture_bytes(*format, spec.width_stride, spec.height_stride));
  return check_picture(spec, is_jpeg() ? kJpegeRules : kVencRules, "frame", device::Access::read);
}

Result<bool> VencChannel::take_turn(uint64_t bytes, int32_t milliseconds) {
  FrameRates rates;
  if (!is_jpeg()) {
    const std::lock_guard lock(settings_mutex_);
    rates = frame_rates(settings_);
  }
  std::unique_lock lock(mutex_);
  if (!started_ || left_ == 0)
    return fail(Code::bad_call_order, "the channel does not receive; call venc_start_chn first");
  // Of `source` pictures a second `target` are encoded, evenly.
  const uint64_t number = received_++;
  if (rates.target < rates.source &&
      (number + 1) * rates.target / rates.source == number * rates.target / rates.source) {
    if (left_ > 0) --left_;
    return false;
  }
  const uint64_t buffer = settings_.attr.buffer_bytes;
  const uint64_t most = buffer ? buffer : uint64_t{64} << 20;
  // What a picture on its way will take is not known yet: it counts with its own size.
  ANYNPU_TRY(wait_for_room(
      changed_, lock, milliseconds,
      [&] {
        return held_ < most && (waiting_ == 0 || held_ + coming_ < most) &&
               waiting_ < settings_.channel.most_streams;
      },
      "the output buffer stayed full; release streams that were fetched"));
  if (left_ > 0) --left_;
  ++waiting_;
  coming_ += bytes;
  return true;
}

Status VencChannel::queue(const VencFrame& frame, device::Range memory, int32_t milliseconds) {
  ANYNPU_ASSIGN(auto picture, check(frame));
  ANYNPU_ASSIGN(const bool encoded, take_turn(picture.memory.bytes, milliseconds));
  if (!encoded) return {};
  const auto input = reinterpret_cast<uint64_t>(picture.view.data);
  auto work = std::make_shared<Work>(
      Work{std::move(picture), input, std::move(memory), frame.pts, frame.key, {}});
  return stream_->submit({kVencFrame, work->picture.memory.bytes},
                         [self = shared_from_this(), work, id = next_.fetch_add(1)]() -> Status {
                           self->run(*work, id);
                           return {};
                         });
}

bool VencChannel::take_source(const std::shared_ptr<void>& source) {
  const std::lock_guard lock(mutex_);
  if (!source_.expired()) return false;
  source_ = source;
  return true;
}

void VencChannel::leave_source() {
  const std::lock_guard lock(mutex_);
  source_.reset();
}

Result<VencPacket> VencChannel::fetch(uint32_t most_packs, int32_t milliseconds) {
  std::unique_lock lock(mutex_);
  ANYNPU_TRY(wait_until(
      changed_, lock, milliseconds, [&] { return !ready_.empty(); }, "nothing was encoded"));
  const Packet packet = ready_.front();
  const uint32_t packs = packs_of(packet);
  if (most_packs < packs)
    return fail(Code::invalid_argument, "there is room for {} packs; the picture has {}",
                most_packs, packs);
  ready_.pop_front();
  if (ready_.empty()) ready_fd_.set(false);
  VencPacket out;
  out.codec = settings_.attr.codec;
  for (uint32_t i = 0; i < packs; ++i) out.packs.push_back(pack_of(packet, i));
  out.bytes = packet.bytes;
  out.number = sequence_++;
  out.pts = packet.pts;
  out.input = packet.input;
  out.key = packet.key;
  out.quality = settings_.jpeg.quality;
  fetched_[packet.data] = packet;
  return out;
}

Status VencChannel::release(const uint8_t* data) {
  const std::lock_guard lock(mutex_);
  const auto at = data != nullptr ? fetched_.find(data) : fetched_.end();
  if (at == fetched_.end())
    return fail(Code::invalid_argument,
                "the stream was not fetched from this channel, or was released already");
  if (at->second.own) {
    held_ -= at->second.bytes;
    (void)device::free_device(at->second.data);
  }
  fetched_.erase(at);
  changed_.notify_all();
  return {};
}

VencStatus VencChannel::status() {
  const std::lock_guard lock(mutex_);
  VencStatus now;
  now.waiting_pictures = waiting_;
  now.pictures_to_come = left_ > 0 ? static_cast<uint32_t>(left_) : 0;
  now.ready_packets = static_cast<uint32_t>(ready_.size());
  for (const Packet& packet : ready_) now.ready_bytes += packet.bytes;
  now.next_packs = ready_.empty() ? 0 : packs_of(ready_.front());
  now.next_bytes = ready_.empty() ? 0 : ready_.front().bytes;
  now.fetched_packets = sequence_;
  now.all_encoded = waiting_ == 0 && left_ == 0;
  return now;
}

}  // namespace anynpu::media
