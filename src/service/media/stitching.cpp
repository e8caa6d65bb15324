// SPDX-License-Identifier: Apache-2.0
#include "service/media/stitching.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/log.h"

namespace anynpu::media {
namespace {

constexpr uint32_t kMostSide = 8192;
constexpr size_t kMostPictures = 16;

bool is_side(uint32_t side) { return side >= 1 && side <= kMostSide; }

StitchEntry entry_at(const uint8_t* table, size_t index) {
  StitchEntry entry;
  std::memcpy(&entry, table + index * sizeof entry, sizeof entry);
  return entry;
}

// The value at a position between samples; the edge is replicated outside.
double sample(const pixel::Plane& plane, double x, double y, uint32_t channel) {
  const double right = plane.width - 1, bottom = plane.height - 1;
  x = std::isfinite(x) ? std::clamp(x, 0.0, right) : 0;
  y = std::isfinite(y) ? std::clamp(y, 0.0, bottom) : 0;
  const auto left = static_cast<uint32_t>(x), top = static_cast<uint32_t>(y);
  const uint32_t next = std::min(left + 1, plane.width - 1);
  const uint32_t below = std::min(top + 1, plane.height - 1);
  const double fx = x - left, fy = y - top;
  const auto at = [&](uint32_t column, uint32_t line) {
    return double{static_cast<double>(plane.row(line)[column * plane.channels + channel])};
  };
  return (at(left, top) * (1 - fx) + at(next, top) * fx) * (1 - fy) +
         (at(left, below) * (1 - fx) + at(next, below) * fx) * fy;
}

struct Shifts {
  int x = 0, y = 0;
};

Shifts shifts_of(const pixel::Format& format, int plane) {
  if (plane == 0 || format.packing != pixel::Packing::semiplanar) return {};
  return {format.shift_x, format.shift_y};
}

uint8_t mixed(const std::vector<pixel::Picture>& from, int plane, const StitchEntry& e,
              Shifts shifts, uint32_t channel) {
  const double sx = 1 << shifts.x, sy = 1 << shifts.y;
  double value = 0;
  if (e.picture1 < from.size() && e.weight1 != 0)
    value += e.weight1 * sample(from[e.picture1].plane(plane), e.x1 / sx, e.y1 / sy, channel);
  if (e.picture2 < from.size() && e.weight2 != 0)
    value += e.weight2 * sample(from[e.picture2].plane(plane), e.x2 / sx, e.y2 / sy, channel);
  return std::isfinite(value) ? static_cast<uint8_t>(std::clamp(value + 0.5, 0.0, 255.0)) : 0;
}

void stitch(const std::vector<pixel::Picture>& from, const pixel::Picture& to,
            const uint8_t* table) {
  for (int p = 0; p < to.planes(); ++p) {
    const pixel::Plane plane = to.plane(p);
    const Shifts shifts = shifts_of(*to.format, p);
    for (uint32_t y = 0; y < plane.height; ++y) {
      for (uint32_t x = 0; x < plane.width; ++x) {
        const size_t index = (size_t{y} << shifts.y) * to.width + (size_t{x} << shifts.x);
        const StitchEntry entry = entry_at(table, index);
        for (uint32_t c = 0; c < plane.channels; ++c)
          plane.row(y)[x * plane.channels + c] = mixed(from, p, entry, shifts, c);
      }
    }
  }
}

pixel::Lookup unchanged() {
  pixel::Lookup lookup;
  for (auto& values : lookup.value)
    for (int i = 0; i < 256; ++i) values[i] = static_cast<uint8_t>(i);
  return lookup;
}

// The pictures with their gains, in separate memory.
std::vector<pixel::OwnPicture> with_gains(const std::vector<pixel::Picture>& from,
                                          const ComputeGains& compute) {
  std::vector<pixel::Histogram> histograms(from.size());
  std::vector<pixel::Lookup> lookups(from.size(), unchanged());
  std::vector<StitchGain> gains;
  for (size_t i = 0; i < from.size(); ++i) {
    pixel::count_values(from[i], &histograms[i]);
    gains.push_back({&histograms[i], &lookups[i]});
  }
  if (const int32_t code = compute(gains); code != 0) {
    ANYNPU_LOG(error, "stitching: the program's function for gains returned {}", code);
    std::fill(lookups.begin(), lookups.end(), unchanged());
  }
  std::vector<pixel::OwnPicture> made;
  for (size_t i = 0; i < from.size(); ++i) {
    made.emplace_back(*from[i].format, from[i].width, from[i].height);
    pixel::look_up(from[i], made.back().view(), lookups[i]);
  }
  return made;
}

}  // namespace

Status check_stitching(const StitchSpec& spec) {
  if (!is_side(spec.source_width) || !is_side(spec.source_height) || !is_side(spec.target_width) ||
      !is_side(spec.target_height))
    return fail(Code::invalid_argument,
                "pictures of {}x{} make one of {}x{}; expected 1x1 to {}x{} pixels",
                spec.source_width, spec.source_height, spec.target_width, spec.target_height,
                kMostSide, kMostSide);
  const size_t needed = size_t{spec.target_width} * spec.target_height * sizeof(StitchEntry);
  if (spec.table_bytes < needed)
    return fail(Code::invalid_argument, "the table has {} bytes; a result of {}x{} takes {}",
                spec.table_bytes, spec.target_width, spec.target_height, needed);
  return device::check_host_range(spec.table, needed, device::Access::read, "the table").status();
}

Status add_stitching(VpcJob& job, const StitchSpec& spec, std::span<const PictureSpec> from,
                     const PictureSpec& to) {
  if (from.empty() || from.size() > kMostPictures)
    return fail(Code::invalid_argument, "{} pictures; expected 1 to {}", from.size(),
                kMostPictures);
  for (const PictureSpec& picture : from)
    if (picture.width != spec.source_width || picture.height != spec.source_height)
      return fail(Code::invalid_argument, "a picture has {}x{} pixels; the parameters say {}x{}",
                  picture.width, picture.height, spec.source_width, spec.source_height);
  if (to.width != spec.target_width || to.height != spec.target_height)
    return fail(Code::invalid_argument, "the result has {}x{} pixels; the parameters say {}x{}",
                to.width, to.height, spec.target_width, spec.target_height);
  ANYNPU_TRY(check_stitching(spec));
  const size_t bytes = size_t{to.width} * to.height * sizeof(StitchEntry);
  ANYNPU_ASSIGN(auto table,
                device::check_host_range(spec.table, bytes, device::Access::read, "the table"));
  return job.add_pictures(
      from, to,
      [table = std::make_shared<device::Range>(std::move(table)), gains = spec.gains](
          const std::vector<pixel::Picture>& sources, const pixel::Picture& target) {
        if (!gains) return stitch(sources, target, table->address);
        const auto own = with_gains(sources, gains);
        std::vector<pixel::Picture> views;
        for (const pixel::OwnPicture& picture : own) views.push_back(picture.view());
        stitch(views, target, table->address);
      });
}

}  // namespace anynpu::media
