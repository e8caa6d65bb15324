// SPDX-License-Identifier: Apache-2.0
#ifdef ANYNPU_HAS_IMAGE
#include "service/media/image_calls.h"

#include "service/media/picture_calls_for_test.h"

namespace anynpu::media {
namespace {

using ImageCallsTest = PictureCallsTest;

TEST_F(ImageCallsTest, a_jpeg_file_is_written_and_read_back) {
  const PictureSpec from = picture(pixel::kNv12, 64, 48, 128);
  const Handle config = handle_of(JpegConfig());
  const auto room = predict_jpeg_bytes(described(from), config);
  ASSERT_TRUE(room.ok());
  auto* file = bytes_of(std::vector<uint8_t>(*room));
  uint32_t size = *room;
  ASSERT_TRUE(run(encode_jpeg_image(call.channel, described(from), file, &size, config, 0)).ok());
  ASSERT_LT(size, *room);
  const auto info = read_jpeg_info(file, size);
  ASSERT_TRUE(info.ok());
  EXPECT_EQ(info->width, 64u);
  EXPECT_EQ(info->sampling, JpegSampling::s420);
  const auto bytes = predict_decoded_bytes(ImageType::jpeg, file, size, pixel::kNv12);
  ASSERT_TRUE(bytes.ok());
  EXPECT_EQ(*bytes, 128u * 48 * 3 / 2);
  const auto output = std::make_shared<PictureDesc>();
  output->bytes = *bytes;
  output->data = bytes_of(std::vector<uint8_t>(*bytes));
  output->format = pixel::kNv12;
  const Handle handle = *insert_handle(output);
  ASSERT_TRUE(run(decode_image(ImageType::jpeg, call.channel, file, size, handle, 0)).ok());
  EXPECT_EQ(output->ret_code, 0u);
  EXPECT_EQ(output->width_stride, 128u);
  EXPECT_NEAR(row(*output, 10)[10], 128, 1);
  EXPECT_FALSE(run(decode_image(ImageType::png, call.channel, file, size, handle, 0)).ok());
}

TEST_F(ImageCallsTest, files_without_bytes_and_outputs_without_room_are_refused) {
  const PictureSpec from = picture(pixel::kNv12, 64, 48, 128);
  const Handle input = described(from), config = handle_of(JpegConfig());
  uint32_t size = 0;
  EXPECT_EQ(encode_jpeg_image(call.channel, input, from.data, &size, config, 0).code(),
            Code::invalid_argument);
  EXPECT_EQ(read_jpeg_info(nullptr, 10).status().code(), Code::invalid_argument);
  EXPECT_EQ(read_png_info(from.data, 0).status().code(), Code::invalid_argument);
  EXPECT_EQ(decode_image(ImageType::jpeg, call.channel, from.data, 0, input, 0).code(),
            Code::invalid_argument);
  EXPECT_EQ(decode_image(ImageType::jpeg, call.channel, from.data, 10, 0, 0).code(),
            Code::invalid_handle);
  EXPECT_EQ(predict_jpeg_bytes(input, 0).status().code(), Code::invalid_handle);
}

TEST_F(ImageCallsTest, a_file_is_read_when_the_stream_comes_to_it) {
  const PictureSpec from = picture(pixel::kNv12, 64, 48, 128);
  const Handle config = handle_of(JpegConfig());
  const uint32_t room = predict_jpeg_bytes(described(from), config).value();
  auto* file = bytes_of(std::vector<uint8_t>(room));
  uint32_t size = room;
  // Encoded and decoded by two tasks of one stream, without a wait between them.
  ASSERT_TRUE(encode_jpeg_image(call.channel, described(from), file, &size, config, 0).ok());
  const auto output = std::make_shared<PictureDesc>();
  output->bytes = 128 * 48 * 3 / 2;
  output->data = bytes_of(std::vector<uint8_t>(output->bytes));
  output->format = pixel::kNv12;
  const Handle handle = *insert_handle(output);
  ASSERT_TRUE(run(decode_image(ImageType::jpeg, call.channel, file, room, handle, 0)).ok());
  EXPECT_EQ(output->ret_code, 0u);
  EXPECT_EQ(output->width, 64u) << "what the program left open";
  EXPECT_NEAR(row(*output, 10)[10], 128, 1);
}

TEST_F(ImageCallsTest, a_file_that_is_none_fails_when_its_turn_comes) {
  auto* file = bytes_of(std::vector<uint8_t>(100, 7));
  const Handle output = described(picture(pixel::kNv12, 64, 48, 0));
  ASSERT_TRUE(decode_image(ImageType::jpeg, call.channel, file, 100, output, 0).ok());
  EXPECT_FALSE(finish().ok());
  EXPECT_NE((*resolve<PictureDesc>(output))->ret_code, 0u);
}

}  // namespace
}  // namespace anynpu::media
#endif
