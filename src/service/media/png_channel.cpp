// SPDX-License-Identifier: Apache-2.0
#include "service/media/png_channel.h"

#include <algorithm>

#include "media/image.h"
#include "media/support.h"
#include "service/media/wait.h"

namespace anynpu::media {
namespace {

constinit device::TaskKind kPngTask{"png_decode", device::Engine::jpeg};

Status decode_png_file(Bytes file, PictureSpec& spec) {
  ANYNPU_ASSIGN(const auto info, png_info(file));
  ANYNPU_TRY(complete_png_output(info, &spec));
  ANYNPU_ASSIGN(auto to, check_picture(spec, kPngdRules, "output", device::Access::write));
  return decode_png(file, to.view);
}

}  // namespace

ChannelTable<PngChannel>& png_channels() {
  static auto& all = *new ChannelTable<PngChannel>("PNGD", 128);
  return all;
}

Result<std::shared_ptr<PngChannel>> PngChannel::open(uint32_t queue) {
  ANYNPU_TRY(check_support(Unit::pngd, Version::v2));
  constexpr uint32_t kUsualQueue = 64;
  ANYNPU_ASSIGN(auto stream, ChannelStream::make());
  return std::make_shared<PngChannel>(std::move(stream), queue ? queue : kUsualQueue);
}

Status PngChannel::send(const ImageFile& file, const PictureSpec& output, int32_t milliseconds) {
  ANYNPU_ASSIGN(auto bytes,
                device::check_host_range(file.data, file.bytes, device::Access::read, "the file"));
  ANYNPU_ASSIGN(auto memory, device::check_host_range(output.data, std::max(output.bytes, 1u),
                                                      device::Access::write, "the output"));
  {
    std::unique_lock lock(mutex_);
    ANYNPU_TRY(wait_for_room(
        changed_, lock, milliseconds, [&] { return pending_ < queue_; },
        "the queue of the channel did not empty"));
    ++pending_;
  }
  auto picture = std::make_shared<Picture>(Picture{file, output, {}});
  return stream_->submit(
      {kPngTask, bytes.bytes}, [self = shared_from_this(), picture, bytes, memory]() -> Status {
        picture->status = decode_png_file({bytes.address, bytes.bytes}, picture->spec);
        const std::lock_guard lock(self->mutex_);
        self->done_.push_back(picture);
        self->changed_.notify_all();
        return {};
      });
}

Result<PngChannel::Picture> PngChannel::fetch(int32_t milliseconds) {
  std::unique_lock lock(mutex_);
  ANYNPU_TRY(wait_until(
      changed_, lock, milliseconds, [&] { return !done_.empty(); }, "no picture was decoded"));
  const auto picture = done_.front();
  done_.pop_front();
  --pending_;
  changed_.notify_all();
  return *picture;
}

}  // namespace anynpu::media
