// SPDX-License-Identifier: Apache-2.0
// For tests of encoders and decoders with callbacks: a thread that runs them, descriptions by
// handle.
#pragma once

#include <atomic>
#include <thread>
#include <utility>
#include <vector>

#include "device/report.h"
#include "service/media/decode_channel.h"
#include "service/media/encode_channel.h"
#include "service/media/media_for_test.h"

namespace anynpu::media {

// What the callbacks of a test got.
inline std::vector<std::vector<uint8_t>> kept_packets;
inline std::vector<bool> kept_outcomes;

inline EncodeCallback keep_packet(void*) {
  return [](Handle, Handle packet, void*) {
    auto pin = resolve<PacketDesc>(packet);
    ASSERT_TRUE(pin.ok());
    EXPECT_EQ((*pin)->ret_code, 0u);
    const auto* bytes = static_cast<const uint8_t*>((*pin)->data);
    kept_packets.emplace_back(bytes, bytes + (*pin)->bytes);
  };
}
inline DecodeCallback keep_outcome(void*) {
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

}  // namespace anynpu::media
