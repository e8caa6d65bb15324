// SPDX-License-Identifier: Apache-2.0
#if defined(ANYNPU_HAS_VIDEO) && defined(ANYNPU_HAS_IMAGE)
#include "service/media/vdec_channel.h"

#include "service/media/vdec_for_test.h"

namespace anynpu::media {
namespace {

TEST_F(VdecChannelTest, packets_become_pictures_in_order) {
  const auto channel = open(attr_for(CodecType::h264));
  channel->start();
  uint64_t pts = 100;
  for (const auto& content : encoded(3))
    ASSERT_TRUE(channel->send(packet(content, pts++), output(), -1).ok());
  VdecPacket end;
  end.end_of_stream = true;
  ASSERT_TRUE(channel->send(end, {}, -1).ok());
  for (uint64_t i = 0; i < 3; ++i) {
    const auto got = channel->fetch(-1);
    ASSERT_TRUE(got.ok()) << got.status().message();
    EXPECT_EQ(got->code, vdec::kOk);
    EXPECT_EQ(got->packet.pts, 100 + i);
    EXPECT_EQ(got->number, i);
    EXPECT_EQ(got->spec.width, 64u);
    EXPECT_EQ(got->spec.format, pixel::kNv12);
    EXPECT_NEAR(row(got->spec, 20)[20], 60 + 20 * static_cast<int>(i), 4);
    EXPECT_TRUE(channel->release().ok());
  }
  channel->drain();
  EXPECT_EQ(channel->fetch(0).status().code(), Code::not_complete);
  EXPECT_EQ(channel->release().code(), Code::invalid_argument);
  const VdecStatus status = channel->status();
  EXPECT_EQ(status.decoded_pictures, 3u);
  EXPECT_EQ(status.received_packets, 4u);
  EXPECT_EQ(status.waiting_packets, 0u);
}

TEST_F(VdecChannelTest, calls_in_the_wrong_order_are_refused) {
  const auto channel = open(attr_for(CodecType::h264));
  const VdecPacket one = packet(encoded(1)[0]);
  EXPECT_EQ(channel->send(one, output(), 0).code(), Code::bad_call_order) << "not started";
  channel->start();
  EXPECT_EQ(channel->reset().code(), Code::bad_call_order);
  EXPECT_EQ(channel->set_attr(channel->attr()).code(), Code::bad_call_order);
  EXPECT_EQ(channel->send({}, output(), 0).code(), Code::invalid_argument) << "no bytes, no end";
  PictureSpec nowhere = output();
  nowhere.data = nullptr;
  EXPECT_FALSE(channel->send(one, nowhere, 0).ok());
  channel->stop();
  EXPECT_TRUE(channel->reset().ok());
  EXPECT_TRUE(channel->set_attr(channel->attr()).ok());
  EXPECT_EQ(channel->set_attr(attr_for(CodecType::h265)).code(), Code::bad_call_order);
  EXPECT_EQ(channel->set_jpeg_precision(0).code(), Code::bad_call_order);
}

TEST_F(VdecChannelTest, channels_that_cannot_be_are_refused) {
  EXPECT_EQ(VdecChannel::open(attr_for(CodecType::other)).status().code(), Code::invalid_argument);
  EXPECT_EQ(VdecChannel::open(attr_for(CodecType::h264, 3)).status().code(),
            Code::invalid_argument);
}

}  // namespace
}  // namespace anynpu::media
#endif
