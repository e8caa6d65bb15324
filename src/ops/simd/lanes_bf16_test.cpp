// SPDX-License-Identifier: Apache-2.0
#include "ops/simd/lanes_bf16.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "ops/simd/isa.h"
#include "ops/simd/tile_bf16.h"

namespace anynpu::ops {
namespace {

constexpr int64_t kPixel = 16;
constexpr float kInf = std::numeric_limits<float>::infinity();

std::vector<const ShortLaneSet*> present_short_sets() {
  std::vector<const ShortLaneSet*> sets;
  if (check_isa(Isa::avx512).ok()) sets.push_back(&kShortLanesAvx512);
  if (check_bf16().ok()) sets.push_back(&kShortLanesBf16);
  return sets;
}

// Rows with data of their own: small whole numbers, so that sums are exact in any order.
struct Rows : ShortLaneRows {
  std::vector<BF16> input, output, added;
  std::vector<float> taps, biases;  // channels in their own order

  Rows(int64_t height, int64_t width) {
    in_h = height, in_w = width;
    min = -kInf, max = kInf;
  }

  static std::vector<BF16> numbers(int64_t pixels, int step) {
    std::vector<BF16> list(static_cast<size_t>(pixels * kPixel));
    for (size_t i = 0; i < list.size(); ++i) {
      list[i] = to_bf16(static_cast<float>(static_cast<int>(i) * step % 23 - 11));
    }
    return list;
  }

  void fill(int64_t height, int64_t width) {
    rows = height, out_w = width;
    input = numbers(in_h * in_w, 7);
    output.assign(static_cast<size_t>(rows * out_w * kPixel), BF16{0x1234});
    added = numbers(rows * out_w, 5);
    for (int64_t i = 0; i < kernel_h * kernel_w * kPixel; ++i) {
      taps.push_back(static_cast<float>(i * 11 % 13 - 6));
    }
    for (int64_t i = 0; i < kPixel; ++i) biases.push_back(static_cast<float>(3 - i));
  }

  // Calls visit(input element, tap) for what a window holds.
  template <typename Visit>
  void window(int64_t row, int64_t column, int64_t channel, const Visit& visit) const {
    for (int64_t i = 0; i < kernel_h; ++i) {
      for (int64_t j = 0; j < kernel_w; ++j) {
        const int64_t at_y = y + row * stride_h + i * dilation_h;
        const int64_t at_x = x + column * stride_w + j * dilation_w;
        if (at_y < 0 || at_y >= in_h || at_x < 0 || at_x >= in_w) continue;
        visit(to_float(input[static_cast<size_t>((at_y * in_w + at_x) * kPixel + channel)]),
              (i * kernel_w + j) * kPixel + channel);
      }
    }
  }

  float convolved(int64_t row, int64_t column, int64_t channel) const {
    float sum = biases[static_cast<size_t>(channel)];
    window(row, column, channel,
           [&](float value, int64_t tap) { sum += value * taps[static_cast<size_t>(tap)]; });
    if (residual) {
      sum += to_float(added[static_cast<size_t>((row * out_w + column) * kPixel + channel)]);
    }
    return std::isnan(sum) ? sum : std::clamp(sum, min, max);
  }

  float largest(int64_t row, int64_t column, int64_t channel) const {
    float best = 0;
    bool any = false;
    window(row, column, channel, [&](float value, int64_t) {
      if (!any || value > best || std::isnan(value)) best = value;
      any = true;
    });
    return best;
  }

  float average(int64_t row, int64_t column, int64_t channel) const {
    float sum = 0;
    int64_t count = 0;
    window(row, column, channel, [&](float value, int64_t) { sum += value, ++count; });
    if (count_pads) {
      count = 0;
      for (int64_t i = 0; i < kernel_h * kernel_w; ++i) {
        count += y + row * stride_h + i / kernel_w * dilation_h < count_h &&
                 x + column * stride_w + i % kernel_w * dilation_w < count_w;
      }
    }
    return sum / static_cast<float>(std::max<int64_t>(1, count));
  }

  // The number of results that are not the bytes expected; any NaN is as good as another.
  int wrong(void (*run)(const ShortLaneRows&),
            float (Rows::*expected)(int64_t, int64_t, int64_t) const) {
    std::vector<float> weight_lanes(taps.size()), bias_lanes(biases.size());
    for (int64_t i = 0; i < static_cast<int64_t>(taps.size()); ++i) {
      weight_lanes[static_cast<size_t>(i / kPixel * kPixel + short_lane(i % kPixel))] =
          taps[static_cast<size_t>(i)];
    }
    for (int64_t i = 0; i < kPixel; ++i) {
      bias_lanes[static_cast<size_t>(short_lane(i))] = biases[static_cast<size_t>(i)];
    }
    ShortLaneRows r = *this;
    r.in = input.data(), r.out = output.data();
    if (residual) r.residual = added.data();
    r.weights = weight_lanes.data(), r.bias = bias_lanes.data();
    run(r);
    int count = 0;
    for (int64_t i = 0; i < static_cast<int64_t>(output.size()); ++i) {
      const float value = (this->*expected)(i / kPixel / out_w, i / kPixel % out_w, i % kPixel);
      const BF16 got = output[static_cast<size_t>(i)];
      count += std::isnan(value) ? !std::isnan(to_float(got)) : got.bits != to_bf16(value).bits;
    }
    return count;
  }
  int wrong(const ShortLaneSet& set) { return wrong(set.depthwise_rows, &Rows::convolved); }
};

struct Shape {
  int64_t kernel, stride, dilation, pad;
};
const Shape kShapes[] = {{3, 1, 1, 1}, {3, 2, 1, 1}, {5, 1, 1, 2}, {5, 2, 1, 2}, {3, 1, 1, 0},
                         {3, 2, 1, 0}, {5, 2, 1, 4}, {3, 3, 1, 1}, {3, 1, 2, 2}, {3, 2, 3, 3},
                         {2, 1, 1, 1}, {1, 1, 1, 0}, {7, 2, 1, 3}};

// test(rows) for every shape, width and number of rows, at the top, in the middle, over the end and
// with no input row at all.
template <typename Test>
void for_rows(const Test& test) {
  for (const Shape& s : kShapes) {
    for (const int64_t width : {1, 2, 5, 13, 24}) {
      for (int64_t count = 1; count <= kShortRows; ++count) {
        for (const int64_t y : {-s.pad, int64_t{1}, int64_t{9 - count}, int64_t{12}}) {
          Rows rows(11, width);
          rows.kernel_h = rows.kernel_w = s.kernel;
          rows.stride_h = rows.stride_w = s.stride;
          rows.dilation_h = rows.dilation_w = s.dilation;
          rows.x = -s.pad, rows.y = y;
          const int64_t reach = (s.kernel - 1) * s.dilation + 1;
          if (width + 2 * s.pad < reach) continue;
          rows.fill(count, (width + 2 * s.pad - reach) / s.stride + 1);
          SCOPED_TRACE(testing::Message()
                       << "kernel " << s.kernel << ", stride " << s.stride << ", dilation "
                       << s.dilation << ", pad " << s.pad << ", width " << width << ", " << count
                       << " rows at " << y);
          test(rows);
        }
      }
    }
  }
}

TEST(ShortLanes, DepthwiseRowsOfAnySizeAtAnyEdge) {
  for (const ShortLaneSet* set : present_short_sets()) {
    for_rows([&](Rows& rows) { EXPECT_EQ(rows.wrong(*set), 0); });
  }
}

TEST(ShortLanes, LargestOfAnyWindow) {
  for (const ShortLaneSet* set : present_short_sets()) {
    for_rows([&](Rows& rows) {
      EXPECT_EQ(rows.wrong(set->max_rows, &Rows::largest), 0);
      for (BF16& value : rows.input) value.bits &= 0x7fff;
      EXPECT_EQ(rows.wrong(set->max_rows, &Rows::largest), 0) << "without signs";
    });
  }
}

TEST(ShortLanes, LargestKeepsTheFirstZeroTheSmallestNumbersAndNaN) {
  const uint16_t values[] = {0x0000, 0x8000, 0x8001, 0x0001, 0x7f80, 0xff80,
                             0x7fc0, 0xffc0, 0x7f81, 0xff81, 0xbf80};
  for (const ShortLaneSet* set : present_short_sets()) {
    for (const size_t step : {1, 2, 3, 5, 7}) {
      for (const size_t kinds : {2, 4, 6, 11}) {  // zeros, small ones, infinities, NaN
        for (const int64_t dilation : {1, 2}) {
          Rows rows(9, 26);
          rows.kernel_h = rows.kernel_w = 3;
          rows.stride_h = rows.stride_w = 2;
          rows.dilation_h = rows.dilation_w = dilation;
          rows.x = rows.y = -1;
          rows.fill(4, 13);
          for (size_t i = 0; i < rows.input.size(); ++i) {
            rows.input[i].bits = values[(i * step + i / 7) % kinds];
          }
          EXPECT_EQ(rows.wrong(set->max_rows, &Rows::largest), 0) << step << " of " << kinds;
        }
      }
    }
  }
}

TEST(ShortLanes, AveragesCountPadsOnlyWhenAskedTo) {
  for (const ShortLaneSet* set : present_short_sets()) {
    for_rows([&](Rows& rows) {
      EXPECT_EQ(rows.wrong(set->average_rows, &Rows::average), 0);
      rows.count_pads = true;
      rows.count_h = rows.in_h + 1, rows.count_w = rows.in_w;
      EXPECT_EQ(rows.wrong(set->average_rows, &Rows::average), 0) << "with pads";
      rows.input[3] = BF16{0x7fc0};
      EXPECT_EQ(rows.wrong(set->average_rows, &Rows::average), 0) << "with NaN";
    });
  }
}

TEST(ShortLanes, KernelsThatAreNotSquareWalkTapByTap) {
  for (const ShortLaneSet* set : present_short_sets()) {
    Rows rows(9, 20);
    rows.kernel_h = 3, rows.kernel_w = 5;
    rows.stride_h = 2, rows.y = -1, rows.x = -2;
    rows.fill(4, 20);
    EXPECT_EQ(rows.wrong(*set), 0);
    Rows strides(9, 20);
    strides.kernel_h = strides.kernel_w = 3;
    strides.stride_h = 2, strides.y = -1, strides.x = -1;
    strides.fill(4, 20);
    EXPECT_EQ(strides.wrong(*set), 0);
  }
}

TEST(ShortLanes, ResidualThenClampAndNaNStays) {
  for (const ShortLaneSet* set : present_short_sets()) {
    for (const int64_t dilation : {1, 2}) {  // by columns, and tap by tap
      Rows rows(8, 21);
      rows.kernel_h = rows.kernel_w = 3;
      rows.dilation_h = rows.dilation_w = dilation;
      rows.x = rows.y = -1;
      rows.fill(4, 21 - 2 * (dilation - 1));
      const BF16 any{};
      rows.residual = &any;  // stands for `added`
      rows.min = -20, rows.max = 37;
      EXPECT_EQ(rows.wrong(*set), 0);
      for (const uint16_t nan : {0x7fc0, 0xffc0, 0x7f81}) {
        rows.input[static_cast<size_t>((2 * 21 + 9) * kPixel + 5)] = BF16{nan};
        rows.added[3] = BF16{nan};
        EXPECT_EQ(rows.wrong(*set), 0);
      }
      rows.input[0] = to_bf16(-kInf);
      rows.min = -kInf;
      EXPECT_EQ(rows.wrong(*set), 0);
    }
  }
}

TEST(ShortLanes, RoundsOnceToTheNearestEven) {
  for (const ShortLaneSet* set : present_short_sets()) {
    Rows rows(3, 9);
    rows.kernel_h = rows.kernel_w = 3;
    rows.fill(1, 7);
    std::fill(rows.taps.begin(), rows.taps.end(), 0x1p-8f);  // 257 / 256 and the like
    rows.taps[4 * kPixel] = 1;
    EXPECT_EQ(rows.wrong(*set), 0);
  }
}

}  // namespace
}  // namespace anynpu::ops
