// SPDX-License-Identifier: Apache-2.0
#include "service/media/bindings.h"

#include "service/media/vdec_for_test.h"
#include "service/media/venc_for_test.h"

#if defined(ANYNPU_HAS_VIDEO) && defined(ANYNPU_HAS_IMAGE)
namespace anynpu::media {
namespace {

class BindingsTest : public VdecChannelTest {
 protected:
  void SetUp() override {
    VdecChannelTest::SetUp();
    const auto decoder = [&] { return VdecChannel::open(attr_for(CodecType::h264)); };
    const auto encoder = [&] { return VencChannel::open(jpeg_attr(1 << 20), Record(), ""); };
    ASSERT_TRUE(vdec_channels().create(1, decoder).ok());
    ASSERT_TRUE(vdec_channels().create(2, decoder).ok());
    ASSERT_TRUE(venc_channels().create(4, encoder).ok());
    ASSERT_TRUE((*venc_channels().find(4))->start(-1).ok());
    (*vdec_channels().find(1))->start();
  }
  static constexpr ChannelName kDecoder{ChannelName::vdec, 0, 1}, kOther{ChannelName::vdec, 0, 2};
  static constexpr ChannelName kEncoder{ChannelName::venc, 0, 4};
};

TEST_F(BindingsTest, pictures_go_to_the_encoder_by_themselves) {
  const auto decoder = *vdec_channels().find(1);
  const auto encoder = *venc_channels().find(4);
  ASSERT_TRUE(bind_channels(kDecoder, kEncoder).ok());
  for (const auto& content : encoded(2)) {
    PictureSpec to = output();
    ASSERT_TRUE(decoder->send(packet(content, 7), to, -1).ok());
  }
  decoder->drain();
  EXPECT_EQ(decoder->fetch(0).status().code(), Code::not_complete);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(encoder->fetch(1, -1)->pts, 7u);
  ASSERT_TRUE(unbind_channels(kDecoder, kEncoder).ok());
  ASSERT_TRUE(decoder->send(packet(encoded(1)[0]), output(), -1).ok());
  EXPECT_TRUE(decoder->fetch(-1).ok());
}

TEST_F(BindingsTest, other_pairs_and_second_sources_are_refused) {
  EXPECT_EQ(bind_channels(kEncoder, kDecoder).code(), Code::unsupported_feature);
  EXPECT_EQ(bind_channels({ChannelName::vdec, 0, 9}, kEncoder).code(), Code::not_found);
  EXPECT_EQ(unbind_channels(kDecoder, kEncoder).code(), Code::not_found);
  ASSERT_TRUE(bind_channels(kDecoder, kEncoder).ok());
  EXPECT_EQ(bind_channels(kOther, kEncoder).code(), Code::already_exists);
  ASSERT_TRUE(vdec_channels().remove(1).ok());
  EXPECT_TRUE(bind_channels(kOther, kEncoder).ok()) << "the first source is gone";
}

}  // namespace
}  // namespace anynpu::media
#endif
