// SPDX-License-Identifier: Apache-2.0
// PNG files (acl.himpi.pngd_*): files are queued, results are fetched in order.
#include <deque>

#include "api/acl_dvpp_mpi/mpi.h"
#include "media/image.h"

namespace anynpu::mpi {
namespace {

constinit device::TaskKind kPngTask{"png_decode", device::Engine::jpeg};

class PngChannel : public std::enable_shared_from_this<PngChannel> {
 public:
  PngChannel(OwnStream stream, hi_u32 most) : stream_(std::move(stream)), most_(most) {}
  void drain() { (void)stream_->synchronize(); }

  struct Item {
    hi_img_stream file;
    hi_pic_info picture;
    Status status;
  };

  Status send(const hi_img_stream& file, const hi_pic_info& picture, hi_s32 milli_sec) {
    ANYNPU_ASSIGN(auto bytes,
                  device::check_range(file.addr, file.len, device::Access::read, "the file"));
    ANYNPU_ASSIGN(auto memory, device::check_range(picture.picture_address,
                                                   std::max(picture.picture_buffer_size, 1u),
                                                   device::Access::write, "the output"));
    {
      std::unique_lock lock(mutex_);
      ANYNPU_TRY(full(wait_until(
          changed_, lock, milli_sec, [&] { return pending_ < most_; },
          "the queue of the channel did not empty")));
      ++pending_;
    }
    auto item = std::make_shared<Item>(Item{file, picture, {}});
    return stream_->submit({kPngTask, bytes.bytes},
                           [self = shared_from_this(), item, bytes, memory]() -> Status {
                             item->status = decode({bytes.address, bytes.bytes}, item->picture);
                             const std::lock_guard lock(self->mutex_);
                             self->done_.push_back(item);
                             self->changed_.notify_all();
                             return {};
                           });
  }

  Status get(hi_pic_info* picture, hi_img_stream* file, hi_s32 milli_sec) {
    std::unique_lock lock(mutex_);
    ANYNPU_TRY(wait_until(
        changed_, lock, milli_sec, [&] { return !done_.empty(); }, "no picture was decoded"));
    const auto item = done_.front();
    done_.pop_front();
    --pending_;
    changed_.notify_all();
    *picture = item->picture;
    *file = item->file;
    return item->status;
  }

 private:
  static Status full(Status status) {
    if (status.code() != Code::not_complete) return status;
    return fail(Code::limit_exceeded, "{}", status.message());
  }
  static Status decode(media::Bytes file, hi_pic_info& picture) {
    ANYNPU_ASSIGN(const auto info, media::png_info(file));
    media::PictureSpec spec = {picture.picture_address,      picture.picture_buffer_size,
                               picture.picture_format,       picture.picture_width,
                               picture.picture_height,       picture.picture_width_stride,
                               picture.picture_height_stride};
    ANYNPU_TRY(complete_png_output(info, &spec));
    picture.picture_format = static_cast<hi_pixel_format>(spec.format);
    picture.picture_width = spec.width;
    picture.picture_height = spec.height;
    picture.picture_width_stride = spec.width_stride;
    picture.picture_height_stride = spec.height_stride;
    ANYNPU_ASSIGN(auto to, check_picture(spec, media::kPngdRules, "output", device::Access::write));
    return media::decode_png(file, to.view);
  }

  OwnStream stream_;
  const hi_u32 most_;
  std::mutex mutex_;
  std::condition_variable changed_;
  hi_u32 pending_ = 0;  // sent and not fetched
  std::deque<std::shared_ptr<Item>> done_;
};

Channels<PngChannel>& png_channels() {
  static auto& all = *new Channels<PngChannel>("PNGD", PNGD_MAX_CHN_NUM);
  return all;
}

}  // namespace

void close_pngd() { png_channels().remove_all(); }

}  // namespace anynpu::mpi

using namespace anynpu;
using namespace anynpu::mpi;

hi_s32 hi_mpi_png_get_image_info(const hi_img_stream* stream, hi_img_info* img_info) {
  return mpi::enter(__func__, Module::pngd, [&]() -> Status {
    ANYNPU_TRY(check_pointer(stream, "stream"));
    return describe_file(HI_PT_PNG, stream->addr, stream->len, img_info);
  });
}

hi_s32 hi_mpi_pngd_create_chn(hi_pngd_chn chn, const hi_pngd_chn_attr* attr) {
  return mpi::enter(__func__, Module::pngd, [&]() -> Status {
    ANYNPU_TRY(check_pointer(attr, "attr"));
    ANYNPU_TRY(media::check_support(media::Unit::pngd, media::Version::v2));
    return png_channels().create(chn, [&]() -> Result<std::shared_ptr<PngChannel>> {
      ANYNPU_ASSIGN(auto stream, OwnStream::make());
      constexpr hi_u32 usual = 64;
      return std::make_shared<PngChannel>(std::move(stream),
                                          attr->stream_que_cnt ? attr->stream_que_cnt : usual);
    });
  });
}

hi_s32 hi_mpi_pngd_destroy_chn(hi_pngd_chn chn) {
  return mpi::enter(__func__, Module::pngd,
                    [&]() -> Status { return png_channels().remove(chn).status(); });
}

hi_s32 hi_mpi_pngd_send_stream(hi_pngd_chn chn, const hi_img_stream* stream, hi_pic_info* pic_info,
                               hi_s32 milli_sec) {
  return mpi::enter(__func__, Module::pngd, [&]() -> Status {
    ANYNPU_ASSIGN(auto channel, png_channels().find(chn));
    ANYNPU_TRY(check_pointer(stream, "stream"));
    ANYNPU_TRY(check_pointer(pic_info, "pic_info"));
    return channel->send(*stream, *pic_info, milli_sec);
  });
}

hi_s32 hi_mpi_pngd_get_image_data(hi_pngd_chn chn, hi_pic_info* pic_info, hi_img_stream* stream,
                                  hi_s32 milli_sec) {
  return mpi::enter(__func__, Module::pngd, [&]() -> Status {
    ANYNPU_ASSIGN(auto channel, png_channels().find(chn));
    ANYNPU_TRY(check_pointer(stream, "stream"));
    ANYNPU_TRY(check_pointer(pic_info, "pic_info"));
    return channel->get(pic_info, stream, milli_sec);
  });
}
