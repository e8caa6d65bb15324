// SPDX-License-Identifier: Apache-2.0
// Conversion of the vendor's structs for pictures and image files. No other file reads or writes
// their fields.
#pragma once

#include "acl/dvpp/hi_dvpp.h"
#include "service/media/codec_type.h"
#include "service/media/epoll.h"
#include "service/media/image_file.h"
#include "service/media/picture_strides.h"
#include "service/media/png_channel.h"

namespace anynpu::mpi {

media::CodecType codec_of(hi_payload_type type);
hi_payload_type payload_of(media::CodecType codec);

media::PictureSpec spec_of(const hi_pic_info& picture);
void give(const media::PictureSpec& spec, hi_pic_info* picture);

media::ImageFile file_of(const hi_img_stream& stream);
Result<media::ImageDescription> describe(const hi_img_stream& stream);  // a PNG file
// A JPEG file whose picture gets `format`; or of a type that is JPEG or PNG.
Result<media::ImageDescription> describe(const hi_vdec_stream& stream, hi_pixel_format format);
Result<media::ImageDescription> describe(const hi_vdec_stream& stream, hi_payload_type type);
// With what the file says of itself, or without (`output`).
void give(const media::ImageDescription& description, hi_img_info* info);
void give_output(const media::ImageDescription& description, hi_img_info* info);

uint32_t queue_of(const hi_pngd_chn_attr& attr);
Result<uint32_t> bytes_of(const hi_pic_buf_attr& attr);
// Strides that all of the modules take.
Result<media::PictureStrides> strides_of(const hi_module_type* modules, hi_u32 count,
                                         const hi_img_base_info& picture);
void give(const media::PictureStrides& strides, hi_img_align_info* info);

// 1 (add), 2 (modify) or 3 (delete), which needs no event.
Result<media::EpollChange> epoll_change_of(hi_s32 operation, const hi_dvpp_epoll_event* event);
media::EpollEvent epoll_event_of(const hi_dvpp_epoll_event* event);  // null: none
void give(const std::vector<media::EpollEvent>& found, hi_dvpp_epoll_event* events);

}  // namespace anynpu::mpi
