// SPDX-License-Identifier: Apache-2.0
#include "api/acl_dvpp_mpi/convert_region.h"

#include <algorithm>

#include "api/acl_dvpp_mpi/convert_record.h"
#include "api/acl_dvpp_mpi/convert_vpc.h"

namespace anynpu::mpi {
namespace {

void take(const hi_rgn_overlayex_chn_attr& from, media::RegionDisplay& to) {
  to.at = {from.point.x, from.point.y};
  to.front = from.fg_alpha;
  to.back = from.bg_alpha;
  to.layer = from.layer;
}

void take(const hi_rgn_cover_chn_attr& from, media::RegionDisplay& to) {
  to.cover = shape_of(from.cover);
  to.layer = from.layer;
}

void take(const hi_rgn_mosaic_chn_attr& from, media::RegionDisplay& to) {
  to.mosaic = shape_of(hi_mosaic{from.blk_size, from.rect});
  to.layer = from.layer;
}

}  // namespace

media::ChannelName name_of(const hi_mpp_chn& channel) {
  return {channel.mod_id, channel.dev_id, channel.chn_id};
}

media::RegionAttr attr_of(const hi_rgn_attr& attr) {
  const hi_rgn_overlayex_attr& o = attr.attr.overlayex;
  media::RegionAttr out;
  out.kind = attr.type;
  if (attr.type != HI_RGN_OVERLAYEX) return out;
  out.overlay = {o.pixel_format, o.bg_color, o.size.width, o.size.height, o.canvas_num, {}};
  std::copy_n(o.clut, HI_RGN_CLUT_NUM, out.overlay.palette.begin());
  return out;
}

media::RegionDisplay display_of(const hi_rgn_chn_attr& attr) {
  media::RegionDisplay out;
  out.shown = attr.is_show != HI_FALSE;
  out.kind = attr.type;
  out.record = record_of(attr);
  if (attr.type == HI_RGN_OVERLAYEX) take(attr.attr.overlayex_chn, out);
  if (attr.type == HI_RGN_COVER) take(attr.attr.cover_chn, out);
  if (attr.type == HI_RGN_MOSAIC) take(attr.attr.mosaic_chn, out);
  return out;
}

void give(const media::Canvas& canvas, hi_rgn_canvas_info* to) {
  to->phys_addr = reinterpret_cast<hi_phys_addr_t>(canvas.data);
  to->virt_addr = canvas.data;
  to->size = {canvas.width, canvas.height};
  to->stride = canvas.stride;
  to->pixel_format = static_cast<hi_pixel_format>(canvas.format);
}

}  // namespace anynpu::mpi
