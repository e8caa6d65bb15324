// SPDX-License-Identifier: Apache-2.0
// Regions that programs draw over the pictures of channels: overlays with a canvas, covers and
// mosaics. A region has a number that the program chose; it is drawn into the outputs of picture
// channels and into what encoders encode, once it is attached to them. Thread-safe.
#pragma once

#include <array>

#include "service/media/bindings.h"
#include "service/media/record.h"
#include "service/media/vpc_draw.h"

namespace anynpu::media {

inline constexpr uint32_t kMostRegionHandles = 1024;

enum class RegionKind : int32_t { cover = 1, overlay = 2, mosaic = 5 };

// The canvas of an overlay. Layouts: ARGB8888 (14), ARGB4444 (25), ARGB1555 (33), and numbers into
// the palette (ARGB8888 entries) of two (41) and four (42) bits.
struct OverlayAttr {
  int32_t format = 0;
  uint32_t background = 0;  // ARGB8888: what a new canvas shows
  uint32_t width = 0, height = 0;
  uint32_t canvases = 1;
  std::array<uint32_t, 16> palette{};
};
struct RegionAttr {
  int32_t kind = 0;
  OverlayAttr overlay;
};

// How a region looks on a channel. Alphas go from 0 to 128: of ARGB1555, `front` is for pixels
// whose bit is set and `back` for the others.
struct RegionDisplay {
  bool shown = false;
  int32_t kind = 0;
  uint32_t layer = 0;
  pixel::Spot at;
  uint32_t front = 128, back = 0;
  CoverSpec cover;
  MosaicSpec mosaic;
  Record record;  // the program's struct, for the getter
};

struct Canvas {
  uint8_t* data = nullptr;  // device memory
  uint32_t width = 0, height = 0, stride = 0;
  int32_t format = 0;
};

Status create_region(uint32_t region, const RegionAttr& attr);
Status destroy_region(uint32_t region);
// Channels of VPC and VENC.
Status attach_region(uint32_t region, const ChannelName& channel, const RegionDisplay& display);
Status detach_region(uint32_t region, const ChannelName& channel);
Status set_region_display(uint32_t region, const ChannelName& channel,
                          const RegionDisplay& display);
Result<Record> region_display(uint32_t region, const ChannelName& channel);
// The canvas to draw on; what is drawn shows after show_canvas.
Result<Canvas> region_canvas(uint32_t region);
Status show_canvas(uint32_t region);
void destroy_all_regions();

}  // namespace anynpu::media
