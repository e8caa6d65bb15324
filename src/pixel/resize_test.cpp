// SPDX-License-Identifier: Apache-2.0
#include "pixel/resize.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

#include "base/align.h"

namespace anynpu::pixel {
namespace {

// A plane whose last byte is the last before memory that must not be touched.
class GuardedPlane {
 public:
  GuardedPlane(uint32_t width, uint32_t height, uint32_t channels, uint32_t padding)
      : page_(static_cast<size_t>(sysconf(_SC_PAGESIZE))) {
    const size_t stride = size_t{width} * channels + padding;
    const size_t bytes = stride * (height - 1) + size_t{width} * channels;
    size_ = round_up(bytes, page_);
    memory_ = static_cast<uint8_t*>(
        mmap(nullptr, size_ + page_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    mprotect(memory_ + size_, page_, PROT_NONE);
    plane = {memory_ + size_ - bytes, stride, width, height, channels};
    std::memset(memory_, kUntouched, size_);
  }
  ~GuardedPlane() { munmap(memory_, size_ + page_); }
  GuardedPlane(const GuardedPlane&) = delete;
  GuardedPlane& operator=(const GuardedPlane&) = delete;

  void fill_with_noise(uint32_t seed) {
    std::minstd_rand random(seed);
    for (uint32_t y = 0; y < plane.height; ++y)
      for (uint32_t x = 0; x < plane.width * plane.channels; ++x)
        plane.row(y)[x] = static_cast<uint8_t>(random() >> 7);
  }
  bool padding_is_untouched() const {
    const size_t used = size_t{plane.width} * plane.channels;
    for (uint32_t y = 0; y + 1 < plane.height; ++y)
      for (size_t x = used; x < plane.stride; ++x)
        if (plane.row(y)[x] != kUntouched) return false;
    return true;
  }

  static constexpr uint8_t kUntouched = 0xa5;
  Plane plane;

 private:
  size_t page_;
  size_t size_;
  uint8_t* memory_;
};

double cubic(double distance) {
  constexpr double a = -0.75;
  const double t = std::fabs(distance);
  if (t <= 1) return ((a + 2) * t - (a + 3)) * t * t + 1;
  return t < 2 ? ((a * t - 5 * a) * t + 8 * a) * t - 4 * a : 0;
}

// The value of one sample in floating point, straight from the definition of each way.
double exact(const Plane& from, const Plane& to, uint32_t x, uint32_t y, uint32_t c,
             Interpolation how) {
  const auto centre = [&](uint32_t at, uint32_t source, uint32_t target) {
    const double scale = static_cast<double>(source) / target;
    return how == Interpolation::bilinear_tensorflow ? at * scale : (at + 0.5) * scale - 0.5;
  };
  const double sx = centre(x, from.width, to.width);
  const double sy = centre(y, from.height, to.height);
  const auto sample = [&](int64_t px, int64_t py) -> double {
    const auto cx = std::clamp<int64_t>(px, 0, from.width - 1);
    const auto cy = std::clamp<int64_t>(py, 0, from.height - 1);
    return from.row(static_cast<uint32_t>(cy))[cx * from.channels + c];
  };
  const auto left = static_cast<int64_t>(std::floor(sx));
  const auto top = static_cast<int64_t>(std::floor(sy));
  const bool wide = how == Interpolation::high_order;
  double sum = 0;
  for (int64_t py = top - wide; py <= top + 1 + wide; ++py) {
    for (int64_t px = left - wide; px <= left + 1 + wide; ++px) {
      const double dx = sx - static_cast<double>(px);
      const double dy = sy - static_cast<double>(py);
      sum += sample(px, py) *
             (wide ? cubic(dx) * cubic(dy) : (1 - std::fabs(dx)) * (1 - std::fabs(dy)));
    }
  }
  return std::clamp(sum, 0.0, 255.0);
}

struct Size {
  uint32_t width, height;
};
constexpr Size kFrom[] = {{1, 1}, {2, 2}, {3, 5}, {17, 9}, {64, 33}, {131, 47}};
constexpr Size kTo[] = {{1, 1}, {2, 3}, {5, 4}, {16, 16}, {33, 12}, {70, 90}};

TEST(ResizeTest, smooth_ways_are_within_one_level_of_exact_arithmetic_for_all_channels_and_sizes) {
  for (const Interpolation how :
       {Interpolation::bilinear, Interpolation::bilinear_tensorflow, Interpolation::high_order}) {
    for (uint32_t channels = 1; channels <= 4; ++channels) {
      for (const Size a : kFrom) {
        for (const Size b : kTo) {
          if (a.width == b.width && a.height == b.height) continue;
          GuardedPlane from(a.width, a.height, channels, 7);
          GuardedPlane to(b.width, b.height, channels, 5);
          from.fill_with_noise(channels + a.width);
          resize_plane(from.plane, to.plane, how);
          double worst = 0;
          for (uint32_t y = 0; y < b.height; ++y)
            for (uint32_t x = 0; x < b.width; ++x)
              for (uint32_t c = 0; c < channels; ++c)
                worst = std::max(worst, std::fabs(exact(from.plane, to.plane, x, y, c, how) -
                                                  to.plane.row(y)[x * channels + c]));
          ASSERT_LE(worst, 1.0) << static_cast<int>(how) << ": " << a.width << "x" << a.height
                                << " to " << b.width << "x" << b.height << ", " << channels;
          ASSERT_TRUE(to.padding_is_untouched());
        }
      }
    }
  }
}

TEST(ResizeTest, nearest_takes_the_sample_above_the_position) {
  GuardedPlane from(131, 47, 3, 1);
  GuardedPlane to(50, 60, 3, 2);
  from.fill_with_noise(3);
  for (const Interpolation how : {Interpolation::nearest, Interpolation::nearest_tensorflow}) {
    resize_plane(from.plane, to.plane, how);
    for (uint32_t y = 0; y < 60; ++y)
      for (uint32_t x = 0; x < 50; ++x)
        ASSERT_EQ(
            std::memcmp(to.plane.row(y) + x * 3, from.plane.row(y * 47 / 60) + x * 131 / 50 * 3, 3),
            0);
  }
}

TEST(ResizeTest, equal_sizes_are_copied_whatever_the_way) {
  GuardedPlane from(33, 7, 2, 3);
  GuardedPlane to(33, 7, 2, 9);
  from.fill_with_noise(4);
  resize_plane(from.plane, to.plane, Interpolation::high_order);
  for (uint32_t y = 0; y < 7; ++y)
    EXPECT_EQ(std::memcmp(to.plane.row(y), from.plane.row(y), 66), 0);
}

TEST(ResizeTest, the_largest_pictures_are_scaled_by_several_threads_as_by_one) {
  GuardedPlane from(8192, 64, 1, 0);
  GuardedPlane whole(4001, 130, 1, 0);
  from.fill_with_noise(5);
  resize_plane(from.plane, whole.plane, Interpolation::bilinear);
  double worst = 0;
  for (uint32_t y = 0; y < 130; y += 43)
    for (uint32_t x = 0; x < 4001; ++x)
      worst = std::max(worst,
                       std::fabs(exact(from.plane, whole.plane, x, y, 0, Interpolation::bilinear) -
                                 whole.plane.row(y)[x]));
  EXPECT_LE(worst, 1.0);
}

}  // namespace
}  // namespace anynpu::pixel
