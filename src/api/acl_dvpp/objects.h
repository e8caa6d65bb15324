// SPDX-License-Identifier: Apache-2.0
// What the handles of acl.media stand for. Descriptions are plain data of the program; calls copy
// what they need from them.
#pragma once

#include <memory>
#include <vector>

#include "acl/ops/acl_dvpp.h"
#include "api/acl/object_calls.h"
#include "media/image.h"
#include "media/rules.h"
#include "pixel/transform.h"
#include "service/media/picture_channel.h"

namespace anynpu::dvpp {

struct PictureDesc : media::PictureSpec {
  uint32_t ret_code = 0;
  bool in_batch = false;
};

struct PictureBatch {
  std::vector<Handle> pictures;
  ~PictureBatch();
};

struct PacketDesc {
  void* data = nullptr;
  uint32_t bytes = 0;
  int32_t format = H264_MAIN_LEVEL;
  uint64_t timestamp = 0;
  uint32_t ret_code = 0;
  uint8_t eos = 0;
};

struct ChannelDesc {
  std::shared_ptr<media::PictureChannel> channel = std::make_shared<media::PictureChannel>();
  uint64_t id = 0;
  uint32_t mode = DVPP_CHNMODE_VPC | DVPP_CHNMODE_JPEGD | DVPP_CHNMODE_JPEGE | DVPP_CHNMODE_PNGD;
  uint32_t matrix = ACL_DVPP_CSC_MATRIX_BT601_WIDE;
  uint32_t width = 0;
  uint32_t height = 0;
  uint32_t precision = ACL_YUVOUT_ALIGN_DOWN;
};

struct Region {
  media::Edges edges;
};
struct ResizeConfig {
  uint32_t interpolation = 0;
};
struct JpegConfig {
  uint32_t level = media::kJpegLevels;
};
struct BorderConfig {
  static constexpr uint32_t kValues = 4;
  int32_t type = BORDER_CONSTANT;
  double value[kValues] = {};
  uint32_t top = 0, bottom = 0, left = 0, right = 0;
};
struct LookupTable {
  pixel::Lookup table;
};
struct HistogramObject {
  pixel::Histogram values;
  uint32_t ret_code = 0;
};

}  // namespace anynpu::dvpp

namespace anynpu {
ANYNPU_HANDLE_TYPE(dvpp::PictureDesc, picture_desc);
ANYNPU_HANDLE_TYPE(dvpp::PictureBatch, picture_batch);
ANYNPU_HANDLE_TYPE(dvpp::PacketDesc, packet_desc);
ANYNPU_HANDLE_TYPE(dvpp::ChannelDesc, media_channel);
ANYNPU_HANDLE_TYPE(dvpp::Region, region);
ANYNPU_HANDLE_TYPE(dvpp::ResizeConfig, resize_config);
ANYNPU_HANDLE_TYPE(dvpp::JpegConfig, jpeg_config);
ANYNPU_HANDLE_TYPE(dvpp::BorderConfig, border_config);
ANYNPU_HANDLE_TYPE(dvpp::LookupTable, lookup_table);
ANYNPU_HANDLE_TYPE(dvpp::HistogramObject, histogram);
}  // namespace anynpu
