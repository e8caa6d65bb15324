// SPDX-License-Identifier: Apache-2.0
// PNG files (acl.himpi.pngd_*).
#include "api/acl_dvpp_mpi/convert_picture.h"
#include "api/acl_dvpp_mpi/convert_record.h"
#include "api/acl_dvpp_mpi/mpi.h"

using namespace anynpu;
using namespace anynpu::mpi;
using media::png_channels;
using media::PngChannel;

hi_s32 hi_mpi_png_get_image_info(const hi_img_stream* stream, hi_img_info* img_info) {
  return mpi::enter(__func__, Module::pngd, [&]() -> Status {
    ANYNPU_TRY(mpi::check_pointer(stream, "stream"));
    ANYNPU_TRY(mpi::check_pointer(img_info, "img_info"));
    ANYNPU_ASSIGN(const auto found, describe(*stream));
    give(found, img_info);
    return {};
  });
}

hi_s32 hi_mpi_pngd_create_chn(hi_pngd_chn chn, const hi_pngd_chn_attr* attr) {
  return mpi::enter(__func__, Module::pngd, [&]() -> Status {
    ANYNPU_TRY(mpi::check_pointer(attr, "attr"));
    return png_channels().create(chn, [&] { return PngChannel::open(queue_of(*attr)); });
  });
}

hi_s32 hi_mpi_pngd_destroy_chn(hi_pngd_chn chn) {
  return mpi::enter(__func__, Module::pngd,
                    [&]() -> Status { return png_channels().remove(chn).status(); });
}

hi_s32 hi_mpi_pngd_send_stream(hi_pngd_chn chn, const hi_img_stream* stream, hi_pic_info* pic_info,
                               hi_s32 milli_sec) {
  return on_channel(__func__, Module::pngd, png_channels(), chn,
                    [&](PngChannel& channel) -> Status {
                      ANYNPU_TRY(mpi::check_pointer(stream, "stream"));
                      ANYNPU_TRY(mpi::check_pointer(pic_info, "pic_info"));
                      return channel.send(file_of(*stream), spec_of(*pic_info), milli_sec);
                    });
}

hi_s32 hi_mpi_pngd_get_image_data(hi_pngd_chn chn, hi_pic_info* pic_info, hi_img_stream* stream,
                                  hi_s32 milli_sec) {
  return on_channel(__func__, Module::pngd, png_channels(), chn,
                    [&](PngChannel& channel) -> Status {
                      ANYNPU_TRY(mpi::check_pointer(stream, "stream"));
                      ANYNPU_TRY(mpi::check_pointer(pic_info, "pic_info"));
                      ANYNPU_ASSIGN(const auto picture, channel.fetch(milli_sec));
                      give(picture.spec, pic_info);
                      give_record(picture.file.record, stream);
                      return picture.status;
                    });
}
