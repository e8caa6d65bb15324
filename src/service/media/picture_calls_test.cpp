// SPDX-License-Identifier: Apache-2.0
#ifdef ANYNPU_HAS_IMAGE
#include "service/media/picture_calls.h"

#include "service/media/image_calls.h"
#include "service/media/media_for_test.h"

namespace anynpu::media {
namespace {

template <typename T>
Handle handle_of(const T& object) {
  return *insert_handle(std::make_shared<T>(object));
}

// A channel, and pictures by handle.
class PictureCallsTest : public MediaTest {
 protected:
  void SetUp() override {
    MediaTest::SetUp();
    desc = std::make_shared<ChannelDesc>();
    ASSERT_TRUE(open_picture_channel(*desc).ok());
    call.channel = *insert_handle(desc);
  }
  void TearDown() override {
    if (desc->channel->is_open()) {
      EXPECT_TRUE(desc->channel->close().ok());
    }
    desc.reset();
    MediaTest::TearDown();
  }
  static Handle described(const PictureSpec& spec) {
    PictureDesc picture;
    static_cast<PictureSpec&>(picture) = spec;
    return handle_of(picture);
  }
  // Waits for the default stream.
  static Status finish() {
    ANYNPU_ASSIGN(auto stream, device::Runtime::instance().stream(0));
    return stream->synchronize();
  }
  Status run(const Status& queued) { return queued.ok() ? finish() : queued; }

  std::shared_ptr<ChannelDesc> desc;
  PictureCall call;
};

TEST_F(PictureCallsTest, a_picture_is_cropped_scaled_and_pasted) {
  const PictureSpec to = picture(pixel::kNv12, 64, 48, 0);
  call.input = described(picture(pixel::kNv12, 64, 48, 90));
  call.output = described(to);
  TransformObjects objects;
  objects.crop = *create_region({0, 31, 0, 31});
  objects.paste = *create_region({16, 31, 16, 31});
  ASSERT_TRUE(run(transform_picture(call, objects)).ok());
  EXPECT_EQ(row(to, 16)[16], 90);
  EXPECT_EQ(row(to, 15)[16], 0);
  objects.crop = 0;
  EXPECT_EQ(transform_picture(call, objects).code(), Code::invalid_handle)
      << "a call that has a region needs it";
  call.output = 0;
  EXPECT_EQ(transform_picture(call, {}).code(), Code::invalid_handle);
}

TEST_F(PictureCallsTest, a_channel_is_opened_once_and_used_in_its_modes) {
  call.input = described(picture(pixel::kNv12, 64, 48, 90));
  call.output = described(picture(pixel::kNv12, 64, 48, 0));
  EXPECT_EQ(open_picture_channel(*desc).code(), Code::already_exists);
  EXPECT_EQ(desc->set_mode(0).code(), Code::invalid_argument);
  EXPECT_EQ(desc->set_mode(16).code(), Code::invalid_argument);
  ASSERT_TRUE(desc->set_mode(kModeJpegd).ok());
  EXPECT_EQ(transform_picture(call, {}).code(), Code::invalid_argument);
  ASSERT_TRUE(desc->set_mode(kModeVpc).ok());
  EXPECT_TRUE(run(transform_picture(call, {})).ok());
  const uint64_t id = desc->id;
  ASSERT_TRUE(desc->channel->close().ok());
  EXPECT_EQ(transform_picture(call, {}).code(), Code::bad_call_order);
  ASSERT_TRUE(open_picture_channel(*desc).ok());
  EXPECT_GT(desc->id, id);
}

TEST_F(PictureCallsTest, borders_conversions_tables_and_halves) {
  const PictureSpec from = picture(pixel::kYuv400, 32, 32, 90);
  call.input = described(from);
  const PictureSpec framed = picture(pixel::kYuv400, 36, 34, 0);
  call.output = described(framed);
  BorderConfig border;
  border.left = border.right = 2;
  border.top = border.bottom = 1;
  border.value[0] = 5;
  ASSERT_TRUE(run(add_picture_border(call, handle_of(border))).ok());
  EXPECT_EQ(row(framed, 0)[0], 5);
  EXPECT_EQ(row(framed, 1)[2], 90);
  border.left = 3;
  EXPECT_EQ(add_picture_border(call, handle_of(border)).code(), Code::invalid_argument);
  EXPECT_EQ(convert_picture(call).code(), Code::invalid_argument) << "sizes differ";
  EXPECT_EQ(halve_picture(call).code(), Code::invalid_argument);
  const PictureSpec half = picture(pixel::kYuv400, 16, 16, 0);
  call.output = described(half);
  ASSERT_TRUE(run(halve_picture(call)).ok());
  EXPECT_EQ(row(half, 8)[8], 90);
  const PictureSpec same = picture(pixel::kYuv400, 32, 32, 0);
  call.output = described(same);
  LookupTable table;
  table.table.value[0][90] = 33;
  ASSERT_TRUE(run(look_up_picture(call, handle_of(table))).ok());
  EXPECT_EQ(row(same, 3)[3], 33);
  const auto histogram = std::make_shared<HistogramObject>();
  ASSERT_TRUE(run(count_picture_values(call, *insert_handle(histogram))).ok());
  EXPECT_EQ(histogram->values.count[0][90], 32u * 32);
}

TEST_F(PictureCallsTest, a_batch_takes_as_many_regions_as_it_has_outputs) {
  const Handle input = *create_batch(2), output = *create_batch(3);
  const auto set = [](Handle batch, uint32_t i, const PictureSpec& spec) {
    auto pin = resolve<PictureDesc>(*picture_of_batch(batch, i));
    static_cast<PictureSpec&>(**pin) = spec;
  };
  for (uint32_t i = 0; i < 2; ++i)
    set(input, i, picture(pixel::kNv12, 32, 32, static_cast<uint8_t>(50 + i)));
  std::vector<PictureSpec> outputs;
  for (uint32_t i = 0; i < 3; ++i) {
    outputs.push_back(picture(pixel::kNv12, 16, 16, 0));
    set(output, i, outputs.back());
  }
  const Handle region = *create_region({0, 15, 0, 15});
  const uint32_t counts[] = {1, 2};
  BatchCall batch{call.channel, 0, input, output, counts, 2, [&](uint32_t) { return region; }};
  ASSERT_TRUE(run(transform_batch(batch, {})).ok());
  EXPECT_EQ(row(outputs[0], 0)[0], 50);
  EXPECT_EQ(row(outputs[1], 0)[0], 51);
  EXPECT_EQ(row(outputs[2], 0)[0], 51);
  batch.size = 1;
  EXPECT_EQ(transform_batch(batch, {}).code(), Code::invalid_argument);
  batch.size = 2;
  const uint32_t few[] = {1, 1};
  batch.counts = few;
  EXPECT_EQ(transform_batch(batch, {}).code(), Code::invalid_argument);
  batch.counts = nullptr;
  EXPECT_EQ(transform_batch(batch, {}).code(), Code::invalid_argument);
  batch.counts = counts;
  batch.crops = nullptr;
  EXPECT_EQ(transform_batch(batch, {}).code(), Code::invalid_argument);
  batch.crops = [&](uint32_t) { return region; };
  EXPECT_EQ(transform_batch(batch, {HandleList(), {}, {}}).code(), Code::invalid_argument);
}

TEST_F(PictureCallsTest, a_jpeg_file_is_written_and_read_back) {
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

TEST_F(PictureCallsTest, files_without_bytes_and_outputs_without_room_are_refused) {
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

}  // namespace
}  // namespace anynpu::media
#endif
