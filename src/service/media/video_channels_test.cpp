// SPDX-License-Identifier: Apache-2.0
// Encoder and decoder with callbacks: a video goes through both.
#ifdef ANYNPU_HAS_VIDEO
#include <pthread.h>

#include <atomic>
#include <thread>

#include "device/report.h"
#include "service/media/decode_channel.h"
#include "service/media/encode_channel.h"
#include "service/media/media_for_test.h"

namespace anynpu::media {
namespace {

// What the callbacks of a test got.
std::vector<std::vector<uint8_t>> kept_packets;
std::vector<bool> kept_outcomes;

EncodeCallback keep_packet(void*) {
  return [](Handle, Handle packet, void*) {
    auto pin = resolve<PacketDesc>(packet);
    ASSERT_TRUE(pin.ok());
    EXPECT_EQ((*pin)->ret_code, 0u);
    const auto* bytes = static_cast<const uint8_t*>((*pin)->data);
    kept_packets.emplace_back(bytes, bytes + (*pin)->bytes);
  };
}
DecodeCallback keep_outcome(void*) {
  return
      [](const Status& failure, Handle, Handle, void*) { kept_outcomes.push_back(failure.ok()); };
}

template <typename T>
std::pair<std::shared_ptr<T>, Handle> made() {
  auto object = std::make_shared<T>();
  const Handle handle = *insert_handle(object);
  return {object, handle};
}

class VideoChannelsTest : public MediaTest {
 protected:
  void SetUp() override {
    MediaTest::SetUp();
    kept_packets.clear();
    kept_outcomes.clear();
    callbacks = std::thread([this] {
      while (!ended) (void)device::ReportQueues::instance().process(Deadline::after_ms(5));
    });
    thread = static_cast<uint64_t>(callbacks.native_handle());
  }
  void TearDown() override {
    ended = true;
    callbacks.join();
    MediaTest::TearDown();
  }
  Handle encoder_desc() {
    auto [desc, handle] = made<EncoderDesc>();
    desc->thread = thread;
    desc->callback = this;
    desc->width = 64;
    desc->height = 48;
    desc->key_interval = 10;
    return handle;
  }
  Handle decoder_desc() {
    auto [desc, handle] = made<DecoderDesc>();
    desc->thread = thread;
    desc->callback = this;
    return handle;
  }
  Handle packet_with(const std::vector<uint8_t>& content, bool end = false) {
    auto [desc, handle] = made<PacketDesc>();
    if (!content.empty()) desc->data = bytes_of(content);
    desc->bytes = static_cast<uint32_t>(content.size());
    desc->eos = end;
    return handle;
  }
  static Handle picture_with(const PictureSpec& spec) {
    auto [desc, handle] = made<PictureDesc>();
    static_cast<PictureSpec&>(*desc) = spec;
    return handle;
  }

  std::thread callbacks;
  std::atomic<bool> ended{false};
  uint64_t thread = 0;
};

TEST_F(VideoChannelsTest, pictures_become_packets_and_packets_pictures) {
  const Handle encoder = encoder_desc();
  ASSERT_TRUE(create_encoder(encoder, keep_packet).ok());
  auto [config, config_handle] = made<EncodeConfig>();
  const Handle input = picture_with(picture(pixel::kNv12, 64, 48, 100));
  for (int i = 0; i < 3; ++i)
    ASSERT_TRUE(send_picture(encoder, input, config_handle, nullptr).ok());
  ASSERT_TRUE(destroy_encoder(encoder).ok());
  ASSERT_EQ(kept_packets.size(), 3u);

  const Handle decoder = decoder_desc();
  ASSERT_TRUE(create_decoder(decoder, keep_outcome).ok());
  std::vector<PictureSpec> outputs;
  for (const auto& content : kept_packets) {
    outputs.push_back(picture(pixel::kNv12, 64, 48, 0));
    const Handle to = picture_with(outputs.back());
    ASSERT_TRUE(send_packet({decoder, packet_with(content), to, false, 0, nullptr}).ok());
  }
  ASSERT_TRUE(send_packet({decoder, packet_with({}, true), 0, false, 0, nullptr}).ok());
  ASSERT_TRUE(destroy_decoder(decoder).ok());
  EXPECT_EQ(kept_outcomes, std::vector<bool>(4, true));
  for (const PictureSpec& spec : outputs) EXPECT_NEAR(row(spec, 20)[20], 100, 3);
}

TEST_F(VideoChannelsTest, a_bad_packet_comes_back_with_its_failure) {
  const Handle decoder = decoder_desc();
  ASSERT_TRUE(create_decoder(decoder, keep_outcome).ok());
  const Handle output = picture_with(picture(pixel::kNv12, 64, 48, 0));
  ASSERT_TRUE(send_packet({decoder, packet_with({1, 2, 3}), output, false, 0, nullptr}).ok());
  ASSERT_TRUE(destroy_decoder(decoder).ok());
  EXPECT_EQ(kept_outcomes, std::vector<bool>(1, false));
  EXPECT_EQ((*resolve<PictureDesc>(output))->ret_code, 1u);
}

TEST_F(VideoChannelsTest, calls_in_the_wrong_order_are_refused) {
  const Handle decoder = decoder_desc(), encoder = encoder_desc();
  auto [config, config_handle] = made<EncodeConfig>();
  const Handle input = picture_with(picture(pixel::kNv12, 64, 48, 100));
  EXPECT_EQ(send_packet({decoder, packet_with({1}), 0, true, 0, nullptr}).code(),
            Code::bad_call_order);
  EXPECT_EQ(send_picture(encoder, input, config_handle, nullptr).code(), Code::bad_call_order);
  EXPECT_EQ(destroy_decoder(decoder).code(), Code::bad_call_order);
  EXPECT_EQ(destroy_encoder(encoder).code(), Code::bad_call_order);
  ASSERT_TRUE(create_decoder(decoder, keep_outcome).ok());
  ASSERT_TRUE(create_encoder(encoder, keep_packet).ok());
  EXPECT_EQ(create_decoder(decoder, keep_outcome).code(), Code::already_exists);
  EXPECT_EQ(create_encoder(encoder, keep_packet).code(), Code::already_exists);
  EXPECT_EQ(destroy_decoder_desc(decoder).code(), Code::bad_call_order);
  EXPECT_EQ(destroy_encoder_desc(encoder).code(), Code::bad_call_order);
  EXPECT_EQ(send_packet({decoder, packet_with({}), 0, true, 0, nullptr}).code(),
            Code::invalid_argument)
      << "no bytes and no end";
  const Handle small = picture_with(picture(pixel::kNv12, 32, 48, 100));
  EXPECT_EQ(send_picture(encoder, small, config_handle, nullptr).code(), Code::invalid_argument);
  ASSERT_TRUE(destroy_decoder(decoder).ok());
  ASSERT_TRUE(destroy_encoder(encoder).ok());
  EXPECT_TRUE(destroy_decoder_desc(decoder).ok());
  EXPECT_TRUE(destroy_encoder_desc(encoder).ok());
}

TEST_F(VideoChannelsTest, descriptions_without_a_callback_or_a_size_make_no_channel) {
  const Handle decoder = decoder_desc(), encoder = encoder_desc();
  (*resolve<DecoderDesc>(decoder))->callback = nullptr;
  EXPECT_EQ(create_decoder(decoder, keep_outcome).code(), Code::invalid_argument);
  (*resolve<EncoderDesc>(encoder))->key_interval = 0;
  EXPECT_EQ(create_encoder(encoder, keep_packet).code(), Code::invalid_argument);
}

TEST_F(VideoChannelsTest, sixteen_decoders_may_be_open) {
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
