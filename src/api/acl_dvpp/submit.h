// SPDX-License-Identifier: Apache-2.0
// What all calls on pictures share: the channel, the stream, the job.
#pragma once

#include "api/acl_dvpp/objects.h"
#include "device/runtime.h"
#include "media/support.h"
#include "service/media/vpc_job.h"

namespace anynpu::dvpp {

// The channel of a call in use, for the unit it needs.
struct InUse {
  std::shared_ptr<void> keep;
  const pixel::ColorMatrix* matrix;
  std::shared_ptr<device::Stream> stream;
};
Result<InUse> use_channel(const acldvppChannelDesc* channel, uint32_t mode, media::Unit unit,
                          aclrtStream stream);

inline Result<media::PictureSpec> picture_of(const void* handle) {
  ANYNPU_ASSIGN(auto pin, resolve<PictureDesc>(acl::to_handle(handle)));
  return media::PictureSpec(*pin);
}
inline Result<media::Edges> edges_of(const void* handle) {
  ANYNPU_ASSIGN(auto pin, resolve<Region>(acl::to_handle(handle)));
  return pin->edges;
}

// One call on pictures: `add` puts the parts into the job.
template <typename Add>
Status run_vpc(const acldvppChannelDesc* channel, aclrtStream stream, Add&& add) {
  ANYNPU_ASSIGN(auto in_use, use_channel(channel, DVPP_CHNMODE_VPC, media::Unit::vpc, stream));
  auto job = std::make_shared<media::VpcJob>(*in_use.matrix);
  ANYNPU_TRY(add(*job));
  return media::submit_vpc(std::move(job), std::move(in_use.keep), *in_use.stream);
}

// The numbers of a configuration object.
Result<uint32_t> interpolation_of(const acldvppResizeConfig* config);
pixel::Border border_of(const BorderConfig& config);

}  // namespace anynpu::dvpp
