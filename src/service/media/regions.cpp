// SPDX-License-Identifier: Apache-2.0
#include "service/media/regions.h"

#include <algorithm>
#include <map>
#include <mutex>

#include "base/align.h"
#include "base/log.h"
#include "device/memory.h"
#include "pixel/overlay.h"
#include "service/media/canvas_pixels.h"
#include "service/media/memory.h"
#include "service/media/venc_channel.h"
#include "service/media/vpc_channel.h"

namespace anynpu::media {
namespace {

constexpr uint32_t kMostSide = 8192;
constexpr uint32_t kMostCanvases = 16;
constexpr uint32_t kMostAlpha = 128;

using CanvasBytes = std::vector<uint8_t>;

struct Attachment {
  ChannelName channel;
  std::weak_ptr<RegionBoard> board;  // gone with its channel
  RegionDisplay display;
};

struct Region {
  RegionAttr attr;
  Canvas canvas;
  std::shared_ptr<const CanvasBytes> shown;  // the canvas when it was last shown
  std::vector<Attachment> attachments;
};

struct Regions {
  std::mutex mutex;
  std::map<uint32_t, Region> all;
};

Regions& regions() {
  static auto& made = *new Regions;
  return made;
}

bool same(const ChannelName& a, const ChannelName& b) {
  return a.unit == b.unit && a.channel == b.channel;
}

Status check_handle(uint32_t region) {
  if (region < kMostRegionHandles) return {};
  return fail(Code::invalid_argument, "the region is {}; expected 0 to {}", region,
              kMostRegionHandles - 1);
}

Status check_attr(const RegionAttr& attr) {
  const auto kind = static_cast<RegionKind>(attr.kind);
  if (kind == RegionKind::cover || kind == RegionKind::mosaic) return {};
  if (kind != RegionKind::overlay)
    return fail(Code::unsupported_feature,
                "regions of type {} are not supported; 1 (cover), 2 (overlay) and 5 (mosaic) are",
                attr.kind);
  const OverlayAttr& o = attr.overlay;
  if (canvas_bits(o.format) == 0)
    return fail(Code::invalid_argument,
                "the canvas has pixel format {}; expected 14 (ARGB8888), 25 (ARGB4444), 33 "
                "(ARGB1555), 41 or 42 (palette of 4 or 16 colours)",
                o.format);
  if (o.width < 2 || o.height < 2 || o.width % 2 || o.height % 2 || o.width > kMostSide ||
      o.height > kMostSide)
    return fail(Code::invalid_argument, "the canvas has {}x{} pixels; expected even sides, 2 to {}",
                o.width, o.height, kMostSide);
  if (o.canvases < 1 || o.canvases > kMostCanvases)
    return fail(Code::invalid_argument, "{} canvases; expected 1 to {}", o.canvases, kMostCanvases);
  return {};
}

Status check_display(const Region& region, const RegionDisplay& display) {
  if (display.kind != region.attr.kind)
    return fail(Code::invalid_argument, "the region is of type {}, its display of type {}",
                region.attr.kind, display.kind);
  if (static_cast<RegionKind>(display.kind) != RegionKind::overlay) return {};
  if (display.at.x % 2 || display.at.y % 2)
    return fail(Code::invalid_argument, "the position is {},{}; expected even numbers",
                display.at.x, display.at.y);
  if (display.front > kMostAlpha || display.back > kMostAlpha)
    return fail(Code::invalid_argument, "the alphas are {} and {}; expected 0 to {}", display.front,
                display.back, kMostAlpha);
  return {};
}

Result<std::shared_ptr<RegionBoard>> board_of(const ChannelName& channel) {
  if (channel.unit == ChannelName::vpc) {
    ANYNPU_ASSIGN(auto found, vpc_channels().find(channel.channel));
    return found->board();
  }
  if (channel.unit == ChannelName::venc) {
    ANYNPU_ASSIGN(auto found, venc_channels().find(channel.channel));
    return found->board();
  }
  return fail(Code::unsupported_feature,
              "regions cannot be attached to unit {}; 7 (VPC) and 8 (VENC) take them",
              channel.unit);
}

RegionDrawing overlay_drawing(const Region& region, const RegionDisplay& display) {
  const Canvas& c = region.canvas;
  auto image = std::make_shared<const pixel::OwnPicture>(
      canvas_pixels(region.shown->data(), c.stride, c.width, c.height, c.format,
                    region.attr.overlay.palette, {display.front, display.back}));
  return {display.layer,
          [image, at = display.at](const pixel::Picture& to, const pixel::ColorMatrix& matrix) {
            pixel::lay_over(image->view(), to, at, matrix);
          }};
}

RegionDrawing drawing_of(const Region& region, const RegionDisplay& display) {
  if (static_cast<RegionKind>(display.kind) == RegionKind::overlay)
    return overlay_drawing(region, display);
  const bool is_cover = static_cast<RegionKind>(display.kind) == RegionKind::cover;
  return {display.layer, [is_cover, cover = display.cover, mosaic = display.mosaic](
                             const pixel::Picture& to, const pixel::ColorMatrix& matrix) {
            const Status drawn = is_cover ? draw_cover(cover, to, matrix) : draw_mosaic(mosaic, to);
            if (!drawn.ok()) ANYNPU_LOG(error, "a region was not drawn: {}", drawn.message());
          }};
}

void put_on_board(uint32_t number, const Region& region, const Attachment& attachment) {
  const auto board = attachment.board.lock();
  if (board == nullptr) return;
  if (attachment.display.shown)
    board->set(number, drawing_of(region, attachment.display));
  else
    board->remove(number);
}

Result<Region*> find_region(uint32_t region) {
  ANYNPU_TRY(check_handle(region));
  const auto at = regions().all.find(region);
  if (at == regions().all.end())
    return fail(Code::not_found, "there is no region {}; create it first", region);
  return &at->second;
}

Result<Attachment*> find_attachment(Region& region, const ChannelName& channel) {
  for (Attachment& attachment : region.attachments)
    if (same(attachment.channel, channel) && !attachment.board.expired()) return &attachment;
  return fail(Code::not_found, "the region is not attached to channel {} of unit {}",
              channel.channel, channel.unit);
}

// The background, as pixels of the canvas; one of a palette begins with its first colour.
void fill_background(const OverlayAttr& attr, const Canvas& canvas) {
  std::fill_n(canvas.data, size_t{canvas.stride} * canvas.height, uint8_t{0});
  if (canvas_bits(attr.format) != 32) return;
  for (uint32_t y = 0; y < canvas.height; ++y)
    std::fill_n(reinterpret_cast<uint32_t*>(canvas.data + size_t{y} * canvas.stride), canvas.width,
                attr.background);
}

Status make_canvas(Region& region) {
  const OverlayAttr& o = region.attr.overlay;
  Canvas& c = region.canvas;
  c = {nullptr, o.width, o.height, round_up(ceil_div(o.width * canvas_bits(o.format), 8u), 16u),
       o.format};
  ANYNPU_ASSIGN(void* memory, allocate(size_t{c.stride} * c.height));
  c.data = static_cast<uint8_t*>(memory);
  fill_background(o, c);
  region.shown = std::make_shared<const CanvasBytes>(c.data, c.data + size_t{c.stride} * c.height);
  return {};
}

void take_away(uint32_t number, Region& region) {
  for (const Attachment& attachment : region.attachments)
    if (const auto board = attachment.board.lock()) board->remove(number);
  if (region.canvas.data != nullptr) (void)device::free_device(region.canvas.data);
}

}  // namespace

Status create_region(uint32_t region, const RegionAttr& attr) {
  ANYNPU_TRY(check_handle(region));
  ANYNPU_TRY(check_attr(attr));
  const std::lock_guard lock(regions().mutex);
  if (regions().all.count(region))
    return fail(Code::already_exists, "region {} exists already; destroy it first", region);
  Region made;
  made.attr = attr;
  if (static_cast<RegionKind>(attr.kind) == RegionKind::overlay) ANYNPU_TRY(make_canvas(made));
  regions().all.emplace(region, std::move(made));
  return {};
}

Status destroy_region(uint32_t region) {
  const std::lock_guard lock(regions().mutex);
  ANYNPU_ASSIGN(Region * found, find_region(region));
  take_away(region, *found);
  regions().all.erase(region);
  return {};
}

Status attach_region(uint32_t region, const ChannelName& channel, const RegionDisplay& display) {
  ANYNPU_ASSIGN(auto board, board_of(channel));
  const std::lock_guard lock(regions().mutex);
  ANYNPU_ASSIGN(Region * found, find_region(region));
  ANYNPU_TRY(check_display(*found, display));
  if (find_attachment(*found, channel).ok())
    return fail(Code::already_exists, "region {} is attached to channel {} already", region,
                channel.channel);
  found->attachments.push_back({channel, board, display});
  put_on_board(region, *found, found->attachments.back());
  return {};
}

Status detach_region(uint32_t region, const ChannelName& channel) {
  const std::lock_guard lock(regions().mutex);
  ANYNPU_ASSIGN(Region * found, find_region(region));
  ANYNPU_ASSIGN(Attachment * attachment, find_attachment(*found, channel));
  if (const auto board = attachment->board.lock()) board->remove(region);
  std::erase_if(found->attachments,
                [&](const Attachment& other) { return same(other.channel, channel); });
  return {};
}

Status set_region_display(uint32_t region, const ChannelName& channel,
                          const RegionDisplay& display) {
  const std::lock_guard lock(regions().mutex);
  ANYNPU_ASSIGN(Region * found, find_region(region));
  ANYNPU_ASSIGN(Attachment * attachment, find_attachment(*found, channel));
  ANYNPU_TRY(check_display(*found, display));
  attachment->display = display;
  put_on_board(region, *found, *attachment);
  return {};
}

Result<Record> region_display(uint32_t region, const ChannelName& channel) {
  const std::lock_guard lock(regions().mutex);
  ANYNPU_ASSIGN(Region * found, find_region(region));
  ANYNPU_ASSIGN(const Attachment* attachment, find_attachment(*found, channel));
  return attachment->display.record;
}

Result<Canvas> region_canvas(uint32_t region) {
  const std::lock_guard lock(regions().mutex);
  ANYNPU_ASSIGN(Region * found, find_region(region));
  if (found->canvas.data == nullptr)
    return fail(Code::bad_call_order, "region {} is no overlay: it has no canvas", region);
  return found->canvas;
}

Status show_canvas(uint32_t region) {
  ANYNPU_ASSIGN(const Canvas canvas, region_canvas(region));
  ANYNPU_ASSIGN(const auto memory,
                device::check_host_range(canvas.data, size_t{canvas.stride} * canvas.height,
                                         device::Access::read, "the canvas"));
  const std::lock_guard lock(regions().mutex);
  ANYNPU_ASSIGN(Region * found, find_region(region));
  found->shown = std::make_shared<const CanvasBytes>(memory.address, memory.address + memory.bytes);
  for (const Attachment& attachment : found->attachments) put_on_board(region, *found, attachment);
  return {};
}

void destroy_all_regions() {
  const std::lock_guard lock(regions().mutex);
  for (auto& [number, region] : regions().all) take_away(number, region);
  regions().all.clear();
}

}  // namespace anynpu::media
