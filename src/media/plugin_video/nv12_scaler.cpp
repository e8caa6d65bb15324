// SPDX-License-Identifier: Apache-2.0
#include "media/plugin_video/nv12_scaler.h"

extern "C" {
#include <libavutil/opt.h>
#include <libavutil/pixdesc.h>
#include <libswscale/swscale.h>
}

#include <utility>

#include "media/plugin_video/codec.h"

namespace anynpu::media {
namespace {

// Full range becomes narrow, as with the ffmpeg program.
Result<SwsContext*> make_scaler(const AVFrame& from) {
  SwsContext* made = sws_alloc_context();
  if (made == nullptr) return no_memory();
  const int full = from.color_range == AVCOL_RANGE_JPEG ? 1 : 0;
  const std::pair<const char*, int> options[] = {
      {"srcw", from.width},       {"srch", from.height},       {"dstw", from.width},
      {"dsth", from.height},      {"src_format", from.format}, {"dst_format", AV_PIX_FMT_NV12},
      {"sws_flags", SWS_BICUBIC}, {"src_range", full}};
  for (const auto& [name, value] : options) av_opt_set_int(made, name, value, 0);
  if (sws_init_context(made, nullptr, nullptr) < 0) {
    sws_freeContext(made);
    return fail(Code::unsupported_feature,
                "the video has the pixel format {} and {}x{} pixels, which do not become NV12; "
                "encode it as yuv420p",
                av_get_pix_fmt_name(static_cast<AVPixelFormat>(from.format)), from.width,
                from.height);
  }
  // Grey counts as full range unless the stream tells better.
  if (from.color_range != AVCOL_RANGE_UNSPECIFIED) {
    const int* table = sws_getCoefficients(SWS_CS_DEFAULT);
    sws_setColorspaceDetails(made, table, full, table, 0, 0, 1 << 16, 1 << 16);
  }
  return made;
}

}  // namespace

Nv12Scaler::~Nv12Scaler() {
  sws_freeContext(context_);
  av_frame_free(&to_);
}

Status Nv12Scaler::prepare(const AVFrame& from) {
  if (context_ != nullptr && from.width == to_->width && from.height == to_->height &&
      from.format == format_ && from.color_range == range_)
    return {};
  sws_freeContext(context_);
  av_frame_free(&to_);
  context_ = nullptr;
  to_ = av_frame_alloc();
  if (to_ == nullptr) return no_memory();
  to_->format = AV_PIX_FMT_NV12;
  to_->width = from.width;
  to_->height = from.height;
  if (av_frame_get_buffer(to_, 0) < 0) return no_memory();
  ANYNPU_ASSIGN(context_, make_scaler(from));
  format_ = from.format;
  range_ = from.color_range;
  return {};
}

Result<const AVFrame*> Nv12Scaler::convert(const AVFrame& from) {
  ANYNPU_TRY(prepare(from));
  const int rows =
      sws_scale(context_, from.data, from.linesize, 0, from.height, to_->data, to_->linesize);
  if (rows != from.height)
    return fail(Code::internal, "{} of {} rows became NV12: {}", rows, from.height,
                av_text(rows < 0 ? rows : AVERROR_UNKNOWN));
  pixel::note_picture_in_between(static_cast<size_t>(to_->linesize[0]) * to_->height * 3 / 2);
  return to_;
}

}  // namespace anynpu::media
