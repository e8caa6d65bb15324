// SPDX-License-Identifier: Apache-2.0
#include "service/media/vpc_regions.h"

#include <cstring>

namespace anynpu::media {
namespace {

Result<Edges> check_area(const RegionSpec::Area& area) {
  const auto [left, top, width, height] = area;
  if (width == 0 || height == 0 || width > 65536 || height > 65536 || left > 65536 || top > 65536)
    return fail(Code::invalid_argument, "the region at {},{} has {}x{} pixels", left, top, width,
                height);
  return Edges{left, left + width - 1, top, top + height - 1};
}

Status add_one_region(VpcJob& job, const PictureSpec& from, const RegionSpec& region) {
  VpcJob::Part part;
  ANYNPU_ASSIGN(part.crop, check_area(region.crop));
  if (region.resize) {
    const VpcJob::Scale& size = *region.resize;
    ANYNPU_ASSIGN(part.paste,
                  check_area({region.left, region.top, size.width ? size.width : region.to.width,
                              size.height ? size.height : region.to.height}));
    part.interpolation = size.interpolation;
  }
  part.first = region.first;
  if (region.border) {
    ANYNPU_ASSIGN(part.border, check_border(*region.border));
  }
  return job.add(from, region.to, part);
}

}  // namespace

Result<pixel::Border> check_border(const BorderSpec& spec) {
  if (spec.kind < 0 || spec.kind > static_cast<int32_t>(pixel::BorderKind::wrap))
    return fail(Code::invalid_argument, "the border type is {}; expected 0 to 4", spec.kind);
  pixel::Border border;
  border.kind = static_cast<pixel::BorderKind>(spec.kind);
  for (int i = 0; i < 4; ++i) {
    if (!(spec.value[i] >= 0 && spec.value[i] <= 255))
      return fail(Code::invalid_argument, "a border value is {}; expected 0 to 255", spec.value[i]);
    border.value[i] = static_cast<uint8_t>(spec.value[i] + 0.5);
  }
  return border;
}

Status check_region_count(uint32_t count) {
  if (count >= 1 && count <= kMostRegions) return {};
  return fail(Code::invalid_argument, "{} regions were asked for; expected 1 to {}", count,
              kMostRegions);
}

Status add_regions(VpcJob& job, const PictureSpec& from, std::span<const RegionSpec> regions) {
  for (size_t i = 0; i < regions.size(); ++i)
    ANYNPU_TRY(add_one_region(job, from, regions[i]), "region {}", i);
  return {};
}

Status add_resize(VpcJob& job, const PictureSpec& from, const PictureSpec& to,
                  uint32_t interpolation) {
  VpcJob::Part part;
  part.interpolation = interpolation;
  return job.add(from, to, part);
}

Status add_bordered(VpcJob& job, const PictureSpec& from, const PictureSpec& to, uint32_t left,
                    uint32_t top, const BorderSpec& border) {
  VpcJob::Part part;
  ANYNPU_ASSIGN(part.border, check_border(border));
  ANYNPU_ASSIGN(part.paste, check_area({left, top, from.width, from.height}));
  return job.add(from, to, part);
}

Status add_yuv420_conversion(VpcJob& job, const PictureSpec& from, const PictureSpec& to) {
  if (to.format != pixel::kNv12 && to.format != pixel::kNv21)
    return fail(Code::invalid_argument, "the output format is {}; expected 1 or 2 (YUV420)",
                to.format);
  return job.add_conversion(from, to);
}

Status add_alpha_conversion(VpcJob& job, const PictureSpec& from, const PictureSpec& to,
                            uint32_t alpha) {
  if (alpha > 255) return fail(Code::invalid_argument, "alpha is {}; expected 0 to 255", alpha);
  return job.add_conversion(from, to, static_cast<uint8_t>(alpha));
}

Status check_level_count(uint32_t count) {
  if (count >= 1 && count <= kMostLevels) return {};
  return fail(Code::invalid_argument, "{} levels were asked for; expected 1 to {}", count,
              kMostLevels);
}

Status add_pyramid(VpcJob& job, const PictureSpec& from, const PyramidSpec& pyramid) {
  ANYNPU_ASSIGN(const auto border, check_border(pyramid.border));
  pixel::Filter5x5 filter = pixel::gaussian_5x5();
  if (pyramid.filter != nullptr) {
    ANYNPU_ASSIGN(
        const auto memory,
        device::check_host_range(pyramid.filter, 25, device::Access::read, "gaussian_filter"));
    if (pyramid.divisor == 0) return fail(Code::invalid_argument, "the divisor of the filter is 0");
    for (int i = 0; i < 25; ++i)
      filter.weight[i / 5][i % 5] = static_cast<int8_t>(memory.address[i]);
    filter.divisor = pyramid.divisor;
  }
  return job.add_pyramid(from, pyramid.levels, filter, border);
}

Status add_histogram(VpcJob& job, const PictureSpec& from, void* counts) {
  ANYNPU_ASSIGN(auto memory, device::check_host_range(counts, sizeof(pixel::Histogram::count),
                                                      device::Access::write, "hist_config"));
  return job.add_histogram(from, [memory](const pixel::Histogram& found) {
    std::memcpy(memory.address, found.count, sizeof found.count);
  });
}

}  // namespace anynpu::media
