// SPDX-License-Identifier: Apache-2.0
#ifdef ANYNPU_HAS_VIDEO
#include "service/media/encode_channel.h"

#include "service/media/video_for_test.h"

namespace anynpu::media {
namespace {

class EncodeChannelTest : public VideoChannelsTest {
 protected:
  // Whether a packet of H.264 has a slice of a key frame.
  static bool is_key(const std::vector<uint8_t>& packet) {
    for (size_t i = 0; i + 3 < packet.size(); ++i) {
      if (packet[i] == 0 && packet[i + 1] == 0 && packet[i + 2] == 1 && (packet[i + 3] & 31) == 5)
        return true;
    }
    return false;
  }
  Handle input() { return picture_with(picture(pixel::kNv12, 64, 48, 100)); }
};

TEST_F(EncodeChannelTest, each_picture_becomes_a_packet) {
  const Handle encoder = encoder_desc();
  ASSERT_TRUE(create_encoder(encoder, keep_packet).ok());
  auto [config, config_handle] = made<EncodeConfig>();
  for (int i = 0; i < 3; ++i)
    ASSERT_TRUE(send_picture(encoder, input(), config_handle, nullptr).ok());
  ASSERT_TRUE(destroy_encoder(encoder).ok()) << "waits for all of them";
  ASSERT_EQ(kept_packets.size(), 3u);
  EXPECT_TRUE(is_key(kept_packets[0]));
  EXPECT_FALSE(is_key(kept_packets[1]));
}

TEST_F(EncodeChannelTest, a_key_frame_comes_when_it_is_asked_for) {
  const Handle encoder = encoder_desc();
  ASSERT_TRUE(create_encoder(encoder, keep_packet).ok());
  auto [config, config_handle] = made<EncodeConfig>();
  ASSERT_TRUE(send_picture(encoder, input(), config_handle, nullptr).ok());
  config->force_key = 1;
  ASSERT_TRUE(send_picture(encoder, input(), config_handle, nullptr).ok());
  ASSERT_TRUE(destroy_encoder(encoder).ok());
  ASSERT_EQ(kept_packets.size(), 2u);
  EXPECT_TRUE(is_key(kept_packets[1]));
}

TEST_F(EncodeChannelTest, after_the_end_of_a_stream_a_new_one_starts) {
  const Handle encoder = encoder_desc();
  ASSERT_TRUE(create_encoder(encoder, keep_packet).ok());
  auto [config, config_handle] = made<EncodeConfig>();
  EXPECT_FALSE(send_picture(encoder, 0, config_handle, nullptr).ok()) << "no picture and no end";
  ASSERT_TRUE(send_picture(encoder, input(), config_handle, nullptr).ok());
  config->eos = 1;
  ASSERT_TRUE(send_picture(encoder, 0, config_handle, nullptr).ok());
  config->eos = 0;
  ASSERT_TRUE(send_picture(encoder, input(), config_handle, nullptr).ok());
  ASSERT_TRUE(destroy_encoder(encoder).ok());
  ASSERT_EQ(kept_packets.size(), 2u);
  EXPECT_TRUE(is_key(kept_packets[1]));
}

TEST_F(EncodeChannelTest, calls_in_the_wrong_order_are_refused) {
  const Handle encoder = encoder_desc();
  auto [config, config_handle] = made<EncodeConfig>();
  EXPECT_EQ(send_picture(encoder, input(), config_handle, nullptr).code(), Code::bad_call_order);
  EXPECT_EQ(destroy_encoder(encoder).code(), Code::bad_call_order);
  ASSERT_TRUE(create_encoder(encoder, keep_packet).ok());
  EXPECT_EQ(create_encoder(encoder, keep_packet).code(), Code::already_exists);
  EXPECT_EQ(destroy_encoder_desc(encoder).code(), Code::bad_call_order);
  ASSERT_TRUE(destroy_encoder(encoder).ok());
  EXPECT_TRUE(destroy_encoder_desc(encoder).ok());
}

TEST_F(EncodeChannelTest, sizes_that_do_not_fit_are_refused) {
  const Handle encoder = encoder_desc();
  ASSERT_TRUE(create_encoder(encoder, keep_packet).ok());
  auto [config, config_handle] = made<EncodeConfig>();
  const Handle small = picture_with(picture(pixel::kNv12, 32, 48, 100));
  EXPECT_EQ(send_picture(encoder, small, config_handle, nullptr).code(), Code::invalid_argument);
  ASSERT_TRUE(destroy_encoder(encoder).ok());
  (*resolve<EncoderDesc>(encoder))->key_interval = 0;
  EXPECT_EQ(create_encoder(encoder, keep_packet).code(), Code::invalid_argument);
}

}  // namespace
}  // namespace anynpu::media
#endif
