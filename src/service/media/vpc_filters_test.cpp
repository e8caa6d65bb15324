// SPDX-License-Identifier: Apache-2.0
#include "service/media/vpc_filters.h"

#include <cmath>

#include "service/media/vpc_for_test.h"

namespace anynpu::media {
namespace {

using VpcFiltersTest = VpcWorkTest;

TEST_F(VpcFiltersTest, blurs_keep_what_is_even_and_check_their_kernels) {
  row(pair.from, 8)[16] = 59;
  ASSERT_TRUE(run([&](VpcJob& job) { return add_blur(job, pair, {3, 3, -1, -1}, {}); }).ok());
  EXPECT_EQ(row(pair.to, 8)[16], 51);
  EXPECT_EQ(row(pair.to, 8)[18], 50);
  for (const KernelSpec& kernel :
       {KernelSpec{0, 3, -1, -1}, {3, 32, -1, -1}, {3, 3, 3, 0}, {3, 3, 0, -2}})
    EXPECT_EQ(code_of([&](VpcJob& job) { return add_blur(job, pair, kernel, {}); }),
              Code::invalid_argument);
  EXPECT_EQ(code_of([&](VpcJob& job) {
              return add_gaussian_blur(job, pair, {{4, 3, -1, -1}, 1, 1, {}});
            }),
            Code::invalid_argument);
  EXPECT_EQ(code_of([&](VpcJob& job) {
              return add_gaussian_blur(job, pair, {{3, 3, -1, -1}, NAN, 1, {}});
            }),
            Code::invalid_argument);
}

TEST_F(VpcFiltersTest, a_median_forgets_a_single_pixel_and_dilation_spreads_it) {
  row(pair.from, 8)[16] = 200;
  ASSERT_TRUE(run([&](VpcJob& job) { return add_median_blur(job, pair, 3); }).ok());
  EXPECT_EQ(row(pair.to, 8)[16], 50);
  for (const uint32_t side : {1u, 4u, 33u})
    EXPECT_EQ(code_of([&](VpcJob& job) { return add_median_blur(job, pair, side); }),
              Code::invalid_argument);
  const MorphSpec cross{{3, 3, -1, -1}, static_cast<int32_t>(MorphShape::cross), 2, {}};
  ASSERT_TRUE(
      run([&](VpcJob& job) { return add_morph(job, pair, cross, pixel::Rank::most); }).ok());
  EXPECT_EQ(row(pair.to, 8)[18], 200) << "two steps away";
  EXPECT_EQ(row(pair.to, 6)[18], 50) << "two steps away in both directions";
  MorphSpec bad = cross;
  bad.shape = 3;
  EXPECT_EQ(code_of([&](VpcJob& job) { return add_morph(job, pair, bad, pixel::Rank::most); }),
            Code::invalid_argument);
  bad = cross;
  bad.iterations = 101;
  EXPECT_EQ(code_of([&](VpcJob& job) { return add_morph(job, pair, bad, pixel::Rank::most); }),
            Code::invalid_argument);
}

TEST_F(VpcFiltersTest, filters_take_the_weights_of_the_program) {
  FilterSpec filter;
  filter.kernel = {1, 1, -1, -1};
  filter.weights[0][0] = 2;
  filter.delta = 3;
  ASSERT_TRUE(run([&](VpcJob& job) { return add_filter(job, pair, filter); }).ok());
  EXPECT_EQ(row(pair.to, 0)[0], 103);
  filter.kernel.width = 6;
  EXPECT_EQ(code_of([&](VpcJob& job) { return add_filter(job, pair, filter); }),
            Code::invalid_argument);
}

TEST_F(VpcFiltersTest, mirrors_and_turns_check_modes_and_sizes) {
  row(pair.from, 0)[0] = 9;
  ASSERT_TRUE(run([&](VpcJob& job) { return add_flip(job, pair, 0); }).ok());
  EXPECT_EQ(row(pair.to, 0)[31], 9);
  EXPECT_EQ(code_of([&](VpcJob& job) { return add_flip(job, pair, 3); }), Code::invalid_argument);
  EXPECT_EQ(code_of([&](VpcJob& job) { return add_rotation(job, pair, 3); }),
            Code::invalid_argument);
  EXPECT_EQ(code_of([&](VpcJob& job) { return add_rotation(job, pair, 0); }),
            Code::invalid_argument)
      << "a picture of 32x16 turned by 90 degrees is not 32x16";
  ASSERT_TRUE(run([&](VpcJob& job) { return add_rotation(job, pair, 1); }).ok());
  EXPECT_EQ(row(pair.to, 15)[31], 9);
  const PicturePair half_chroma{picture(pixel::kYuv422sp, 32, 32, 0),
                                picture(pixel::kYuv422sp, 32, 32, 0)};
  EXPECT_EQ(code_of([&](VpcJob& job) { return add_rotation(job, half_chroma, 0); }),
            Code::invalid_argument);
}

}  // namespace
}  // namespace anynpu::media
