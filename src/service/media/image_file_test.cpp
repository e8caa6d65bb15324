// SPDX-License-Identifier: Apache-2.0
#ifdef ANYNPU_HAS_IMAGE
#include "service/media/image_file.h"

#include "media/image.h"
#include "service/media/media_for_test.h"
#include "service/media/png_for_test.h"

namespace anynpu::media {
namespace {

// A JPEG file of 64x48 pixels, 4:2:0.
std::vector<uint8_t> jpeg_file() {
  const pixel::OwnPicture source(*pixel::find_format(pixel::kNv12), 64, 48);
  std::vector<uint8_t> file(65536);
  file.resize(*encode_jpeg(source.view(), 100, {}, file));
  return file;
}

TEST(ImageFileTest, a_jpeg_file_has_the_layout_that_fits_it) {
  const auto file = jpeg_file();
  const auto found = describe_image(ImageType::jpeg, file.data(), file.size());
  ASSERT_TRUE(found.ok()) << found.status().to_string();
  EXPECT_EQ(found->sampling, JpegSampling::s420);
  EXPECT_EQ(found->picture.width, 64u);
  EXPECT_EQ(found->picture.height, 48u);
  EXPECT_EQ(found->picture.width_stride, 128u) << "as the decoder chooses it";
  EXPECT_EQ(found->picture.bytes,
            found->picture.width_stride * found->picture.height_stride * 3 / 2);
}

TEST(ImageFileTest, a_png_file_says_its_colours) {
  const auto found = describe_image(ImageType::png, kPng.data(), kPng.size());
  ASSERT_TRUE(found.ok()) << found.status().to_string();
  EXPECT_EQ(found->color_type, 2) << "RGB";
  EXPECT_EQ(found->picture.format, pixel::kRgb888);
  EXPECT_EQ(found->picture.width, 4u);
  EXPECT_EQ(found->picture.height, 2u);
}

TEST(ImageFileTest, the_layout_of_the_output_may_be_chosen) {
  const auto file = jpeg_file();
  const auto found = describe_image(ImageType::jpeg, file.data(), file.size(), pixel::kRgb888);
  ASSERT_TRUE(found.ok()) << found.status().to_string();
  EXPECT_EQ(found->picture.format, pixel::kRgb888);
  EXPECT_EQ(found->picture.bytes, found->picture.width_stride * found->picture.height_stride);
  EXPECT_FALSE(describe_image(ImageType::jpeg, file.data(), file.size(), 999).ok());
}

TEST(ImageFileTest, what_is_no_file_of_its_type_is_refused) {
  const auto jpeg = jpeg_file();
  EXPECT_FALSE(describe_image(ImageType::png, jpeg.data(), jpeg.size()).ok());
  EXPECT_FALSE(describe_image(ImageType::jpeg, jpeg.data(), 3).ok());
  EXPECT_FALSE(describe_image(ImageType::jpeg, nullptr, 100).ok());
  EXPECT_FALSE(describe_image(ImageType::jpeg, kPng.data(), kPng.size()).ok());
  EXPECT_FALSE(describe_image(ImageType::png, kPng.data(), 20).ok());
}

}  // namespace
}  // namespace anynpu::media
#endif
