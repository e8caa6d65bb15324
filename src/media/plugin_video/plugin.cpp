// SPDX-License-Identifier: Apache-2.0
// The exported symbol of libanynpu_video.so.
extern "C" {
#include <libavutil/log.h>
}

#include "media/plugin_video/codec.h"

namespace anynpu::media {
namespace {

class Codec final : public VideoCodec {
 public:
  Result<std::unique_ptr<VideoDecoder>> make_decoder(VideoType type, uint32_t threads) override {
    return open_decoder(type, threads);
  }
  Result<std::unique_ptr<PacketCutter>> make_cutter(VideoType type) override {
    return open_cutter(type);
  }
  Result<std::unique_ptr<VideoEncoder>> make_encoder(const VideoEncoderOptions& options) override {
    return open_encoder(options);
  }
};

}  // namespace
}  // namespace anynpu::media

anynpu::media::VideoCodec* anynpu_video_codec() {
  av_log_set_level(AV_LOG_QUIET);  // what matters comes back as a Status
  static anynpu::media::Codec codec;
  return &codec;
}
