// SPDX-License-Identifier: Apache-2.0
// Decode sessions and encoders over the video plug-in: one result a packet, the documented codes,
// and no trouble after bad input.
#ifdef ANYNPU_HAS_VIDEO
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "media/decode_session.h"
#include "media/vdec_codes.h"
#include "pixel/count_copies.h"

namespace anynpu::media {
namespace {

using Packet = std::vector<uint8_t>;

struct Encoded {
  std::vector<Packet> packets;
  std::vector<bool> keys;
  std::vector<uint64_t> ids;
};

VideoEncoderOptions small(VideoType type) {
  VideoEncoderOptions options;
  options.type = type;
  options.width = 64;
  options.height = 48;
  options.gop = 4;
  options.kbps = 2000;
  return options;
}

// Pictures of a grey that becomes brighter.
Encoded encode(const VideoEncoderOptions& options, uint32_t count,
               uint64_t force_key = UINT64_MAX) {
  Encoded out;
  auto codec = video_codec();
  EXPECT_TRUE(codec.ok()) << codec.status().message();
  auto encoder = (*codec)->make_encoder(options);
  EXPECT_TRUE(encoder.ok()) << encoder.status().message();
  const auto sink = [&](const EncodedPacket& packet) {
    out.packets.emplace_back(packet.bytes.begin(), packet.bytes.end());
    out.keys.push_back(packet.key);
    out.ids.push_back(packet.id);
  };
  const pixel::OwnPicture picture(*pixel::find_format(pixel::kNv12), options.width, options.height);
  for (uint64_t id = 0; id < count; ++id) {
    for (int p = 0; p < 2; ++p) {
      const pixel::Plane plane = picture.view().plane(p);
      for (uint32_t y = 0; y < plane.height; ++y)
        std::fill_n(plane.row(y), plane.width * plane.channels, static_cast<uint8_t>(60 + 9 * id));
    }
    EXPECT_TRUE((*encoder)->encode(picture.view(), id, id == force_key, sink).ok());
  }
  EXPECT_TRUE((*encoder)->flush(sink).ok());
  return out;
}

// A session and what it wrote.
class Decoding {
 public:
  explicit Decoding(const DecodeOptions& options) {
    auto opened = DecodeSession::open(options);
    EXPECT_TRUE(opened.ok()) << opened.status().message();
    session = std::move(*opened);
  }
  void send(const Packet& packet) {
    const uint64_t id = next++;
    take(session->decode(packet, id, [this](const DecodedFrame& frame) {
      brightness.push_back(frame.plane[0][frame.stride[0] * 20 + 20]);
      return vdec::kOk;
    }));
  }
  void take(const DecodeSession::Results& results) {
    for (const DecodeResult& result : results) codes.push_back(result.code);
  }

  std::unique_ptr<DecodeSession> session;
  uint64_t next = 0;
  std::vector<uint32_t> codes;
  std::vector<int> brightness;
};

class VideoTest : public testing::TestWithParam<VideoType> {
 protected:
  DecodeOptions options() const { return {GetParam(), 0, 0, 0}; }
  Packet noise() const {
    Packet bytes(700);
    uint32_t state = 3;
    for (uint8_t& byte : bytes)
      byte = static_cast<uint8_t>((state = state * 1664525 + 1013904223) >> 24);
    return bytes;
  }
};

TEST_P(VideoTest, every_packet_has_one_result_in_the_order_of_display) {
  VideoEncoderOptions how = small(GetParam());
  how.b_frames = 2;
  how.gop = 12;
  const Encoded video = encode(how, 10);
  ASSERT_EQ(video.packets.size(), 10u);
  Decoding decoding(options());
  for (const Packet& packet : video.packets) decoding.send(packet);
  decoding.take(decoding.session->drain());
  EXPECT_EQ(decoding.codes, std::vector<uint32_t>(10, vdec::kOk));
  ASSERT_EQ(decoding.brightness.size(), 10u);
  for (int i = 0; i < 10; ++i) EXPECT_NEAR(decoding.brightness[i], 60 + 9 * i, 4);
}

TEST_P(VideoTest, a_decoded_picture_goes_straight_into_the_output) {
  const Packet packet = encode(small(GetParam()), 1).packets[0];
  std::vector<uint8_t> memory(64 * 48 * 3);
  for (const auto& [layout, wanted] : {std::pair{pixel::kNv12, 0}, {2, 0}, {pixel::kRgb888, 1}}) {
    const pixel::Format* format = pixel::find_format(layout);
    const pixel::Picture to{format, memory.data(), 64, 48, 64u * format->bytes, 48};
    auto session = DecodeSession::open(options());
    ASSERT_TRUE(session.ok());
    int pictures = 0;
    EXPECT_EQ(pixel::Copies::of([&] {
                (void)(*session)->decode(packet, 0, [&](const DecodedFrame& frame) {
                  ++pictures;
                  return write_frame(frame, to).ok() ? vdec::kOk : vdec::kDecodeFailed;
                });
                (void)(*session)->drain();
              }),
              wanted)
        << layout;
    EXPECT_EQ(pictures, 1);
  }
}

TEST_P(VideoTest, bytes_around_a_decoded_picture_stay_as_they_were) {
  const Packet packet = encode(small(GetParam()), 1).packets[0];
  std::vector<uint8_t> memory(96 * 64 * 3 / 2, 0xee);
  const pixel::Picture to{pixel::find_format(pixel::kNv12), memory.data(), 64, 48, 96, 64};
  auto session = DecodeSession::open(options());
  ASSERT_TRUE(session.ok());
  int written = 0;
  (void)(*session)->decode(packet, 0, [&](const DecodedFrame& frame) {
    written += write_frame(frame, to).ok();
    return vdec::kOk;
  });
  (void)(*session)->drain();
  ASSERT_EQ(written, 1);
  for (uint32_t y = 0; y < 96; ++y) {
    const bool padding_row = y < 64 ? y >= 48 : y >= 64 + 24;
    for (uint32_t x = padding_row ? 0 : 64; x < 96; ++x)
      ASSERT_EQ(memory[y * 96 + x], 0xee) << x << "," << y;
  }
  EXPECT_NEAR(memory[0], 60, 4);
}

TEST_P(VideoTest, key_frames_come_as_often_as_asked_and_when_forced) {
  const Encoded video = encode(small(GetParam()), 9, 6);
  EXPECT_EQ(video.keys,
            (std::vector<bool>{true, false, false, false, true, false, true, false, false}));
  EXPECT_EQ(video.ids, (std::vector<uint64_t>{0, 1, 2, 3, 4, 5, 6, 7, 8}));
}

TEST_P(VideoTest, an_end_before_any_frame_or_twice_has_no_result) {
  Decoding decoding(options());
  decoding.take(decoding.session->drain());
  EXPECT_TRUE(decoding.codes.empty());
  decoding.send(encode(small(GetParam()), 1).packets[0]);
  decoding.take(decoding.session->drain());
  decoding.take(decoding.session->drain());
  EXPECT_EQ(decoding.codes, std::vector<uint32_t>{vdec::kOk});
}

TEST_P(VideoTest, noise_fails_and_the_session_goes_on) {
  const Encoded video = encode(small(GetParam()), 2);
  Decoding decoding(options());
  decoding.send(noise());
  decoding.send({});
  decoding.take(decoding.session->drain());
  ASSERT_EQ(decoding.codes.size(), 2u);
  for (const uint32_t code : decoding.codes) EXPECT_NE(code, vdec::kOk);
  for (const Packet& packet : video.packets) decoding.send(packet);
  decoding.take(decoding.session->drain());
  EXPECT_EQ(decoding.codes.size(), 4u);
  EXPECT_EQ(decoding.codes[2], vdec::kOk);
  EXPECT_EQ(decoding.codes[3], vdec::kOk);
}

TEST_P(VideoTest, packets_cut_off_anywhere_have_one_result_each) {
  const Packet whole = encode(small(GetParam()), 1).packets[0];
  Decoding decoding(options());
  for (size_t n = 1; n < whole.size(); n += 7)
    decoding.send(Packet(whole.begin(), whole.begin() + static_cast<long>(n)));
  decoding.take(decoding.session->drain());
  EXPECT_EQ(decoding.codes.size(), decoding.next);
}

TEST_P(VideoTest, parameters_alone_have_no_picture) {
  const Packet whole = encode(small(GetParam()), 1).packets[0];
  // Up to the first slice: types 1 to 5 of H.264, below 32 of H.265.
  size_t slice = 0;
  for (size_t i = 0; i + 3 < whole.size() && slice == 0; ++i) {
    if (whole[i] != 0 || whole[i + 1] != 0 || whole[i + 2] != 1) continue;
    const int kind = GetParam() == VideoType::h264 ? whole[i + 3] & 31 : whole[i + 3] >> 1 & 63;
    if (GetParam() == VideoType::h264 ? kind <= 5 : kind < 32) slice = i;
  }
  ASSERT_GT(slice, 0u);
  Decoding decoding(options());
  decoding.send(Packet(whole.begin(), whole.begin() + static_cast<long>(slice)));
  EXPECT_EQ(decoding.codes, std::vector<uint32_t>{vdec::kNoPicture});
}

TEST_P(VideoTest, a_stream_larger_than_the_channel_or_the_decoder_has_its_code) {
  DecodeOptions narrow = options();
  narrow.width = 48;
  narrow.height = 48;
  Decoding channel(narrow);
  channel.send(encode(small(GetParam()), 1).packets[0]);
  channel.take(channel.session->drain());
  EXPECT_EQ(channel.codes, std::vector<uint32_t>{vdec::kFrameSize});

  VideoEncoderOptions wide = small(GetParam());
  wide.width = 8208;
  wide.height = 64;
  Decoding decoder(options());
  decoder.send(encode(wide, 1).packets[0]);
  EXPECT_EQ(decoder.codes, std::vector<uint32_t>{vdec::kResolution});
  EXPECT_TRUE(decoder.brightness.empty());
}

TEST_P(VideoTest, a_stream_is_cut_into_its_pictures_whatever_the_pieces) {
  const Encoded video = encode(small(GetParam()), 6);
  Packet all;
  for (const Packet& packet : video.packets) all.insert(all.end(), packet.begin(), packet.end());
  for (const size_t piece : {size_t{1}, size_t{50}, all.size()}) {
    auto codec = video_codec();
    ASSERT_TRUE(codec.ok());
    auto cutter = (*codec)->make_cutter(GetParam());
    ASSERT_TRUE(cutter.ok());
    std::vector<Packet> units;
    const auto keep = [&](Bytes unit) { units.emplace_back(unit.begin(), unit.end()); };
    for (size_t at = 0; at < all.size(); at += piece)
      ASSERT_TRUE((*cutter)->cut({all.data() + at, std::min(piece, all.size() - at)}, keep).ok());
    ASSERT_TRUE((*cutter)->finish(keep).ok());
    ASSERT_EQ(units.size(), video.packets.size()) << "pieces of " << piece;
    // A zero between two pictures belongs to either.
    const auto core = [](const Packet& packet) {
      const auto begin = std::find(packet.begin(), packet.end(), 1);
      auto end = packet.end();
      while (end > begin && end[-1] == 0) --end;
      return Packet(begin, end);
    };
    for (size_t i = 0; i < units.size(); ++i)
      EXPECT_EQ(core(units[i]), core(video.packets[i])) << "pieces of " << piece;
  }
}

INSTANTIATE_TEST_SUITE_P(Types, VideoTest, testing::Values(VideoType::h264, VideoType::h265),
                         [](const auto& info) {
                           return std::string(info.param == VideoType::h264 ? "h264" : "h265");
                         });

TEST(VideoReferencesTest, more_references_than_the_channel_has_are_told) {
  VideoEncoderOptions how = small(VideoType::h264);
  how.reference_frames = 3;
  how.gop = 20;
  DecodeOptions few;
  few.reference_frames = 1;
  Decoding decoding(few);
  for (const Packet& packet : encode(how, 3).packets) decoding.send(packet);
  decoding.take(decoding.session->drain());
  EXPECT_EQ(decoding.codes, std::vector<uint32_t>(3, vdec::kReferenceFrames));
}

}  // namespace
}  // namespace anynpu::media
#endif
