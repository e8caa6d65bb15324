// SPDX-License-Identifier: Apache-2.0
#include "service/media/channel_stream.h"

#include "device/runtime.h"

namespace anynpu::media {

Result<ChannelStream> ChannelStream::make() {
  ChannelStream made;
  ANYNPU_ASSIGN(auto context, device::Runtime::instance().current());
  ANYNPU_ASSIGN(made.handle_, context->create_stream({}));
  ANYNPU_ASSIGN(made.stream_, device::Runtime::instance().stream(made.handle_));
  return made;
}

ChannelStream::~ChannelStream() {
  if (handle_ != 0)
    (void)device::Runtime::instance().destroy_stream(handle_, device::Stream::Close::drain);
}

}  // namespace anynpu::media
