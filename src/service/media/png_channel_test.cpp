// SPDX-License-Identifier: Apache-2.0
#ifdef ANYNPU_HAS_IMAGE
#include "service/media/png_channel.h"

#include "service/media/image_file.h"
#include "service/media/media_for_test.h"
#include "service/media/png_for_test.h"

namespace anynpu::media {
namespace {

class PngChannelTest : public MediaTest {
 protected:
  ImageFile file(const std::vector<uint8_t>& content) {
    return {bytes_of(content), static_cast<uint32_t>(content.size()), {}};
  }
  PictureSpec output() {
    PictureSpec spec;
    spec.bytes = 8192;
    spec.data = bytes_of(std::vector<uint8_t>(spec.bytes));
    spec.format = pixel::kUnknown;
    return spec;
  }
};

TEST_F(PngChannelTest, files_come_back_as_pictures_in_order) {
  const auto channel = drained_at_end(*PngChannel::open(0));
  ImageFile first = file(kPng);
  first.record = Record(3, std::byte{7});
  ASSERT_TRUE(channel->send(first, output(), -1).ok());
  ASSERT_TRUE(channel->send(file({1, 2, 3}), output(), -1).ok());
  const auto good = channel->fetch(-1);
  ASSERT_TRUE(good.ok());
  EXPECT_TRUE(good->status.ok()) << good->status.message();
  EXPECT_EQ(good->spec.width, 4u);
  EXPECT_EQ(good->spec.height, 2u);
  EXPECT_EQ(good->spec.format, pixel::kRgb888);
  EXPECT_EQ(row(good->spec, 1)[4], 20);
  EXPECT_EQ(good->file.record, first.record);
  const auto bad = channel->fetch(-1);
  ASSERT_TRUE(bad.ok()) << "it comes, with what went wrong";
  EXPECT_FALSE(bad->status.ok());
  channel->drain();
}

TEST_F(PngChannelTest, nothing_to_fetch_and_a_full_queue_are_told_apart) {
  const auto channel = drained_at_end(*PngChannel::open(1));
  EXPECT_EQ(channel->fetch(0).status().code(), Code::not_complete);
  EXPECT_EQ(channel->fetch(-2).status().code(), Code::invalid_argument);
  ASSERT_TRUE(channel->send(file(kPng), output(), 0).ok());
  EXPECT_EQ(channel->send(file(kPng), output(), 0).code(), Code::limit_exceeded);
  ASSERT_TRUE(channel->fetch(-1).ok());
  EXPECT_TRUE(channel->send(file(kPng), output(), 0).ok());
  channel->drain();
}

TEST_F(PngChannelTest, memory_that_is_not_there_is_refused_at_once) {
  const auto channel = drained_at_end(*PngChannel::open(0));
  EXPECT_FALSE(channel->send({nullptr, 10, {}}, output(), 0).ok());
  PictureSpec nowhere = output();
  nowhere.data = nullptr;
  EXPECT_FALSE(channel->send(file(kPng), nowhere, 0).ok());
}

TEST_F(PngChannelTest, a_file_tells_its_picture_before_it_is_decoded) {
  const auto* data = bytes_of(kPng);
  const auto found = describe_image(ImageType::png, data, kPng.size());
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found->picture.width, 4u);
  EXPECT_EQ(found->picture.format, pixel::kRgb888);
  EXPECT_EQ(found->color_type, 2);
  EXPECT_EQ(found->picture.bytes, found->picture.width_stride * found->picture.height_stride);
  EXPECT_FALSE(describe_image(ImageType::jpeg, data, kPng.size()).ok());
}

}  // namespace
}  // namespace anynpu::media
#endif
