// SPDX-License-Identifier: Apache-2.0
#include "pixel/format.h"

namespace anynpu::pixel {
namespace {

using enum Packing;
constexpr Family kYuv = Family::yuv;
constexpr Family kRgb = Family::rgb;
constexpr uint8_t kNone = 0xff;

constexpr Format kFormats[] = {
    {0, "YUV400", Family::grey, semiplanar, 0, 0, 1, {0, kNone, kNone, kNone}},
    {1, "YUV420SP (NV12)", kYuv, semiplanar, 1, 1, 1, {0, 0, 1, kNone}},
    {2, "YVU420SP (NV21)", kYuv, semiplanar, 1, 1, 1, {0, 1, 0, kNone}},
    {3, "YUV422SP", kYuv, semiplanar, 1, 0, 1, {0, 0, 1, kNone}},
    {4, "YVU422SP", kYuv, semiplanar, 1, 0, 1, {0, 1, 0, kNone}},
    {5, "YUV444SP", kYuv, semiplanar, 0, 0, 1, {0, 0, 1, kNone}},
    {6, "YVU444SP", kYuv, semiplanar, 0, 0, 1, {0, 1, 0, kNone}},
    {7, "YUYV packed 4:2:2", kYuv, packed_422, 1, 0, 2, {0, 1, 3, kNone}},
    {8, "UYVY packed 4:2:2", kYuv, packed_422, 1, 0, 2, {1, 0, 2, kNone}},
    {9, "YVYU packed 4:2:2", kYuv, packed_422, 1, 0, 2, {0, 3, 1, kNone}},
    {10, "VYUY packed 4:2:2", kYuv, packed_422, 1, 0, 2, {1, 2, 0, kNone}},
    {11, "YUV packed 4:4:4", kYuv, packed, 0, 0, 3, {0, 1, 2, kNone}},
    {12, "RGB888", kRgb, packed, 0, 0, 3, {0, 1, 2, kNone}},
    {13, "BGR888", kRgb, packed, 0, 0, 3, {2, 1, 0, kNone}},
    {14, "ARGB8888", kRgb, packed, 0, 0, 4, {1, 2, 3, 0}},
    {15, "ABGR8888", kRgb, packed, 0, 0, 4, {3, 2, 1, 0}},
    {16, "RGBA8888", kRgb, packed, 0, 0, 4, {0, 1, 2, 3}},
    {17, "BGRA8888", kRgb, packed, 0, 0, 4, {2, 1, 0, 3}},
    {69, "RGB888 planar", kRgb, planar, 0, 0, 1, {0, 1, 2, kNone}},
    {70, "BGR888 planar", kRgb, planar, 0, 0, 1, {2, 1, 0, kNone}},
    {1000, "YUV440SP", kYuv, semiplanar, 0, 1, 1, {0, 0, 1, kNone}},
    {1001, "YVU440SP", kYuv, semiplanar, 0, 1, 1, {0, 1, 0, kNone}},
};

}  // namespace

std::span<const Format> formats() { return kFormats; }

const Format* find_format(int32_t number) {
  for (const Format& format : kFormats) {
    if (format.number == number) return &format;
  }
  return nullptr;
}

}  // namespace anynpu::pixel
