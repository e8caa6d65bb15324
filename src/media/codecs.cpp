// SPDX-License-Identifier: Apache-2.0
// Opens the two plug-ins.
#include "base/plugin.h"
#include "media/image_codec.h"
#include "media/video_codec.h"

namespace anynpu::media {

Result<const ImageCodec*> image_codec() {
  ANYNPU_ASSIGN(void* open, plugin_symbol("image", "anynpu_image_codec"));
  return reinterpret_cast<decltype(&anynpu_image_codec)>(open)();
}

Result<VideoCodec*> video_codec() {
  ANYNPU_ASSIGN(void* open, plugin_symbol("video", "anynpu_video_codec"));
  return reinterpret_cast<decltype(&anynpu_video_codec)>(open)();
}

}  // namespace anynpu::media
