// SPDX-License-Identifier: Apache-2.0
#include "import/ge/chip_formats.h"

#include <gmock/gmock.h>

#include <cstring>
#include <numeric>

namespace anynpu::ge {
namespace {

using testing::HasSubstr;

std::vector<float> ramp(size_t count) {
  std::vector<float> out(count);
  std::iota(out.begin(), out.end(), 0.0f);
  return out;
}

TensorDef blocked(Format format, Shape shape, Shape origin, Format origin_format,
                  const std::vector<float>& values) {
  TensorDef tensor;
  tensor.dtype = DType::f32;
  tensor.format = format;
  tensor.layout = name_of(format);
  tensor.shape = std::move(shape);
  tensor.has_shape = true;
  tensor.origin_shape = std::move(origin);
  tensor.origin_format = origin_format;
  tensor.data = std::as_bytes(std::span(values));
  return tensor;
}

std::vector<float> numbers(const PlainConstant& constant) {
  std::vector<float> out(constant.data.bytes.size() / sizeof(float));
  std::memcpy(out.data(), constant.data.bytes.data(), constant.data.bytes.size());
  return out;
}

TEST(ChipFormatsTest, pictures_come_out_of_blocks_of_channels) {
  // One picture of 1 x 2 with 3 channels, padded to 16.
  const std::vector<float> stored = ramp(2 * 16);
  const auto plain = constant_of(
      blocked(Format::nc1hwc0, {1, 1, 1, 2, 16}, {1, 3, 1, 2}, Format::nchw, stored), nullptr, {});
  ASSERT_TRUE(plain.ok()) << plain.status().to_string();
  EXPECT_EQ(plain->shape, (Shape{1, 3, 1, 2}));
  EXPECT_EQ(numbers(*plain), (std::vector<float>{0, 16, 1, 17, 2, 18}));
}

TEST(ChipFormatsTest, filters_come_out_in_the_order_of_their_source) {
  // 2 filters of 1 x 1 with 2 channels: element (n, c) lies at n * 16 + c.
  const std::vector<float> stored = ramp(16 * 16);
  const auto nchw = constant_of(
      blocked(Format::fractal_z, {1, 1, 16, 16}, {2, 2, 1, 1}, Format::nchw, stored), nullptr, {});
  ASSERT_TRUE(nchw.ok()) << nchw.status().to_string();
  EXPECT_EQ(numbers(*nchw), (std::vector<float>{0, 1, 16, 17}));
  const auto hwcn = constant_of(
      blocked(Format::fractal_z, {1, 1, 16, 16}, {1, 1, 2, 2}, Format::hwcn, stored), nullptr, {});
  ASSERT_TRUE(hwcn.ok()) << hwcn.status().to_string();
  EXPECT_EQ(numbers(*hwcn), (std::vector<float>{0, 16, 1, 17}));
}

TEST(ChipFormatsTest, matrices_come_out_of_blocks) {
  // 17 x 2: the second block of rows holds the last row.
  const std::vector<float> stored = ramp(2 * 16 * 16);
  const auto plain = constant_of(
      blocked(Format::fractal_nz, {1, 2, 16, 16}, {17, 2}, Format::nd, stored), nullptr, {});
  ASSERT_TRUE(plain.ok()) << plain.status().to_string();
  const auto values = numbers(*plain);
  EXPECT_EQ(values[2], 16);
  EXPECT_EQ(values[16 * 2 + 1], 257);
}

TEST(ChipFormatsTest, data_may_lie_in_the_part_of_weights) {
  const std::vector<float> weights = ramp(8);
  Source source{nullptr, std::as_bytes(std::span(weights))};
  TensorDef tensor = blocked(Format::nd, {2}, {2}, Format::nd, {});
  tensor.data_offset = 12;
  tensor.weight_size = 8;
  EXPECT_EQ(numbers(*constant_of(tensor, nullptr, source)), (std::vector<float>{3, 4}));
  tensor.data_offset = 28;
  EXPECT_EQ(constant_of(tensor, nullptr, source).status().code(), Code::corrupt_model);
  tensor.data_offset = -1;
  EXPECT_EQ(constant_of(tensor, nullptr, source).status().code(), Code::corrupt_model);
}

TEST(ChipFormatsTest, formats_without_a_source_shape_are_refused_by_name) {
  const std::vector<float> stored = ramp(16 * 16);
  EXPECT_THAT(constant_of(blocked(Format::fractal_z, {1, 1, 16, 16}, {1, 1, 16, 16},
                                  Format::fractal_z, stored),
                          nullptr, {})
                  .status()
                  .message(),
              HasSubstr("FRACTAL_Z and the file does not say which shape it had"));
  EXPECT_EQ(
      constant_of(blocked(Format::nc1hwc0, {1, 1, 1, 2, 16}, {9, 300, 1, 2}, Format::nchw, stored),
                  nullptr, {})
          .status()
          .code(),
      Code::corrupt_model);
}

}  // namespace
}  // namespace anynpu::ge
