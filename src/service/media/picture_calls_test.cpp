// SPDX-License-Identifier: Apache-2.0
#include "service/media/picture_calls.h"

#include "service/media/picture_calls_for_test.h"

namespace anynpu::media {
namespace {

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

}  // namespace
}  // namespace anynpu::media
