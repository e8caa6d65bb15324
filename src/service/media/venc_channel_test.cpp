// SPDX-License-Identifier: Apache-2.0
#if defined(ANYNPU_HAS_VIDEO) && defined(ANYNPU_HAS_IMAGE)
#include "service/media/venc_channel.h"

#include "service/media/media_for_test.h"

namespace anynpu::media {
namespace {

VencAttr video_attr() {
  VencAttr attr;
  attr.codec = CodecType::h264;
  attr.width = 64;
  attr.height = 48;
  attr.buffer_bytes = 1 << 20;
  attr.whole_frames = true;
  attr.rate = {RateMode::h264_cbr, 1, 30, 1, 25, 25, 1000, 0, 0, 0};
  return attr;
}

VencAttr jpeg_attr(uint32_t buffer) {
  VencAttr attr;
  attr.codec = CodecType::jpeg;
  attr.width = 64;
  attr.height = 48;
  attr.buffer_bytes = buffer;
  return attr;
}

class VencChannelTest : public MediaTest {
 protected:
  std::shared_ptr<VencChannel> open(const VencAttr& attr) {
    auto opened = VencChannel::open(attr, Record(1, std::byte{9}), "");
    EXPECT_TRUE(opened.ok()) << opened.status().message();
    return drained_at_end(*opened);
  }
  VencFrame frame(uint64_t pts = 0) {
    VencFrame made;
    made.spec = picture(pixel::kNv12, 64, 48, 90);
    made.pts = pts;
    return made;
  }
};

TEST_F(VencChannelTest, a_picture_comes_out_as_a_packet_that_is_released_once) {
  const auto channel = open(video_attr());
  ASSERT_TRUE(channel->start(-1).ok());
  const VencFrame sent = frame(77);
  ASSERT_TRUE(channel->send_to_buffer(sent, -1).ok());
  const auto packet = channel->fetch(1, -1);
  ASSERT_TRUE(packet.ok()) << packet.status().message();
  EXPECT_EQ(packet->pts, 77u);
  EXPECT_EQ(packet->input, reinterpret_cast<uint64_t>(sent.spec.data));
  EXPECT_TRUE(packet->key);
  ASSERT_EQ(packet->packs.size(), 1u);
  EXPECT_EQ(packet->packs[0].bytes, packet->bytes);
  EXPECT_TRUE(packet->packs[0].last);
  ASSERT_GE(packet->packs[0].units.size(), 3u) << "SPS, PPS, slice";
  EXPECT_EQ(packet->packs[0].units[0].type, 7u);
  EXPECT_EQ(packet->packs[0].type, 5u) << "an IDR slice";
  EXPECT_TRUE(channel->release(packet->packs[0].data).ok());
  EXPECT_EQ(channel->release(packet->packs[0].data).code(), Code::invalid_argument);
  EXPECT_EQ(channel->release(nullptr).code(), Code::invalid_argument);
  channel->drain();
}

TEST_F(VencChannelTest, a_pack_for_each_unit_needs_room_for_all) {
  VencAttr attr = video_attr();
  attr.whole_frames = false;
  const auto channel = open(attr);
  ASSERT_TRUE(channel->start(1).ok());
  ASSERT_TRUE(channel->send(frame(), -1).ok());
  ASSERT_TRUE(channel->finish().ok());
  EXPECT_EQ(channel->fetch(1, -1).status().code(), Code::invalid_argument);
  const uint32_t packs = channel->status().next_packs;
  const auto packet = channel->fetch(packs, -1);
  ASSERT_TRUE(packet.ok()) << "nothing was lost";
  uint32_t bytes = 0;
  for (const VencPack& pack : packet->packs) bytes += pack.bytes;
  EXPECT_EQ(bytes, packet->bytes);
  EXPECT_TRUE(packet->packs.back().last);
  EXPECT_FALSE(packet->packs.front().last);
}

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

TEST_F(VencChannelTest, jpeg_pictures_go_into_memory_of_the_program_without_a_buffer) {
  const auto channel = open(jpeg_attr(0));
  ASSERT_TRUE(channel->start(-1).ok());
  auto* memory = bytes_of(std::vector<uint8_t>(65536));
  EXPECT_EQ(channel->send_to_buffer(frame(), 0).code(), Code::bad_call_order);
  ASSERT_TRUE(channel->send_to_memory(frame(), memory, 65536, -1).ok());
  const auto packet = channel->fetch(1, -1);
  ASSERT_TRUE(packet.ok());
  EXPECT_EQ(packet->packs[0].data, memory);
  EXPECT_EQ(packet->quality, 80u);
  EXPECT_EQ(memory[0], 0xff);
  EXPECT_EQ(memory[1], 0xd8);
  EXPECT_TRUE(channel->release(memory).ok());
  EXPECT_EQ(open(jpeg_attr(4096))->send_to_memory(frame(), memory, 65536, 0).code(),
            Code::bad_call_order);
  EXPECT_EQ(open(video_attr())->send_to_memory(frame(), memory, 65536, 0).code(),
            Code::bad_call_order);
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

TEST_F(VencChannelTest, modules_keep_what_a_program_wrote) {
  EXPECT_EQ(set_venc_module(0, {}, "").code(), Code::invalid_argument);
  EXPECT_EQ(venc_module(6).status().code(), Code::invalid_argument);
  ASSERT_TRUE(set_venc_module(5, Record(4, std::byte{8}), "").ok());
  EXPECT_EQ(*venc_module(5), Record(4, std::byte{8}));
  ASSERT_TRUE(set_venc_module(5, {}, "").ok());
  EXPECT_EQ(qp_map_stride(100), 16u);
  EXPECT_EQ(qp_map_bytes(100, 40), 48u);
}

}  // namespace
}  // namespace anynpu::media
#endif
