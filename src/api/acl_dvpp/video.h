// SPDX-License-Identifier: Apache-2.0
// What the handles of video channels stand for.
#pragma once

#include <memory>

#include "api/acl_dvpp/objects.h"

namespace anynpu::dvpp {

class Decoding;
class Encoding;

struct DecoderDesc {
  uint64_t thread = 0;
  aclvdecCallback callback = nullptr;
  uint32_t channel_id = 0;
  uint32_t stream_format = H264_MAIN_LEVEL;
  uint32_t format = PIXEL_FORMAT_YUV_SEMIPLANAR_420;
  uint32_t width = 0;
  uint32_t height = 0;
  uint32_t reference_frames = 0;
  uint32_t bit_depth = 0;
  uint32_t out_mode = 0;
  uint32_t matrix = ACL_DVPP_CSC_MATRIX_BT601_NARROW;
  std::shared_ptr<Decoding> channel;  // once created
};
struct DecodeConfig {};

struct EncoderDesc {
  uint64_t thread = 0;
  aclvencCallback callback = nullptr;
  uint32_t channel_id = 0;
  uint32_t stream_format = H264_MAIN_LEVEL;
  uint32_t format = PIXEL_FORMAT_YUV_SEMIPLANAR_420;
  uint32_t width = 0;
  uint32_t height = 0;
  uint32_t key_interval = 0;
  void* buffer = nullptr;
  uint32_t buffer_size = 0;
  uint32_t rate_mode = 0;  // 0 and 2: constant, 1: variable
  uint32_t source_rate = 30;
  uint32_t max_bit_rate = 300;
  uint32_t i_to_p = 70;
  std::shared_ptr<Encoding> channel;  // once created
};
struct EncodeConfig {
  uint8_t force_key = 0;
  uint8_t eos = 0;
};

}  // namespace anynpu::dvpp

namespace anynpu {
ANYNPU_HANDLE_TYPE(dvpp::DecoderDesc, video_decoder);
ANYNPU_HANDLE_TYPE(dvpp::EncoderDesc, video_encoder);
ANYNPU_HANDLE_TYPE(dvpp::DecodeConfig, decode_config);
ANYNPU_HANDLE_TYPE(dvpp::EncodeConfig, encode_config);
}  // namespace anynpu
