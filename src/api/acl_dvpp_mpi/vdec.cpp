// SPDX-License-Identifier: Apache-2.0
// Decoding (acl.himpi.vdec_*).
#include "api/acl_dvpp_mpi/convert_picture.h"
#include "api/acl_dvpp_mpi/convert_record.h"
#include "api/acl_dvpp_mpi/convert_vdec.h"
#include "api/acl_dvpp_mpi/mpi.h"

using namespace anynpu;
using namespace anynpu::mpi;
using media::vdec_channels;
using media::VdecChannel;

namespace {

template <typename Do>
hi_s32 on_vdec(const char* function, hi_vdec_chn chn, Do&& act) {
  return on_channel(function, Module::vdec, vdec_channels(), chn, act);
}

}  // namespace

hi_s32 hi_mpi_vdec_create_chn(hi_vdec_chn chn, const hi_vdec_chn_attr* attr) {
  return mpi::enter(__func__, Module::vdec, [&]() -> Status {
    ANYNPU_TRY(mpi::check_pointer(attr, "attr"));
    return vdec_channels().create(chn, [&] { return VdecChannel::open(attr_of(*attr)); });
  });
}

hi_s32 hi_mpi_vdec_destroy_chn(hi_vdec_chn chn) {
  return mpi::enter(__func__, Module::vdec,
                    [&]() -> Status { return vdec_channels().remove(chn).status(); });
}

hi_s32 hi_mpi_vdec_get_chn_attr(hi_vdec_chn chn, hi_vdec_chn_attr* attr) {
  return on_vdec(__func__, chn, [&](VdecChannel& channel) -> Status {
    ANYNPU_TRY(mpi::check_pointer(attr, "the output"));
    give(channel.attr(), attr);
    return {};
  });
}

hi_s32 hi_mpi_vdec_set_chn_attr(hi_vdec_chn chn, const hi_vdec_chn_attr* attr) {
  return on_vdec(__func__, chn, [&](VdecChannel& channel) -> Status {
    ANYNPU_TRY(mpi::check_pointer(attr, "attr"));
    return channel.set_attr(attr_of(*attr));
  });
}

hi_s32 hi_mpi_vdec_get_chn_param(hi_vdec_chn chn, hi_vdec_chn_param* chn_param) {
  return on_vdec(__func__, chn, [&](VdecChannel& channel) -> Status {
    ANYNPU_TRY(mpi::check_pointer(chn_param, "chn_param"));
    give(channel.param(), channel.attr().codec, chn_param);
    return {};
  });
}

hi_s32 hi_mpi_vdec_set_chn_param(hi_vdec_chn chn, const hi_vdec_chn_param* chn_param) {
  return on_vdec(__func__, chn, [&](VdecChannel& channel) -> Status {
    ANYNPU_TRY(mpi::check_pointer(chn_param, "chn_param"));
    return channel.set_param(param_of(*chn_param, channel.attr().codec));
  });
}

hi_s32 hi_mpi_vdec_get_protocol_param(hi_vdec_chn chn, hi_vdec_protocol_param* protocol_param) {
  return on_vdec(__func__, chn, [&](VdecChannel& channel) -> Status {
    ANYNPU_TRY(mpi::check_pointer(protocol_param, "the output"));
    give(channel.protocol(), channel.attr().codec, protocol_param);
    return {};
  });
}

hi_s32 hi_mpi_vdec_set_protocol_param(hi_vdec_chn chn,
                                      const hi_vdec_protocol_param* protocol_param) {
  return on_vdec(__func__, chn, [&](VdecChannel& channel) -> Status {
    ANYNPU_TRY(mpi::check_pointer(protocol_param, "protocol_param"));
    channel.set_protocol(record_of(*protocol_param));
    return {};
  });
}

hi_s32 hi_mpi_vdec_get_display_mode(hi_vdec_chn chn, hi_video_display_mode* display_mode) {
  return on_vdec(__func__, chn, [&](VdecChannel& channel) -> Status {
    ANYNPU_TRY(mpi::check_pointer(display_mode, "the output"));
    *display_mode = static_cast<hi_video_display_mode>(channel.display_mode());
    return {};
  });
}

hi_s32 hi_mpi_vdec_set_display_mode(hi_vdec_chn chn, hi_video_display_mode display_mode) {
  return on_vdec(__func__, chn,
                 [&](VdecChannel& channel) { return channel.set_display_mode(display_mode); });
}

hi_s32 hi_mpi_vdec_set_jpegd_precision_mode(hi_vdec_chn chn, hi_jpegd_precision_mode mode) {
  return on_vdec(__func__, chn,
                 [&](VdecChannel& channel) { return channel.set_jpeg_precision(mode); });
}

hi_s32 hi_mpi_vdec_start_recv_stream(hi_vdec_chn chn) {
  return on_vdec(__func__, chn, [](VdecChannel& channel) { return channel.start(), Status(); });
}

hi_s32 hi_mpi_vdec_stop_recv_stream(hi_vdec_chn chn) {
  return on_vdec(__func__, chn, [](VdecChannel& channel) { return channel.stop(), Status(); });
}

hi_s32 hi_mpi_vdec_reset_chn(hi_vdec_chn chn) {
  return on_vdec(__func__, chn, [](VdecChannel& channel) { return channel.reset(); });
}

hi_s32 hi_mpi_vdec_send_stream(hi_vdec_chn chn, const hi_vdec_stream* stream,
                               hi_vdec_pic_info* vdec_pic_info, hi_s32 milli_sec) {
  return on_vdec(__func__, chn, [&](VdecChannel& channel) -> Status {
    ANYNPU_TRY(mpi::check_pointer(stream, "stream"));
    ANYNPU_TRY(mpi::check_pointer(vdec_pic_info, "vdec_pic_info"));
    return channel.send(packet_of(*stream), spec_of(*vdec_pic_info), milli_sec);
  });
}

hi_s32 hi_mpi_vdec_get_frame(hi_vdec_chn chn, hi_video_frame_info* frame_info,
                             hi_vdec_supplement_info* supplement, hi_vdec_stream* stream,
                             hi_s32 milli_sec) {
  return on_vdec(__func__, chn, [&](VdecChannel& channel) -> Status {
    ANYNPU_TRY(mpi::check_pointer(frame_info, "frame_info"));
    ANYNPU_ASSIGN(const auto picture, channel.fetch(milli_sec));
    give(picture, frame_info);
    if (supplement != nullptr) give(picture, supplement);
    if (stream != nullptr) give(picture.packet, stream);
    return {};
  });
}

hi_s32 hi_mpi_vdec_release_frame(hi_vdec_chn chn, const hi_video_frame_info* frame_info) {
  return on_vdec(__func__, chn, [&](VdecChannel& channel) -> Status {
    ANYNPU_TRY(mpi::check_pointer(frame_info, "frame_info"));
    return channel.release();
  });
}

hi_s32 hi_mpi_vdec_query_status(hi_vdec_chn chn, hi_vdec_chn_status* status) {
  return on_vdec(__func__, chn, [&](VdecChannel& channel) -> Status {
    ANYNPU_TRY(mpi::check_pointer(status, "status"));
    give(channel.status(), status);
    return {};
  });
}

hi_s32 hi_mpi_vdec_get_fd(hi_vdec_chn chn) { return ready_fd_of(__func__, vdec_channels(), chn); }

hi_s32 hi_mpi_vdec_close_fd(hi_vdec_chn chn) {
  return on_vdec(__func__, chn,
                 [](VdecChannel& channel) { return channel.ready_fd().close(), Status(); });
}

hi_s32 hi_mpi_vdec_get_jpegd_output_info(const hi_vdec_stream* stream,
                                         hi_pixel_format output_format, hi_img_info* img_info) {
  return mpi::enter(__func__, Module::vdec, [&]() -> Status {
    ANYNPU_TRY(mpi::check_pointer(stream, "stream"));
    ANYNPU_TRY(mpi::check_pointer(img_info, "img_info"));
    ANYNPU_ASSIGN(const auto found, describe(*stream, output_format));
    give_output(found, img_info);
    return {};
  });
}

hi_u32 hi_vdec_get_pic_buf_size(hi_payload_type type, hi_pic_buf_attr* buf_attr) {
  return acl::enter_value(__func__, hi_u32{0}, [&]() -> Result<hi_u32> {
    ANYNPU_TRY(mpi::check_pointer(buf_attr, "buf_attr"));
    return bytes_of(*buf_attr);
  });
}

hi_u32 hi_vdec_get_tmv_buf_size(hi_payload_type type, hi_u32 width, hi_u32 height) {
  return acl::enter_value(__func__, hi_u32{0},
                          [&] { return media::motion_buffer_bytes(width, height); });
}
