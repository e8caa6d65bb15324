// SPDX-License-Identifier: Apache-2.0
#ifdef ANYNPU_HAS_VIDEO
#include "service/media/decode_channel.h"

#include "service/media/video_for_test.h"

namespace anynpu::media {
namespace {

class DecodeChannelTest : public VideoChannelsTest {
 protected:
  // Three packets of 64x48 pictures of the value 100.
  std::vector<std::vector<uint8_t>> encoded() {
    const Handle encoder = encoder_desc();
    EXPECT_TRUE(create_encoder(encoder, keep_packet).ok());
    auto [config, config_handle] = made<EncodeConfig>();
    const Handle input = picture_with(picture(pixel::kNv12, 64, 48, 100));
    for (int i = 0; i < 3; ++i)
      EXPECT_TRUE(send_picture(encoder, input, config_handle, nullptr).ok());
    EXPECT_TRUE(destroy_encoder(encoder).ok());
    return kept_packets;
  }
};

TEST_F(DecodeChannelTest, each_packet_comes_back_with_its_picture) {
  const auto packets = encoded();
  ASSERT_EQ(packets.size(), 3u);
  const Handle decoder = decoder_desc();
  ASSERT_TRUE(create_decoder(decoder, keep_outcome).ok());
  std::vector<PictureSpec> outputs;
  for (const auto& content : packets) {
    outputs.push_back(picture(pixel::kNv12, 64, 48, 0));
    const Handle to = picture_with(outputs.back());
    ASSERT_TRUE(send_packet({decoder, packet_with(content), to, false, 0, nullptr}).ok());
  }
  ASSERT_TRUE(send_packet({decoder, packet_with({}, true), 0, false, 0, nullptr}).ok());
  EXPECT_EQ(kept_outcomes, std::vector<bool>(3, true)) << "the end waits, and has no callback";
  ASSERT_TRUE(destroy_decoder(decoder).ok());
  EXPECT_EQ(kept_outcomes.size(), 3u);
  for (const PictureSpec& spec : outputs) EXPECT_NEAR(row(spec, 20)[20], 100, 3);
}

TEST_F(DecodeChannelTest, a_skipped_packet_is_decoded_without_a_picture) {
  const auto packets = encoded();
  const Handle decoder = decoder_desc();
  ASSERT_TRUE(create_decoder(decoder, keep_outcome).ok());
  ASSERT_TRUE(send_packet({decoder, packet_with(packets[0]), 0, true, 0, nullptr}).ok());
  const PictureSpec second = picture(pixel::kNv12, 64, 48, 0);
  ASSERT_TRUE(
      send_packet({decoder, packet_with(packets[1]), picture_with(second), false, 0, nullptr})
          .ok());
  ASSERT_TRUE(destroy_decoder(decoder).ok());
  EXPECT_EQ(kept_outcomes, std::vector<bool>(2, true));
  EXPECT_NEAR(row(second, 20)[20], 100, 3) << "it needs the first one";
}

TEST_F(DecodeChannelTest, a_bad_packet_comes_back_with_its_failure) {
  const Handle decoder = decoder_desc();
  ASSERT_TRUE(create_decoder(decoder, keep_outcome).ok());
  const Handle output = picture_with(picture(pixel::kNv12, 64, 48, 0));
  ASSERT_TRUE(send_packet({decoder, packet_with({1, 2, 3}), output, false, 0, nullptr}).ok());
  ASSERT_TRUE(destroy_decoder(decoder).ok());
  EXPECT_EQ(kept_outcomes, std::vector<bool>(1, false));
  EXPECT_EQ((*resolve<PictureDesc>(output))->ret_code, 1u);
}

TEST_F(DecodeChannelTest, calls_in_the_wrong_order_are_refused) {
  const Handle decoder = decoder_desc();
  EXPECT_EQ(send_packet({decoder, packet_with({1}), 0, true, 0, nullptr}).code(),
            Code::bad_call_order);
  EXPECT_EQ(destroy_decoder(decoder).code(), Code::bad_call_order);
  ASSERT_TRUE(create_decoder(decoder, keep_outcome).ok());
  EXPECT_EQ(create_decoder(decoder, keep_outcome).code(), Code::already_exists);
  EXPECT_EQ(destroy_decoder_desc(decoder).code(), Code::bad_call_order);
  EXPECT_EQ(send_packet({decoder, packet_with({}), 0, true, 0, nullptr}).code(),
            Code::invalid_argument)
      << "no bytes and no end";
  ASSERT_TRUE(destroy_decoder(decoder).ok());
  EXPECT_TRUE(destroy_decoder_desc(decoder).ok());
}

TEST_F(DecodeChannelTest, a_description_without_a_callback_makes_no_channel) {
  const Handle decoder = decoder_desc();
  (*resolve<DecoderDesc>(decoder))->callback = nullptr;
  EXPECT_EQ(create_decoder(decoder, keep_outcome).code(), Code::invalid_argument);
}

TEST_F(DecodeChannelTest, sixteen_decoders_may_be_open) {
  std::vector<Handle> decoders;
  for (int i = 0; i < DecodeChannel::kMostChannels; ++i) {
    decoders.push_back(decoder_desc());
    ASSERT_TRUE(create_decoder(decoders.back(), keep_outcome).ok());
  }
  const Handle more = decoder_desc();
  EXPECT_EQ(create_decoder(more, keep_outcome).code(), Code::limit_exceeded);
  for (const Handle decoder : decoders) EXPECT_TRUE(destroy_decoder(decoder).ok());
  EXPECT_TRUE(create_decoder(more, keep_outcome).ok());
  EXPECT_TRUE(destroy_decoder(more).ok());
}

}  // namespace
}  // namespace anynpu::media
#endif
