// SPDX-License-Identifier: Apache-2.0
#if defined(ANYNPU_HAS_VIDEO) && defined(ANYNPU_HAS_IMAGE)
#include "service/media/venc_channel.h"

#include "service/media/venc_for_test.h"

namespace anynpu::media {
namespace {

TEST_F(VencChannelTest, calls_in_the_wrong_order_are_refused) {
  const auto channel = open(video_attr());
  EXPECT_EQ(channel->send(frame(), 0).code(), Code::bad_call_order) << "not started";
  EXPECT_EQ(channel->start(0).code(), Code::invalid_argument);
  EXPECT_EQ(channel->start(-2).code(), Code::invalid_argument);
  ASSERT_TRUE(channel->start(1).ok());
  ASSERT_TRUE(channel->send(frame(), -1).ok());
  EXPECT_EQ(channel->send(frame(), -1).code(), Code::bad_call_order) << "one picture was announced";
  EXPECT_EQ(channel->compact_tables().code(), Code::bad_call_order);
  EXPECT_TRUE(channel->stop().ok());
  EXPECT_TRUE(channel->stop().ok()) << "again";
  channel->drain();
  EXPECT_TRUE(channel->status().all_encoded);
}

TEST_F(VencChannelTest, frames_of_another_size_or_layout_are_refused) {
  const auto channel = open(video_attr());
  ASSERT_TRUE(channel->start(-1).ok());
  VencFrame other = frame();
  other.spec.width = 32;
  EXPECT_EQ(channel->send(other, 0).code(), Code::invalid_argument);
  other = frame();
  other.spec.format = pixel::kRgb888;
  EXPECT_EQ(channel->send(other, 0).code(), Code::invalid_argument);
  other = frame();
  other.spec.width_stride = 32;
  EXPECT_EQ(channel->send(other, 0).code(), Code::invalid_argument);
}

TEST_F(VencChannelTest, channels_that_cannot_be_are_refused) {
  const auto code_of = [](const VencAttr& attr) {
    return VencChannel::open(attr, {}, "").status().code();
  };
  VencAttr attr = video_attr();
  attr.codec = CodecType::other;
  EXPECT_EQ(code_of(attr), Code::invalid_argument);
  attr = video_attr();
  attr.width = 15;
  EXPECT_EQ(code_of(attr), Code::invalid_argument);
  attr.width = 8193;
  EXPECT_EQ(code_of(attr), Code::invalid_argument);
  attr = video_attr();
  attr.rate.gop = 0;
  EXPECT_EQ(code_of(attr), Code::invalid_argument);
}

TEST_F(VencChannelTest, a_full_output_buffer_is_waited_for) {
  VencAttr attr = jpeg_attr(1);  // one picture fills it
  const auto channel = open(attr);
  ASSERT_TRUE(channel->start(-1).ok());
  ASSERT_TRUE(channel->send(frame(), -1).ok());
  channel->drain();
  EXPECT_EQ(channel->send(frame(), 0).code(), Code::limit_exceeded);
  const auto packet = channel->fetch(1, 0);
  ASSERT_TRUE(packet.ok());
  ASSERT_TRUE(channel->release(packet->packs[0].data).ok());
  EXPECT_TRUE(channel->send(frame(), 0).ok());
  channel->drain();
}

TEST_F(VencChannelTest, settings_are_given_back_and_refused_ones_change_nothing) {
  const auto channel = open(video_attr());
  EXPECT_EQ(*channel->record(VencGroup::attr), Record(1, std::byte{9}));
  EXPECT_TRUE(channel->record(VencGroup::channel)->empty());
  const Record written(2, std::byte{1});
  ASSERT_TRUE(channel
                  ->change({VencGroup::slices, 0,
                            [](VencSettings& s) {
                              s.slices = {true, 1};
                            },
                            written, ""})
                  .ok());
  EXPECT_EQ(*channel->record(VencGroup::slices), written);
  EXPECT_EQ(channel->settings().slices.rows, 1u);
  EXPECT_EQ(
      channel
          ->change({VencGroup::rate, 0, [](VencSettings& s) { s.rate.first_qp = 60; }, written, ""})
          .code(),
      Code::invalid_argument);
  EXPECT_TRUE(channel->record(VencGroup::rate)->empty());
  EXPECT_EQ(channel->settings().rate.first_qp, 0);
  EXPECT_EQ(channel->set_scene(3).code(), Code::invalid_argument);
  EXPECT_TRUE(channel->set_scene(2).ok());
  EXPECT_EQ(channel->settings().scene, 2);
}

TEST_F(VencChannelTest, regions_have_eight_places) {
  const auto channel = open(video_attr());
  const auto change = [&](uint32_t index) {
    return channel->change(
        {VencGroup::region, index,
         [index](VencSettings& s) { s.regions[index] = {true, false, index, -5, 0, 0, 16, 16}; },
         Record(1, std::byte{3}), ""});
  };
  EXPECT_TRUE(change(7).ok());
  EXPECT_EQ(channel->record(VencGroup::region, 7)->size(), 1u);
  EXPECT_TRUE(channel->record(VencGroup::region, 6)->empty());
  EXPECT_EQ(change(8).code(), Code::invalid_argument);
  EXPECT_EQ(channel->record(VencGroup::region, 8).status().code(), Code::invalid_argument);
}

TEST_F(VencChannelTest, jpeg_quality_is_1_to_100) {
  const auto channel = open(jpeg_attr(4096));
  const auto change = [&](uint32_t quality) {
    return channel->change_jpeg({VencGroup::jpeg, 0,
                                 [quality](VencSettings& s) { s.jpeg.quality = quality; },
                                 Record(1, std::byte{3}), ""});
  };
  EXPECT_EQ(change(0).code(), Code::invalid_argument);
  EXPECT_EQ(change(101).code(), Code::invalid_argument);
  EXPECT_EQ(channel->settings().jpeg.quality, 80u);
  EXPECT_TRUE(change(100).ok());
  EXPECT_EQ(channel->settings().jpeg.quality, 100u);
}

TEST_F(VencChannelTest, only_as_many_pictures_as_the_target_rate_says_are_encoded) {
  VencAttr attr = video_attr();
  attr.rate.source_rate = 50;
  const auto channel = open(attr);
  ASSERT_TRUE(channel->start(-1).ok());
  for (int i = 0; i < 6; ++i) ASSERT_TRUE(channel->send(frame(), -1).ok());
  ASSERT_TRUE(channel->finish().ok());
  EXPECT_EQ(channel->status().ready_packets, 3u);
}

}  // namespace
}  // namespace anynpu::media
#endif
