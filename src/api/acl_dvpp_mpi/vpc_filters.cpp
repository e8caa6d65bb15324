// SPDX-License-Identifier: Apache-2.0
// Filters, mirrors, turns and pyramids of pictures (acl.himpi.vpc_blur and its kin).
#include <algorithm>
#include <cmath>
#include <vector>

#include "api/acl_dvpp_mpi/vpc_call.h"
#include "pixel/filter.h"

using namespace anynpu;
using namespace anynpu::mpi;

namespace {

constexpr hi_u32 kMostKernel = 31;
constexpr hi_u32 kMostLevels = 8;

Result<pixel::Window> window_of(const hi_size& size, const hi_point& anchor, hi_u32 most) {
  if (size.width < 1 || size.height < 1 || size.width > most || size.height > most)
    return fail(Code::invalid_argument, "the kernel has {}x{} samples; expected 1x1 to {}x{}",
                size.width, size.height, most, most);
  // -1 is the middle.
  const int64_t x = anchor.x == -1 ? size.width / 2 : anchor.x;
  const int64_t y = anchor.y == -1 ? size.height / 2 : anchor.y;
  if (x < 0 || y < 0 || x >= size.width || y >= size.height)
    return fail(Code::invalid_argument, "the anchor {},{} lies outside a kernel of {}x{}", anchor.x,
                anchor.y, size.width, size.height);
  return pixel::Window{size.width, size.height, static_cast<uint32_t>(x), static_cast<uint32_t>(y)};
}

template <typename Param>
Status add_same_size(VpcJob& job, const Param& param, VpcJob::Work work) {
  return job.add_work(spec_of(param.src), spec_of(param.dst), VpcJob::Size::same, std::move(work));
}

Status add_weights(VpcJob& job, const hi_vpc_pic_info& src, const hi_vpc_pic_info& dst,
                   const pixel::Window& window, std::vector<double> weights, double delta,
                   const pixel::Border& border) {
  return job.add_work(
      spec_of(src), spec_of(dst), VpcJob::Size::same,
      [=, weights = std::move(weights)](const pixel::Picture& from, const pixel::Picture& to) {
        pixel::filter(from, to, window, weights, delta, border);
      });
}

// The samples of a kernel that count.
Result<std::vector<uint8_t>> shape_of(hi_morph_shapes shape, const pixel::Window& w) {
  if (shape < MORPH_RECT || shape > MORPH_ELLIPSE)
    return fail(Code::invalid_argument,
                "the shape is {}; expected 0 (rectangle), 1 (cross) or 2 (ellipse)", shape);
  std::vector<uint8_t> mask(size_t{w.width} * w.height, shape == MORPH_RECT);
  const double half_x = w.width / 2, half_y = w.height / 2;
  for (uint32_t y = 0; y < w.height; ++y) {
    if (shape == MORPH_CROSS) {
      for (uint32_t x = 0; x < w.width; ++x)
        mask[y * w.width + x] = y == w.anchor_y || x == w.anchor_x;
    } else if (shape == MORPH_ELLIPSE) {
      const double dy = y - half_y;
      const double part = half_y > 0 ? (half_y * half_y - dy * dy) / (half_y * half_y) : 1;
      const double reach = std::nearbyint(half_x * std::sqrt(std::max(part, 0.0)));
      for (uint32_t x = 0; x < w.width; ++x) mask[y * w.width + x] = std::fabs(x - half_x) <= reach;
    }
  }
  return mask;
}

hi_s32 morph(const char* function, hi_vpc_chn chn, const hi_blur_param* param, pixel::Rank rank,
             hi_u32* task_id, hi_s32 milli_sec) {
  return run_vpc(function, chn, task_id, milli_sec, [&](VpcJob& job) -> Status {
    ANYNPU_TRY(check_pointer(param, "the parameters"));
    const hi_blur_config& c = param->blur_cfg;
    ANYNPU_ASSIGN(const auto window, window_of(c.kernel_size, c.anchor, kMostKernel));
    ANYNPU_ASSIGN(const auto mask, shape_of(c.morph_shapes, window));
    ANYNPU_ASSIGN(const auto border, border_of(c.border_type, c.scalar_value));
    const hi_u32 times = c.iterations == 0 ? 1 : c.iterations;
    if (times > 100)
      return fail(Code::invalid_argument, "{} iterations were asked for; expected up to 100",
                  times);
    return add_same_size(job, *param, [=](const pixel::Picture& from, const pixel::Picture& to) {
      pixel::choose_by_rank(from, to, window, mask, rank, border);
      for (hi_u32 i = 1; i < times; ++i) {
        const pixel::OwnPicture before(*to.format, to.width, to.height);
        pixel::convert(to, before.view(), pixel::color_matrix(0));  // a copy: equal layouts
        pixel::choose_by_rank(before.view(), to, window, mask, rank, border);
      }
    });
  });
}

}  // namespace

hi_s32 hi_mpi_vpc_blur(hi_vpc_chn chn, const hi_blur_param* blur_param, hi_u32* task_id,
                       hi_s32 milli_sec) {
  return run_vpc(__func__, chn, task_id, milli_sec, [&](VpcJob& job) -> Status {
    ANYNPU_TRY(check_pointer(blur_param, "blur_param"));
    const hi_blur_config& c = blur_param->blur_cfg;
    ANYNPU_ASSIGN(const auto window, window_of(c.kernel_size, c.anchor, kMostKernel));
    ANYNPU_ASSIGN(const auto border, border_of(c.border_type, c.scalar_value));
    const size_t count = size_t{window.width} * window.height;
    return add_weights(job, blur_param->src, blur_param->dst, window,
                       std::vector<double>(count, 1.0 / static_cast<double>(count)), 0, border);
  });
}

hi_s32 hi_mpi_vpc_gaussian_blur(hi_vpc_chn chn, const hi_gaussian_blur_param* gaussian_blur_param,
                                hi_u32* task_id, hi_s32 milli_sec) {
  return run_vpc(__func__, chn, task_id, milli_sec, [&](VpcJob& job) -> Status {
    ANYNPU_TRY(check_pointer(gaussian_blur_param, "gaussian_blur_param"));
    const hi_gaussian_blur_config& c = gaussian_blur_param->gaussian_blur_cfg;
    ANYNPU_ASSIGN(const auto window, window_of(c.kernel_size, {-1, -1}, kMostKernel));
    if (window.width % 2 == 0 || window.height % 2 == 0 || !(c.sigma_x >= 0) || !(c.sigma_y >= 0))
      return fail(
          Code::invalid_argument,
          "the kernel has {}x{} samples and sigma {} and {}; expected odd sizes, and sigma 0 "
          "(chosen by the size) or more",
          window.width, window.height, c.sigma_x, c.sigma_y);
    ANYNPU_ASSIGN(const auto border, border_of(c.border_type, c.scalar_value));
    const auto across = pixel::gaussian_weights(window.width, c.sigma_x);
    const auto down = pixel::gaussian_weights(window.height, c.sigma_y > 0 ? c.sigma_y : c.sigma_x);
    std::vector<double> weights;
    for (double y : down)
      for (double x : across) weights.push_back(x * y);
    return add_weights(job, gaussian_blur_param->src, gaussian_blur_param->dst, window,
                       std::move(weights), 0, border);
  });
}

hi_s32 hi_mpi_vpc_filter2d(hi_vpc_chn chn, const hi_filter_2d_param* filter_2d_param,
                           hi_u32* task_id, hi_s32 milli_sec) {
  return run_vpc(__func__, chn, task_id, milli_sec, [&](VpcJob& job) -> Status {
    ANYNPU_TRY(check_pointer(filter_2d_param, "filter_2d_param"));
    const hi_filter_2d_config& c = filter_2d_param->filter_2d_cfg;
    ANYNPU_ASSIGN(const auto window, window_of(c.kernel_size, c.anchor, 5));
    ANYNPU_ASSIGN(const auto border, border_of(c.border_type, c.scalar_value));
    std::vector<double> weights;
    for (uint32_t y = 0; y < window.height; ++y)
      for (uint32_t x = 0; x < window.width; ++x) weights.push_back(c.filter[y][x]);
    return add_weights(job, filter_2d_param->src, filter_2d_param->dst, window, std::move(weights),
                       c.delta, border);
  });
}

hi_s32 hi_mpi_vpc_median_blur(hi_vpc_chn chn, const hi_median_blur_param* median_blur_param,
                              hi_u32* task_id, hi_s32 milli_sec) {
  return run_vpc(__func__, chn, task_id, milli_sec, [&](VpcJob& job) -> Status {
    ANYNPU_TRY(check_pointer(median_blur_param, "median_blur_param"));
    const hi_u32 side = median_blur_param->median_blur_cfg.kernel_size;
    if (side < 3 || side % 2 == 0 || side > kMostKernel)
      return fail(Code::invalid_argument, "the kernel size is {}; expected an odd number, 3 to {}",
                  side, kMostKernel);
    const pixel::Window window{side, side, side / 2, side / 2};
    return add_same_size(job, *median_blur_param,
                         [window, mask = std::vector<uint8_t>(size_t{side} * side, 1)](
                             const pixel::Picture& from, const pixel::Picture& to) {
                           pixel::choose_by_rank(from, to, window, mask, pixel::Rank::middle,
                                                 {pixel::BorderKind::replicate, {}});
                         });
  });
}

hi_s32 hi_mpi_vpc_dilate(hi_vpc_chn chn, const hi_blur_param* dilate_param, hi_u32* task_id,
                         hi_s32 milli_sec) {
  return morph(__func__, chn, dilate_param, pixel::Rank::most, task_id, milli_sec);
}

hi_s32 hi_mpi_vpc_erode(hi_vpc_chn chn, const hi_blur_param* erode_param, hi_u32* task_id,
                        hi_s32 milli_sec) {
  return morph(__func__, chn, erode_param, pixel::Rank::least, task_id, milli_sec);
}

hi_s32 hi_mpi_vpc_flip(hi_vpc_chn chn, const hi_flip_param* flip_param, hi_u32* task_id,
                       hi_s32 milli_sec) {
  return run_vpc(__func__, chn, task_id, milli_sec, [&](VpcJob& job) -> Status {
    ANYNPU_TRY(check_pointer(flip_param, "flip_param"));
    if (flip_param->flip_mode < HI_FLIP_HOR || flip_param->flip_mode > HI_FLIP_BOTH)
      return fail(Code::invalid_argument,
                  "the mode is {}; expected 0 (left and right), 1 (top and bottom) or 2 (both)",
                  flip_param->flip_mode);
    return add_same_size(job, *flip_param,
                         [how = static_cast<pixel::Mirror>(flip_param->flip_mode)](
                             const pixel::Picture& from, const pixel::Picture& to) {
                           pixel::mirror(from, to, how);
                         });
  });
}

hi_s32 hi_mpi_vpc_rotate(hi_vpc_chn chn, const hi_rotate_param* rotate_param, hi_u32* task_id,
                         hi_s32 milli_sec) {
  return run_vpc(__func__, chn, task_id, milli_sec, [&](VpcJob& job) -> Status {
    ANYNPU_TRY(check_pointer(rotate_param, "rotate_param"));
    const hi_vpc_pic_info& src = rotate_param->src;
    const hi_vpc_pic_info& dst = rotate_param->dst;
    if (rotate_param->angle < HI_ROTATION_90 || rotate_param->angle > HI_ROTATION_270)
      return fail(Code::invalid_argument, "the angle is {}; expected 0 (90), 1 (180) or 2 (270)",
                  rotate_param->angle);
    const int times = rotate_param->angle + 1;
    const bool across = times % 2;
    const pixel::Format* format = pixel::find_format(src.picture_format);
    if (across && format != nullptr && format->shift_x != format->shift_y)
      return fail(Code::invalid_argument,
                  "{} shares chroma unlike in both directions and cannot be turned by 90 degrees; "
                  "convert it first",
                  format->name);
    if (dst.picture_width != (across ? src.picture_height : src.picture_width) ||
        dst.picture_height != (across ? src.picture_width : src.picture_height))
      return fail(Code::invalid_argument, "a picture of {}x{} turned by {} degrees is not {}x{}",
                  src.picture_width, src.picture_height, 90 * times, dst.picture_width,
                  dst.picture_height);
    return job.add_work(spec_of(src), spec_of(dst), VpcJob::Size::any,
                        [times](const pixel::Picture& from, const pixel::Picture& to) {
                          pixel::turn(from, to, times);
                        });
  });
}

hi_s32 hi_mpi_vpc_pyrdown(hi_vpc_chn chn, const hi_vpc_pic_info* source_pic,
                          hi_vpc_pic_info* dest_pic, hi_u32 filter_level,
                          const hi_s8* gaussian_filter, hi_u16 divisor,
                          hi_vpc_make_border_info make_border_info, hi_u32* task_id,
                          hi_s32 milli_sec) {
  return run_vpc(__func__, chn, task_id, milli_sec, [&](VpcJob& job) -> Status {
    ANYNPU_TRY(check_pointer(source_pic, "source_pic"));
    ANYNPU_TRY(check_pointer(dest_pic, "dest_pic"));
    if (filter_level < 1 || filter_level > kMostLevels)
      return fail(Code::invalid_argument, "{} levels were asked for; expected 1 to {}",
                  filter_level, kMostLevels);
    ANYNPU_ASSIGN(const auto border,
                  border_of(make_border_info.border_type, make_border_info.scalar_value));
    pixel::Filter5x5 filter = pixel::gaussian_5x5();
    if (gaussian_filter != nullptr) {
      ANYNPU_ASSIGN(
          const auto memory,
          device::check_range(gaussian_filter, 25, device::Access::read, "gaussian_filter"));
      if (divisor == 0) return fail(Code::invalid_argument, "the divisor of the filter is 0");
      for (int i = 0; i < 25; ++i)
        filter.weight[i / 5][i % 5] = static_cast<int8_t>(memory.address[i]);
      filter.divisor = divisor;
    }
    std::vector<media::PictureSpec> levels;
    for (hi_u32 i = 0; i < filter_level; ++i) levels.push_back(spec_of(dest_pic[i]));
    return job.add_pyramid(spec_of(*source_pic), levels, filter, border);
  });
}
