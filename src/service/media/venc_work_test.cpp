// SPDX-License-Identifier: Apache-2.0
#if defined(ANYNPU_HAS_VIDEO) && defined(ANYNPU_HAS_IMAGE)
#include "service/media/venc_for_test.h"

namespace anynpu::media {
namespace {

using VencWorkTest = VencChannelTest;

TEST_F(VencWorkTest, a_picture_comes_out_as_a_packet_that_is_released_once) {
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

TEST_F(VencWorkTest, a_pack_for_each_unit_needs_room_for_all) {
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

TEST_F(VencWorkTest, jpeg_pictures_go_into_memory_of_the_program_without_a_buffer) {
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

TEST_F(VencWorkTest, a_key_frame_comes_when_it_is_asked_for) {
  const auto channel = open(video_attr());
  ASSERT_TRUE(channel->start(-1).ok());
  for (int i = 0; i < 3; ++i) {
    if (i == 2) channel->request_key();
    ASSERT_TRUE(channel->send(frame(), -1).ok());
    ASSERT_TRUE(channel->finish().ok());
  }
  ASSERT_TRUE(channel->stop().ok());
  channel->drain();
  std::vector<bool> keys;
  for (int i = 0; i < 3; ++i) {
    const auto packet = channel->fetch(1, -1);
    ASSERT_TRUE(packet.ok()) << packet.status().to_string();
    EXPECT_EQ(packet->number, static_cast<uint32_t>(i));
    keys.push_back(packet->key);
    EXPECT_TRUE(channel->release(packet->packs[0].data).ok());
  }
  EXPECT_EQ(keys, (std::vector<bool>{true, false, true}));
}

TEST_F(VencWorkTest, a_jpeg_picture_that_does_not_fit_gives_no_packet) {
  const auto channel = open(jpeg_attr(0));
  ASSERT_TRUE(channel->start(-1).ok());
  auto* memory = bytes_of(std::vector<uint8_t>(65536));
  ASSERT_TRUE(channel->send_to_memory(frame(), memory, 16, -1).ok());
  channel->drain();
  EXPECT_EQ(channel->fetch(1, 0).status().code(), Code::not_complete);
  EXPECT_EQ(channel->status().waiting_pictures, 0u);
  EXPECT_EQ(memory[16], 0) << "nothing behind its memory is written";
  ASSERT_TRUE(channel->send_to_memory(frame(), memory, 65536, -1).ok());
  EXPECT_TRUE(channel->fetch(1, -1).ok()) << "the next one is encoded";
  EXPECT_TRUE(channel->release(memory).ok());
}

}  // namespace
}  // namespace anynpu::media
#endif
