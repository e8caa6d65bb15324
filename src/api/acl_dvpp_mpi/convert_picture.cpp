// SPDX-License-Identifier: Apache-2.0
#include "api/acl_dvpp_mpi/convert_picture.h"

#include "api/acl_dvpp_mpi/convert_record.h"
#include "api/acl_dvpp_mpi/mpi.h"

namespace anynpu::mpi {
namespace {

hi_jpeg_raw_format raw_format_of(media::JpegSampling sampling) {
  constexpr hi_jpeg_raw_format formats[] = {HI_JPEG_RAW_FORMAT_YUV444, HI_JPEG_RAW_FORMAT_YUV422,
                                            HI_JPEG_RAW_FORMAT_YUV420, HI_JPEG_RAW_FORMAT_YUV400,
                                            HI_JPEG_RAW_FORMAT_YUV440, HI_JPEG_RAW_FORMAT_YUV411};
  const auto number = static_cast<uint32_t>(sampling);
  return number < std::size(formats) ? formats[number] : HI_JPEG_RAW_FORMAT_MAX;
}

// By hi_module_type.
constexpr media::Unit kStrideUnits[] = {media::Unit::vpc,   media::Unit::venc,  media::Unit::vdec,
                                        media::Unit::jpege, media::Unit::jpegd, media::Unit::pngd};

Status add_stride_units(hi_module_type module, std::vector<media::Unit>& to) {
  const auto number = static_cast<uint32_t>(module);
  if (module == HI_MOD_ALL) {
    to.assign(std::begin(kStrideUnits), std::end(kStrideUnits));
  } else if (number < std::size(kStrideUnits)) {
    to.push_back(kStrideUnits[number]);
  } else {
    return fail(Code::invalid_argument,
                "module {} has no rule for strides; expected 0 (VPC), 1 (VENC), 2 (VDEC), 3 "
                "(JPEGE), 4 (JPEGD), 5 (PNGD) or 100 (all): hi_module_type, not hi_mod_id",
                number);
  }
  return {};
}

}  // namespace

media::CodecType codec_of(hi_payload_type type) {
  switch (static_cast<int>(type)) {
    case HI_PT_H264:
      return media::CodecType::h264;
    case HI_PT_H265:
      return media::CodecType::h265;
    case HI_PT_JPEG:
      return media::CodecType::jpeg;
    default:
      return media::CodecType::other;
  }
}

hi_payload_type payload_of(media::CodecType codec) {
  constexpr hi_payload_type types[] = {HI_PT_H264, HI_PT_H265, HI_PT_JPEG, hi_payload_type{}};
  return types[static_cast<int>(codec)];
}

media::PictureSpec spec_of(const hi_pic_info& p) {
  return {p.picture_address, p.picture_buffer_size,  p.picture_format,       p.picture_width,
          p.picture_height,  p.picture_width_stride, p.picture_height_stride};
}

void give(const media::PictureSpec& spec, hi_pic_info* picture) {
  picture->picture_address = spec.data;
  picture->picture_buffer_size = spec.bytes;
  picture->picture_format = static_cast<hi_pixel_format>(spec.format);
  picture->picture_width = spec.width;
  picture->picture_height = spec.height;
  picture->picture_width_stride = spec.width_stride;
  picture->picture_height_stride = spec.height_stride;
}

media::ImageFile file_of(const hi_img_stream& stream) {
  return {stream.addr, stream.len, record_of(stream)};
}

Result<media::ImageDescription> describe(const hi_img_stream& stream) {
  return media::describe_image(media::ImageType::png, stream.addr, stream.len);
}

Result<media::ImageDescription> describe(const hi_vdec_stream& stream, hi_pixel_format format) {
  return media::describe_image(media::ImageType::jpeg, stream.addr, stream.len, format);
}

Result<media::ImageDescription> describe(const hi_vdec_stream& stream, hi_payload_type type) {
  if (type != HI_PT_JPEG && type != HI_PT_PNG)
    return fail(Code::invalid_argument, "the type is {}; expected {} (JPEG) or {} (PNG)", type,
                HI_PT_JPEG, HI_PT_PNG);
  return media::describe_image(type == HI_PT_JPEG ? media::ImageType::jpeg : media::ImageType::png,
                               stream.addr, stream.len);
}

void give_output(const media::ImageDescription& description, hi_img_info* info) {
  const media::PictureSpec& spec = description.picture;
  *info = {};
  info->width = spec.width;
  info->height = spec.height;
  info->width_stride = spec.width_stride;
  info->height_stride = spec.height_stride;
  info->img_pixel_format = static_cast<hi_pixel_format>(spec.format);
  info->img_buf_size = spec.bytes;
}

void give(const media::ImageDescription& description, hi_img_info* info) {
  give_output(description, info);
  if (description.type == media::ImageType::jpeg)
    info->pixel_format = raw_format_of(description.sampling);
  else
    info->png_pixel_format = static_cast<hi_png_color_format>(description.color_type);
}

uint32_t queue_of(const hi_pngd_chn_attr& attr) { return attr.stream_que_cnt; }

Result<uint32_t> bytes_of(const hi_pic_buf_attr& attr) {
  // A bit width of 8 is meant by the guide's sample too, which writes the number itself.
  const bool wide = attr.bit_width != HI_DATA_BIT_WIDTH_8 && attr.bit_width != 8;
  return media::decoded_picture_bytes(attr.width, attr.height, attr.align, wide ? 2 : 1);
}

Result<media::PictureStrides> strides_of(const hi_module_type* modules, hi_u32 count,
                                         const hi_img_base_info& picture) {
  if (count < 1 || count > 16)
    return fail(Code::invalid_argument, "{} modules; expected 1 to 16", count);
  std::vector<media::Unit> units;
  for (hi_u32 i = 0; i < count; ++i) ANYNPU_TRY(add_stride_units(modules[i], units));
  return media::strides_for(units, picture.pixel_format, picture.width, picture.height);
}

void give(const media::PictureStrides& strides, hi_img_align_info* info) {
  *info = {};
  info->width_stride = strides.width_stride;
  info->height_stride = strides.height_stride;
  info->img_buf_size = strides.bytes;
}

Result<media::EpollChange> epoll_change_of(hi_s32 operation, const hi_dvpp_epoll_event* event) {
  if (operation < HI_DVPP_EPOLL_CTL_ADD || operation > HI_DVPP_EPOLL_CTL_DEL)
    return fail(Code::invalid_argument,
                "the operation is {}; expected 1 (add), 2 (modify) or 3 (delete)", operation);
  if (operation != HI_DVPP_EPOLL_CTL_DEL) ANYNPU_TRY(check_pointer(event, "event"));
  return static_cast<media::EpollChange>(operation - HI_DVPP_EPOLL_CTL_ADD);
}

media::EpollEvent epoll_event_of(const hi_dvpp_epoll_event* event) {
  if (event == nullptr) return {};
  return {(event->events & HI_DVPP_EPOLL_IN) != 0, (event->events & HI_DVPP_EPOLL_OUT) != 0,
          (event->events & HI_DVPP_EPOLL_ET) != 0, event->data};
}

void give(const std::vector<media::EpollEvent>& found, hi_dvpp_epoll_event* events) {
  for (const media::EpollEvent& event : found) {
    events->events = 0;
    if (event.readable) events->events |= HI_DVPP_EPOLL_IN;
    if (event.writable) events->events |= HI_DVPP_EPOLL_OUT;
    events->data = event.data;
    ++events;
  }
}

}  // namespace anynpu::mpi
