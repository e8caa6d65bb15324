// SPDX-License-Identifier: Apache-2.0
// Decoding (acl.himpi.vdec_*).
#include "api/acl_dvpp_mpi/vdec.h"

#include "base/align.h"
#include "media/image.h"

namespace anynpu::mpi {
namespace {

// The shape of most calls: find the channel, do one thing.
template <typename Do>
hi_s32 on_vdec(const char* function, hi_vdec_chn chn, Do&& act) {
  return mpi::enter(function, Module::vdec, [&]() -> Status {
    ANYNPU_ASSIGN(auto channel, vdec_channels().find(chn));
    return act(*channel);
  });
}

template <typename T>
hi_s32 get_vdec(const char* function, hi_vdec_chn chn, T VdecChannel::*field, T* to) {
  return on_vdec(function, chn, [&](VdecChannel& channel) -> Status {
    ANYNPU_TRY(check_pointer(to, "the output"));
    *to = channel.*field;
    return {};
  });
}

}  // namespace
}  // namespace anynpu::mpi

using namespace anynpu;
using namespace anynpu::mpi;

hi_s32 hi_mpi_vdec_create_chn(hi_vdec_chn chn, const hi_vdec_chn_attr* attr) {
  return mpi::enter(__func__, Module::vdec, [&]() -> Status {
    ANYNPU_TRY(check_pointer(attr, "attr"));
    return vdec_channels().create(chn, [&] { return VdecChannel::make(*attr); });
  });
}

hi_s32 hi_mpi_vdec_destroy_chn(hi_vdec_chn chn) {
  return mpi::enter(__func__, Module::vdec, [&]() -> Status {
    ANYNPU_ASSIGN(auto channel, vdec_channels().remove(chn));
    channel->drain();
    return {};
  });
}

hi_s32 hi_mpi_vdec_get_chn_attr(hi_vdec_chn chn, hi_vdec_chn_attr* attr) {
  return get_vdec(__func__, chn, &VdecChannel::attr, attr);
}

hi_s32 hi_mpi_vdec_set_chn_attr(hi_vdec_chn chn, const hi_vdec_chn_attr* attr) {
  return on_vdec(__func__, chn, [&](VdecChannel& channel) -> Status {
    ANYNPU_TRY(check_pointer(attr, "attr"));
    return channel.set_attr(*attr);
  });
}

hi_s32 hi_mpi_vdec_get_chn_param(hi_vdec_chn chn, hi_vdec_chn_param* chn_param) {
  return on_vdec(__func__, chn, [&](VdecChannel& channel) -> Status {
    ANYNPU_TRY(check_pointer(chn_param, "chn_param"));
    *chn_param = channel.param();
    return {};
  });
}

hi_s32 hi_mpi_vdec_set_chn_param(hi_vdec_chn chn, const hi_vdec_chn_param* chn_param) {
  return on_vdec(__func__, chn, [&](VdecChannel& channel) -> Status {
    ANYNPU_TRY(check_pointer(chn_param, "chn_param"));
    if (chn_param->display_frame_num > 16)
      return fail(Code::invalid_argument, "display_frame_num is {}; expected 0 to 16",
                  chn_param->display_frame_num);
    if (chn_param->pic_param.alpha > 255)
      return fail(Code::invalid_argument, "pic_param.alpha is {}; expected 0 to 255",
                  chn_param->pic_param.alpha);
    const auto& v = chn_param->video_param;
    if (v.dec_mode < HI_VIDEO_DEC_MODE_IPB || v.dec_mode >= HI_VIDEO_DEC_MODE_BUTT ||
        v.out_order < HI_VIDEO_OUT_ORDER_DISPLAY || v.out_order >= HI_VIDEO_OUT_ORDER_BUTT)
      return fail(Code::invalid_argument,
                  "dec_mode is {} and out_order {}; expected 0 to 2, and 0 "
                  "or 1",
                  v.dec_mode, v.out_order);
    channel.set_param(*chn_param);
    return {};
  });
}

hi_s32 hi_mpi_vdec_get_protocol_param(hi_vdec_chn chn, hi_vdec_protocol_param* protocol_param) {
  return get_vdec(__func__, chn, &VdecChannel::protocol, protocol_param);
}

hi_s32 hi_mpi_vdec_set_protocol_param(hi_vdec_chn chn,
                                      const hi_vdec_protocol_param* protocol_param) {
  return on_vdec(__func__, chn, [&](VdecChannel& channel) -> Status {
    ANYNPU_TRY(check_pointer(protocol_param, "protocol_param"));
    media::warn_without_effect("VDEC", "protocol_param");
    channel.protocol = *protocol_param;
    return {};
  });
}

hi_s32 hi_mpi_vdec_get_display_mode(hi_vdec_chn chn, hi_video_display_mode* display_mode) {
  return get_vdec(__func__, chn, &VdecChannel::display_mode, display_mode);
}

hi_s32 hi_mpi_vdec_set_display_mode(hi_vdec_chn chn, hi_video_display_mode display_mode) {
  return on_vdec(__func__, chn, [&](VdecChannel& channel) -> Status {
    if (display_mode != HI_VIDEO_DISPLAY_MODE_PREVIEW &&
        display_mode != HI_VIDEO_DISPLAY_MODE_PLAYBACK)
      return fail(Code::invalid_argument, "the mode is {}; expected 0 or 1", display_mode);
    if (display_mode != HI_VIDEO_DISPLAY_MODE_PREVIEW)
      media::warn_without_effect("VDEC", "display_mode");
    channel.display_mode = display_mode;
    return {};
  });
}

hi_s32 hi_mpi_vdec_set_jpegd_precision_mode(hi_vdec_chn chn, hi_jpegd_precision_mode mode) {
  return on_vdec(__func__, chn, [&](VdecChannel& channel) -> Status {
    if (!channel.is_jpeg())
      return fail(Code::bad_call_order, "the channel decodes video, not JPEG pictures");
    if (mode < YUVOUT_ALIGN_DOWN || mode > YUVOUT_ALIGN_DOWN_COMPAT)
      return fail(Code::invalid_argument, "the mode is {}; expected 0 to 2", mode);
    if (mode != YUVOUT_ALIGN_DOWN) media::warn_without_effect("JPEGD", "the precision mode");
    return {};
  });
}

hi_s32 hi_mpi_vdec_start_recv_stream(hi_vdec_chn chn) {
  return on_vdec(__func__, chn, [&](VdecChannel& channel) -> Status {
    channel.started = true;
    return {};
  });
}

hi_s32 hi_mpi_vdec_stop_recv_stream(hi_vdec_chn chn) {
  return on_vdec(__func__, chn, [&](VdecChannel& channel) -> Status {
    channel.started = false;
    return {};
  });
}

hi_s32 hi_mpi_vdec_reset_chn(hi_vdec_chn chn) {
  return on_vdec(__func__, chn, [&](VdecChannel& channel) -> Status {
    if (channel.started)
      return fail(Code::bad_call_order, "the channel receives; call vdec_stop_recv_stream first");
    return channel.reset();
  });
}

hi_s32 hi_mpi_vdec_send_stream(hi_vdec_chn chn, const hi_vdec_stream* stream,
                               hi_vdec_pic_info* vdec_pic_info, hi_s32 milli_sec) {
  return on_vdec(__func__, chn, [&](VdecChannel& channel) -> Status {
    ANYNPU_TRY(check_pointer(stream, "stream"));
    ANYNPU_TRY(check_pointer(vdec_pic_info, "vdec_pic_info"));
    if (!channel.started)
      return fail(Code::bad_call_order,
                  "the channel does not receive; call vdec_start_recv_stream first");
    VdecChannel::Sent sent;
    sent.stream = *stream;
    sent.picture = *vdec_pic_info;
    if (stream->len > 0) {
      ANYNPU_ASSIGN(sent.bytes,
                    device::check_range(stream->addr, stream->len, device::Access::read, "stream"));
      ANYNPU_ASSIGN(sent.memory,
                    device::check_range(reinterpret_cast<void*>(vdec_pic_info->vir_addr),
                                        std::max(vdec_pic_info->buffer_size, 1u),
                                        device::Access::write, "vir_addr"));
    } else if (!stream->end_of_stream) {
      return fail(Code::invalid_argument, "the stream has no bytes and does not end here");
    }
    return channel.send(std::move(sent), milli_sec);
  });
}

hi_s32 hi_mpi_vdec_get_frame(hi_vdec_chn chn, hi_video_frame_info* frame_info,
                             hi_vdec_supplement_info* supplement, hi_vdec_stream* stream,
                             hi_s32 milli_sec) {
  return on_vdec(__func__, chn, [&](VdecChannel& channel) -> Status {
    ANYNPU_TRY(check_pointer(frame_info, "frame_info"));
    VdecChannel::Picture picture;
    ANYNPU_TRY(channel.get(&picture, milli_sec));
    *frame_info = picture.frame;
    if (supplement != nullptr) *supplement = picture.supplement;
    if (stream != nullptr) *stream = picture.stream;
    return {};
  });
}

hi_s32 hi_mpi_vdec_release_frame(hi_vdec_chn chn, const hi_video_frame_info* frame_info) {
  return on_vdec(__func__, chn, [&](VdecChannel& channel) -> Status {
    ANYNPU_TRY(check_pointer(frame_info, "frame_info"));
    return channel.release(*frame_info);
  });
}

hi_s32 hi_mpi_vdec_query_status(hi_vdec_chn chn, hi_vdec_chn_status* status) {
  return on_vdec(__func__, chn, [&](VdecChannel& channel) -> Status {
    ANYNPU_TRY(check_pointer(status, "status"));
    *status = channel.status();
    return {};
  });
}

hi_s32 hi_mpi_vdec_get_fd(hi_vdec_chn chn) {
  return acl::enter_value(__func__, hi_s32{-1}, [&]() -> Result<hi_s32> {
    ANYNPU_TRY(check_system());
    ANYNPU_ASSIGN(auto channel, vdec_channels().find(chn));
    return channel->signal.fd();
  });
}

hi_s32 hi_mpi_vdec_close_fd(hi_vdec_chn chn) {
  return on_vdec(__func__, chn, [&](VdecChannel& channel) -> Status {
    channel.signal.close();
    return {};
  });
}

hi_s32 hi_mpi_vdec_get_jpegd_output_info(const hi_vdec_stream* stream,
                                         hi_pixel_format output_format, hi_img_info* img_info) {
  return mpi::enter(__func__, Module::vdec, [&]() -> Status {
    ANYNPU_TRY(check_pointer(stream, "stream"));
    ANYNPU_TRY(check_pointer(img_info, "img_info"));
    ANYNPU_ASSIGN(auto file,
                  device::check_range(stream->addr, stream->len, device::Access::read, "the file"));
    ANYNPU_ASSIGN(const auto info, media::jpeg_info({file.address, file.bytes}));
    media::PictureSpec spec;
    spec.format = output_format;
    ANYNPU_TRY(complete_jpeg_output(info, &spec));
    ANYNPU_ASSIGN(const uint32_t bytes, media::jpeg_decoded_bytes(info, output_format));
    *img_info = {};
    img_info->width = spec.width;
    img_info->height = spec.height;
    img_info->width_stride = spec.width_stride;
    img_info->height_stride = spec.height_stride;
    img_info->img_pixel_format = static_cast<hi_pixel_format>(spec.format);
    img_info->img_buf_size = bytes;
    return {};
  });
}

hi_u32 hi_vdec_get_pic_buf_size(hi_payload_type type, const hi_pic_buf_attr* buf_attr) {
  return acl::enter_value(__func__, hi_u32{0}, [&]() -> Result<hi_u32> {
    ANYNPU_TRY(check_pointer(buf_attr, "buf_attr"));
    const hi_u32 align = buf_attr->align ? buf_attr->align : 16;
    if (align > 1024 || buf_attr->width > 8192 || buf_attr->height > 8192)
      return fail(Code::invalid_argument, "{}x{} pixels aligned to {} are out of range",
                  buf_attr->width, buf_attr->height, align);
    const uint64_t luma =
        uint64_t{round_up(buf_attr->width, align)} * round_up(buf_attr->height, 2);
    // A bit width of 8 is meant by the guide's sample too, which writes the number itself.
    const bool wide = buf_attr->bit_width != HI_DATA_BIT_WIDTH_8 && buf_attr->bit_width != 8;
    return static_cast<hi_u32>(luma * 3 / 2 * (wide ? 2 : 1));
  });
}

hi_u32 hi_vdec_get_tmv_buf_size(hi_payload_type type, hi_u32 width, hi_u32 height) {
  return acl::enter_value(__func__, hi_u32{0}, [&]() -> Result<hi_u32> {
    if (width > 8192 || height > 8192)
      return fail(Code::invalid_argument, "{}x{} pixels are out of range", width, height);
    // Sixteen bytes for each block of 16x16, as motion of one reference frame takes.
    return round_up(width, 64) / 16 * (round_up(height, 64) / 16) * 16;
  });
}
