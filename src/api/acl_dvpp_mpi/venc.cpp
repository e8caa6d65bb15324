// SPDX-License-Identifier: Apache-2.0
// Encoding (acl.himpi.venc_*).
#include "api/acl_dvpp_mpi/venc_call.h"

using namespace anynpu;
using namespace anynpu::mpi;

hi_s32 hi_mpi_venc_create_chn(hi_venc_chn chn, const hi_venc_chn_attr* attr) {
  return mpi::enter(__func__, Module::venc, [&]() -> Status {
    ANYNPU_TRY(mpi::check_pointer(attr, "attr"));
    const hi_venc_chn_attr made = with_payload_type(*attr);
    return venc_channels().create(chn, [&] {
      return VencChannel::open(attr_of(made), record_of(made), IdleSettings::names_in(made));
    });
  });
}

hi_s32 hi_mpi_venc_destroy_chn(hi_venc_chn chn) {
  return mpi::enter(__func__, Module::venc, [&]() -> Status {
    ANYNPU_ASSIGN(auto channel, venc_channels().remove(chn));
    return channel->finish();
  });
}

hi_s32 hi_mpi_venc_start_chn(hi_venc_chn chn, const hi_venc_start_param* recv_param) {
  return on_venc(__func__, chn, [&](VencChannel& channel) -> Status {
    ANYNPU_TRY(mpi::check_pointer(recv_param, "recv_param"));
    return channel.start(pictures_of(*recv_param));
  });
}

hi_s32 hi_mpi_venc_stop_chn(hi_venc_chn chn) {
  return on_venc(__func__, chn, [](VencChannel& channel) { return channel.stop(); });
}

hi_s32 hi_mpi_venc_send_frame(hi_venc_chn chn, const hi_video_frame_info* frame, hi_s32 milli_sec) {
  return on_venc(__func__, chn, [&](VencChannel& channel) -> Status {
    ANYNPU_TRY(mpi::check_pointer(frame, "frame"));
    return channel.send_to_buffer(frame_of(*frame), milli_sec);
  });
}

hi_s32 hi_mpi_venc_send_frame_ex(hi_venc_chn chn, const hi_user_frame_info* frame,
                                 hi_s32 milli_sec) {
  return on_venc(__func__, chn, [&](VencChannel& channel) -> Status {
    ANYNPU_TRY(mpi::check_pointer(frame, "frame"));
    ANYNPU_ASSIGN(const auto picture, frame_of(*frame));
    return channel.send(picture, milli_sec);
  });
}

hi_s32 hi_mpi_venc_send_jpege_frame(hi_venc_chn chn, const hi_video_frame_info* frame,
                                    const hi_img_stream* jpege_stream, hi_s32 milli_sec) {
  return on_venc(__func__, chn, [&](VencChannel& channel) -> Status {
    ANYNPU_TRY(mpi::check_pointer(frame, "frame"));
    ANYNPU_TRY(mpi::check_pointer(jpege_stream, "jpege_stream"));
    const auto [data, bytes] = memory_of(*jpege_stream);
    return channel.send_to_memory(frame_of(*frame), data, bytes, milli_sec);
  });
}

hi_s32 hi_mpi_venc_get_stream(hi_venc_chn chn, hi_venc_stream* stream, hi_s32 milli_sec) {
  return on_venc(__func__, chn, [&](VencChannel& channel) -> Status {
    ANYNPU_TRY(mpi::check_pointer(stream, "stream"));
    ANYNPU_ASSIGN(const auto packet, channel.fetch(room_of(*stream), milli_sec));
    give(packet, stream);
    return {};
  });
}

hi_s32 hi_mpi_venc_release_stream(hi_venc_chn chn, hi_venc_stream* stream) {
  return on_venc(__func__, chn, [&](VencChannel& channel) -> Status {
    ANYNPU_TRY(mpi::check_pointer(stream, "stream"));
    return channel.release(first_pack_of(*stream));
  });
}

hi_s32 hi_mpi_venc_query_status(hi_venc_chn chn, hi_venc_chn_status* status) {
  return on_venc(__func__, chn, [&](VencChannel& channel) -> Status {
    ANYNPU_TRY(mpi::check_pointer(status, "status"));
    give(channel.status(), status);
    return {};
  });
}

hi_s32 hi_mpi_venc_request_idr(hi_venc_chn chn, hi_bool instant) {
  return on_venc(__func__, chn,
                 [](VencChannel& channel) { return channel.request_key(), Status(); });
}

hi_s32 hi_mpi_venc_get_fd(hi_venc_chn chn) { return ready_fd_of(__func__, venc_channels(), chn); }

hi_s32 hi_mpi_venc_close_fd(hi_venc_chn chn) {
  return on_venc(__func__, chn,
                 [](VencChannel& channel) { return channel.ready_fd().close(), Status(); });
}

hi_s32 hi_mpi_venc_get_jpege_predicted_size(const hi_video_frame_info* frame,
                                            const hi_venc_jpeg_param* jpeg_param, hi_u32* size) {
  return mpi::enter(__func__, Module::venc, [&]() -> Status {
    ANYNPU_TRY(mpi::check_pointer(frame, "frame"));
    ANYNPU_TRY(mpi::check_pointer(jpeg_param, "jpeg_param"));
    ANYNPU_TRY(mpi::check_pointer(size, "size"));
    ANYNPU_ASSIGN(*size, jpeg_bytes_of(*frame));
    return {};
  });
}

hi_s32 hi_mpi_venc_compact_jpeg_tables(hi_venc_chn chn, hi_u32 table_type, hi_bool enable) {
  return on_venc(__func__, chn, [](VencChannel& channel) { return channel.compact_tables(); });
}

hi_s32 hi_mpi_venc_get_qpmap_stride(hi_u32 width) {
  return static_cast<hi_s32>(media::qp_map_stride(width));
}

hi_s32 hi_mpi_venc_get_qpmap_size(hi_payload_type type, hi_u32 width, hi_u32 height) {
  return static_cast<hi_s32>(media::qp_map_bytes(width, height));
}
