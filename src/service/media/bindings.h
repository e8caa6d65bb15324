// SPDX-License-Identifier: Apache-2.0
// Bound channels: pictures of a decoder go to an encoder automatically, and are not fetched by the
// program. A picture that the encoder cannot take at once is dropped, with a line in the log.
// Thread-safe.
#pragma once

#include <cstdint>

#include "base/status.h"

namespace anynpu::media {

// A channel as programs name it.
struct ChannelName {
  enum Unit : int32_t { vdec = 5, vpc = 7, venc = 8 };
  int32_t unit = 0;
  int32_t device = 0;
  int32_t channel = 0;
};

// Binds a decoder to an encoder; other pairs are not supported. An encoder has at most one source.
Status bind_channels(const ChannelName& from, const ChannelName& to);
Status unbind_channels(const ChannelName& from, const ChannelName& to);

}  // namespace anynpu::media
