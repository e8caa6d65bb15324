// SPDX-License-Identifier: Apache-2.0
// Conversion of the vendor's structs for channels by name, regions and canvases. No other file
// reads or writes their fields.
#pragma once

#include "acl/dvpp/hi_dvpp.h"
#include "service/media/bindings.h"
#include "service/media/regions.h"

namespace anynpu::mpi {

media::ChannelName name_of(const hi_mpp_chn& channel);
media::RegionAttr attr_of(const hi_rgn_attr& attr);
media::RegionDisplay display_of(const hi_rgn_chn_attr& attr);
void give(const media::Canvas& canvas, hi_rgn_canvas_info* to);

}  // namespace anynpu::mpi
