// SPDX-License-Identifier: Apache-2.0
// The parts of the video plug-in.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "media/video_codec.h"

namespace anynpu::media {

std::string av_text(int error);
Status no_memory();
// Offset and length of each NAL unit of a packet with start codes.
std::vector<std::pair<uint32_t, uint32_t>> find_nals(Bytes packet);
PacketKind kind_of(Bytes packet, VideoType type);

Result<std::unique_ptr<VideoDecoder>> open_decoder(VideoType type, uint32_t threads);
Result<std::unique_ptr<PacketCutter>> open_cutter(VideoType type);
Result<std::unique_ptr<VideoEncoder>> open_encoder(const VideoEncoderOptions& options);

}  // namespace anynpu::media
