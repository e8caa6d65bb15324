// SPDX-License-Identifier: Apache-2.0
#include "service/media/stitching.h"

#include "service/media/media_for_test.h"

namespace anynpu::media {
namespace {

class StitchingTest : public MediaTest {
 protected:
  // The left half from the first picture, the right half from both.
  StitchSpec halves(uint32_t width, uint32_t height) {
    std::vector<StitchEntry> entries;
    for (uint32_t y = 0; y < height; ++y)
      for (uint32_t x = 0; x < width; ++x) {
        const auto fx = static_cast<float>(x), fy = static_cast<float>(y);
        const bool left = x < width / 2;
        entries.push_back({0, 1, left ? 1.0f : 0.25f, left ? 0.0f : 0.75f, fx, fy, fx, fy});
      }
    const auto* bytes = reinterpret_cast<const uint8_t*>(entries.data());
    const size_t count = entries.size() * sizeof(StitchEntry);
    StitchSpec spec;
    spec.source_width = spec.target_width = width;
    spec.source_height = spec.target_height = height;
    spec.table = bytes_of({bytes, bytes + count});
    spec.table_bytes = static_cast<uint32_t>(count);
    return spec;
  }
};

TEST_F(StitchingTest, each_pixel_comes_from_two_pictures) {
  const PictureSpec from[] = {picture(pixel::kNv12, 32, 16, 40), picture(pixel::kNv12, 32, 16, 80)};
  const PictureSpec to = picture(pixel::kNv12, 32, 16, 0);
  VpcJob job;
  ASSERT_TRUE(add_stitching(job, halves(32, 16), from, to).ok());
  job.run();
  EXPECT_EQ(row(to, 3)[2], 40);
  EXPECT_EQ(row(to, 3)[20], 70);
  EXPECT_EQ(row(to, 16)[1], 40) << "chroma";
  EXPECT_EQ(row(to, 17)[30], 70);
}

TEST_F(StitchingTest, gains_change_the_pictures_first) {
  const PictureSpec from[] = {picture(pixel::kNv12, 32, 16, 40), picture(pixel::kNv12, 32, 16, 80)};
  const PictureSpec to = picture(pixel::kNv12, 32, 16, 0);
  StitchSpec spec = halves(32, 16);
  spec.gains = [](std::span<const StitchGain> pictures) {
    EXPECT_EQ(pictures.size(), 2u);
    EXPECT_EQ(pictures[1].histogram->count[0][80], 32u * 16);
    pictures[0].lookup->value[0][40] = 100;
    return 0;
  };
  VpcJob job;
  ASSERT_TRUE(add_stitching(job, spec, from, to).ok());
  job.run();
  EXPECT_EQ(row(to, 3)[2], 100);
}

TEST_F(StitchingTest, sizes_and_tables_that_do_not_fit_are_refused) {
  StitchSpec spec = halves(32, 16);
  EXPECT_TRUE(check_stitching(spec).ok());
  spec.table_bytes -= 1;
  EXPECT_EQ(check_stitching(spec).code(), Code::invalid_argument);
  const PictureSpec from[] = {picture(pixel::kNv12, 16, 16, 40)};
  const PictureSpec to = picture(pixel::kNv12, 32, 16, 0);
  VpcJob job;
  EXPECT_EQ(add_stitching(job, halves(32, 16), from, to).code(), Code::invalid_argument);
  EXPECT_EQ(add_stitching(job, halves(32, 16), {}, to).code(), Code::invalid_argument);
}

}  // namespace
}  // namespace anynpu::media
