// SPDX-License-Identifier: Apache-2.0
// Calls on pictures that programs describe by handles: the channel, the objects, the stream. Each
// is checked at once and queued on the stream.
#pragma once

#include <functional>
#include <optional>

#include "device/stream.h"
#include "media/support.h"
#include "service/media/media_objects.h"
#include "service/media/picture_channel.h"
#include "service/media/vpc_job.h"

namespace anynpu::media {

// Units that a channel for pictures works with, as bits of its mode.
enum ChannelMode : uint32_t { kModeVpc = 1, kModeJpegd = 2, kModeJpege = 4, kModePngd = 8 };
inline constexpr uint32_t kAllModes = kModeVpc | kModeJpegd | kModeJpege | kModePngd;

// A channel and its settings.
struct ChannelDesc {
  std::shared_ptr<PictureChannel> channel = std::make_shared<PictureChannel>();
  uint64_t id = 0;
  uint32_t mode = kAllModes;
  uint32_t matrix = 0;
  uint32_t width = 0;
  uint32_t height = 0;
  uint32_t precision = 0;
  Status set_mode(uint32_t changed);
};
// In the thread's current context; gives the channel its id.
Status open_picture_channel(ChannelDesc& desc);

// A reference to a channel, held by one call; the channel must have the unit that the call needs.
struct ChannelUse {
  std::shared_ptr<void> keep;
  const pixel::ColorMatrix* matrix;
  std::shared_ptr<device::Stream> stream;
};
Result<ChannelUse> use_channel(Handle channel, uint32_t mode, Unit unit, Handle stream);

// One call on two pictures.
struct PictureCall {
  Handle channel = 0;
  Handle stream = 0;
  Handle input = 0;
  Handle output = 0;
};
// Objects that a call takes besides its pictures. Only those that are given are looked up; they
// must exist.
struct TransformObjects {
  std::optional<Handle> crop, paste, resize;
};
Status transform_picture(const PictureCall& call, const TransformObjects& objects);
Status convert_picture(const PictureCall& call);
// The output is the input and its border.
Status add_picture_border(const PictureCall& call, Handle border);
Status halve_picture(const PictureCall& call);
Status look_up_picture(const PictureCall& call, Handle table);
// Into a HistogramObject; the call's output is not used.
Status count_picture_values(const PictureCall& call, Handle histogram);

// A list of handles of the program, by index; null when it passed none.
using HandleList = std::function<Handle(uint32_t index)>;

// Picture i of the input gives the next counts[i] pictures of the output, in order.
struct BatchCall {
  Handle channel = 0;
  Handle stream = 0;
  Handle input = 0;
  Handle output = 0;
  const uint32_t* counts = nullptr;
  uint32_t size = 0;  // of counts
  HandleList crops;
};
struct BatchObjects {
  std::optional<HandleList> pastes, borders;  // one for each output
  std::optional<Handle> resize;
};
Status transform_batch(const BatchCall& call, const BatchObjects& objects);

}  // namespace anynpu::media

namespace anynpu {
ANYNPU_HANDLE_TYPE(media::ChannelDesc, media_channel);
}  // namespace anynpu
