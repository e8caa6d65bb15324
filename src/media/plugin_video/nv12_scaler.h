// SPDX-License-Identifier: Apache-2.0
// Converts video that is not narrow-range 8-bit 4:2:0 to NV12 with libswscale, configured as in the
// ffmpeg program for `-pix_fmt nv12`, so that the samples are the same. Not thread-safe.
#pragma once

extern "C" {
#include <libavutil/frame.h>
}

#include "base/result.h"

struct SwsContext;

namespace anynpu::media {

class Nv12Scaler {
 public:
  Nv12Scaler() = default;
  Nv12Scaler(const Nv12Scaler&) = delete;
  Nv12Scaler& operator=(const Nv12Scaler&) = delete;
  ~Nv12Scaler();

  // The picture as NV12 of the same size, in memory of the scaler until the next call.
  Result<const AVFrame*> convert(const AVFrame& from);

 private:
  Status prepare(const AVFrame& from);

  SwsContext* context_ = nullptr;
  AVFrame* to_ = nullptr;
  int format_ = -1;  // of what context_ was made for
  int range_ = -1;
};

}  // namespace anynpu::media
