// SPDX-License-Identifier: Apache-2.0
#include "service/media/vpc_filters.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace anynpu::media {
namespace {

constexpr uint32_t kMostKernel = 31;

Result<pixel::Window> check_kernel(const KernelSpec& kernel, uint32_t most) {
  if (kernel.width < 1 || kernel.height < 1 || kernel.width > most || kernel.height > most)
    return fail(Code::invalid_argument, "the kernel has {}x{} samples; expected 1x1 to {}x{}",
                kernel.width, kernel.height, most, most);
  const int64_t x = kernel.anchor_x == -1 ? kernel.width / 2 : kernel.anchor_x;
  const int64_t y = kernel.anchor_y == -1 ? kernel.height / 2 : kernel.anchor_y;
  if (x < 0 || y < 0 || x >= kernel.width || y >= kernel.height)
    return fail(Code::invalid_argument, "the anchor {},{} lies outside a kernel of {}x{}",
                kernel.anchor_x, kernel.anchor_y, kernel.width, kernel.height);
  return pixel::Window{kernel.width, kernel.height, static_cast<uint32_t>(x),
                       static_cast<uint32_t>(y)};
}

Status add_same_size(VpcJob& job, const PicturePair& pair, VpcJob::Work work) {
  return job.add_work(pair.from, pair.to, VpcJob::Size::same, std::move(work));
}

Status add_weights(VpcJob& job, const PicturePair& pair, const pixel::Window& window,
                   std::vector<double> weights, double delta, const pixel::Border& border) {
  return add_same_size(
      job, pair,
      [=, weights = std::move(weights)](const pixel::Picture& from, const pixel::Picture& to) {
        pixel::filter(from, to, window, weights, delta, border);
      });
}

// The samples of a kernel that count.
Result<std::vector<uint8_t>> morph_mask(int32_t number, const pixel::Window& w) {
  if (number < 0 || number > static_cast<int32_t>(MorphShape::ellipse))
    return fail(Code::invalid_argument,
                "the shape is {}; expected 0 (rectangle), 1 (cross) or 2 (ellipse)", number);
  const auto shape = static_cast<MorphShape>(number);
  std::vector<uint8_t> mask(size_t{w.width} * w.height, shape == MorphShape::rectangle);
  const double half_x = w.width / 2, half_y = w.height / 2;
  for (uint32_t y = 0; y < w.height; ++y) {
    if (shape == MorphShape::cross) {
      for (uint32_t x = 0; x < w.width; ++x)
        mask[y * w.width + x] = y == w.anchor_y || x == w.anchor_x;
    } else if (shape == MorphShape::ellipse) {
      const double dy = y - half_y;
      const double part = half_y > 0 ? (half_y * half_y - dy * dy) / (half_y * half_y) : 1;
      const double reach = std::nearbyint(half_x * std::sqrt(std::max(part, 0.0)));
      for (uint32_t x = 0; x < w.width; ++x) mask[y * w.width + x] = std::fabs(x - half_x) <= reach;
    }
  }
  return mask;
}

}  // namespace

Status add_blur(VpcJob& job, const PicturePair& pair, const KernelSpec& kernel,
                const BorderSpec& border) {
  ANYNPU_ASSIGN(const auto window, check_kernel(kernel, kMostKernel));
  ANYNPU_ASSIGN(const auto checked, check_border(border));
  const size_t count = size_t{window.width} * window.height;
  return add_weights(job, pair, window,
                     std::vector<double>(count, 1.0 / static_cast<double>(count)), 0, checked);
}

Status add_gaussian_blur(VpcJob& job, const PicturePair& pair, const GaussianSpec& blur) {
  ANYNPU_ASSIGN(const auto window, check_kernel(blur.kernel, kMostKernel));
  const double sigma_x = blur.sigma_x, sigma_y = blur.sigma_y;
  if (window.width % 2 == 0 || window.height % 2 == 0 || !(sigma_x >= 0) || !(sigma_y >= 0))
    return fail(Code::invalid_argument,
                "the kernel has {}x{} samples and sigma {} and {}; expected odd sizes, and sigma 0 "
                "(chosen by the size) or more",
                window.width, window.height, sigma_x, sigma_y);
  ANYNPU_ASSIGN(const auto border, check_border(blur.border));
  const auto across = pixel::gaussian_weights(window.width, sigma_x);
  const auto down = pixel::gaussian_weights(window.height, sigma_y > 0 ? sigma_y : sigma_x);
  std::vector<double> weights;
  for (double y : down)
    for (double x : across) weights.push_back(x * y);
  return add_weights(job, pair, window, std::move(weights), 0, border);
}

Status add_filter(VpcJob& job, const PicturePair& pair, const FilterSpec& filter) {
  ANYNPU_ASSIGN(const auto window, check_kernel(filter.kernel, 5));
  ANYNPU_ASSIGN(const auto border, check_border(filter.border));
  std::vector<double> weights;
  for (uint32_t y = 0; y < window.height; ++y)
    for (uint32_t x = 0; x < window.width; ++x) weights.push_back(filter.weights[y][x]);
  return add_weights(job, pair, window, std::move(weights), filter.delta, border);
}

Status add_median_blur(VpcJob& job, const PicturePair& pair, uint32_t side) {
  if (side < 3 || side % 2 == 0 || side > kMostKernel)
    return fail(Code::invalid_argument, "the kernel size is {}; expected an odd number, 3 to {}",
                side, kMostKernel);
  const pixel::Window window{side, side, side / 2, side / 2};
  return add_same_size(job, pair,
                       [window, mask = std::vector<uint8_t>(size_t{side} * side, 1)](
                           const pixel::Picture& from, const pixel::Picture& to) {
                         pixel::choose_by_rank(from, to, window, mask, pixel::Rank::middle,
                                               {pixel::BorderKind::replicate, {}});
                       });
}

Status add_morph(VpcJob& job, const PicturePair& pair, const MorphSpec& morph, pixel::Rank rank) {
  ANYNPU_ASSIGN(const auto window, check_kernel(morph.kernel, kMostKernel));
  ANYNPU_ASSIGN(const auto mask, morph_mask(morph.shape, window));
  ANYNPU_ASSIGN(const auto border, check_border(morph.border));
  const uint32_t times = morph.iterations == 0 ? 1 : morph.iterations;
  if (times > 100)
    return fail(Code::invalid_argument, "{} iterations were asked for; expected up to 100", times);
  return add_same_size(job, pair, [=](const pixel::Picture& from, const pixel::Picture& to) {
    pixel::choose_by_rank(from, to, window, mask, rank, border);
    for (uint32_t i = 1; i < times; ++i) {
      const pixel::OwnPicture before(*to.format, to.width, to.height);
      pixel::convert(to, before.view(), pixel::color_matrix(0));  // a copy: equal layouts
      pixel::choose_by_rank(before.view(), to, window, mask, rank, border);
    }
  });
}

Status add_flip(VpcJob& job, const PicturePair& pair, int32_t mode) {
  if (mode < 0 || mode > static_cast<int32_t>(pixel::Mirror::both))
    return fail(Code::invalid_argument,
                "the mode is {}; expected 0 (left and right), 1 (top and bottom) or 2 (both)",
                mode);
  return add_same_size(
      job, pair,
      [how = static_cast<pixel::Mirror>(mode)](
          const pixel::Picture& from, const pixel::Picture& to) { pixel::mirror(from, to, how); });
}

Status add_rotation(VpcJob& job, const PicturePair& pair, int32_t turn) {
  if (turn < 0 || turn > 2)
    return fail(Code::invalid_argument, "the angle is {}; expected 0 (90), 1 (180) or 2 (270)",
                turn);
  const int times = turn + 1;
  const bool across = times % 2;
  const auto& [from, to] = pair;
  const pixel::Format* format = pixel::find_format(from.format);
  if (across && format != nullptr && format->shift_x != format->shift_y)
    return fail(Code::invalid_argument,
                "{} shares chroma unlike in both directions and cannot be turned by 90 degrees; "
                "convert it first",
                format->name);
  if (to.width != (across ? from.height : from.width) ||
      to.height != (across ? from.width : from.height))
    return fail(Code::invalid_argument, "a picture of {}x{} turned by {} degrees is not {}x{}",
                from.width, from.height, 90 * times, to.width, to.height);
  return job.add_work(from, to, VpcJob::Size::any,
                      [times](const pixel::Picture& source, const pixel::Picture& target) {
                        pixel::turn(source, target, times);
                      });
}

}  // namespace anynpu::media
