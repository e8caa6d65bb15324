// SPDX-License-Identifier: Apache-2.0
#include "service/media/regions.h"

#include "service/media/media_for_test.h"
#include "service/media/vpc_channel.h"
#include "service/media/vpc_regions.h"

namespace anynpu::media {
namespace {

constexpr ChannelName kVpc{ChannelName::vpc, 0, 3};

class RegionsTest : public MediaTest {
 protected:
  void SetUp() override {
    MediaTest::SetUp();
    ASSERT_TRUE(vpc_channels().create(3, VpcChannel::open).ok());
  }
  static RegionAttr overlay() {
    RegionAttr attr;
    attr.kind = static_cast<int32_t>(RegionKind::overlay);
    attr.overlay.format = 14;
    attr.overlay.width = attr.overlay.height = 4;
    return attr;
  }
  static RegionDisplay shown(RegionKind kind) {
    RegionDisplay display;
    display.shown = true;
    display.kind = static_cast<int32_t>(kind);
    return display;
  }
  // A copy of a grey picture through the channel.
  PictureSpec through_channel() {
    const PictureSpec from = picture(pixel::kRgb888, 32, 16, 50);
    const PictureSpec to = picture(pixel::kRgb888, 32, 16, 0);
    const auto channel = *vpc_channels().find(3);
    const auto job = channel->run(-1, [&](VpcJob& j) { return add_resize(j, from, to, 0); });
    EXPECT_TRUE(job.ok() && channel->wait(*job, -1).ok());
    return to;
  }
};

TEST_F(RegionsTest, an_overlay_is_seen_after_it_was_shown) {
  ASSERT_TRUE(create_region(5, overlay()).ok());
  RegionDisplay display = shown(RegionKind::overlay);
  display.at = {8, 4};
  ASSERT_TRUE(attach_region(5, kVpc, display).ok());
  const Canvas canvas = *region_canvas(5);
  for (uint32_t y = 0; y < 4; ++y)
    std::fill_n(reinterpret_cast<uint32_t*>(canvas.data + y * canvas.stride), 4, 0xff0a141eu);
  EXPECT_EQ(row(through_channel(), 4)[8 * 3], 50) << "not shown yet";
  ASSERT_TRUE(show_canvas(5).ok());
  const PictureSpec to = through_channel();
  EXPECT_EQ(row(to, 4)[8 * 3], 10);
  EXPECT_EQ(row(to, 7)[11 * 3 + 2], 30);
  EXPECT_EQ(row(to, 3)[8 * 3], 50);
  display.shown = false;
  ASSERT_TRUE(set_region_display(5, kVpc, display).ok());
  EXPECT_EQ(row(through_channel(), 4)[8 * 3], 50);
  EXPECT_TRUE(destroy_region(5).ok());
}

TEST_F(RegionsTest, covers_and_mosaics_follow_their_layers) {
  RegionAttr attr;
  attr.kind = static_cast<int32_t>(RegionKind::cover);
  ASSERT_TRUE(create_region(0, attr).ok());
  ASSERT_TRUE(create_region(1, attr).ok());
  RegionDisplay low = shown(RegionKind::cover), high = low;
  low.cover.rect = high.cover.rect = {0, 0, 8, 8};
  low.cover.color = 0x010101;
  high.cover.color = 0x020202;
  high.layer = 3;
  ASSERT_TRUE(attach_region(0, kVpc, high).ok());
  ASSERT_TRUE(attach_region(1, kVpc, low).ok());
  EXPECT_EQ(row(through_channel(), 0)[0], 2);
  ASSERT_TRUE(detach_region(0, kVpc).ok());
  EXPECT_EQ(row(through_channel(), 0)[0], 1);
  EXPECT_EQ(detach_region(0, kVpc).code(), Code::not_found);
}

TEST_F(RegionsTest, what_does_not_fit_is_refused) {
  EXPECT_EQ(create_region(1024, overlay()).code(), Code::invalid_argument);
  RegionAttr odd = overlay();
  odd.overlay.width = 3;
  EXPECT_EQ(create_region(1, odd).code(), Code::invalid_argument);
  odd.kind = 4;
  EXPECT_EQ(create_region(1, odd).code(), Code::unsupported_feature);
  ASSERT_TRUE(create_region(1, overlay()).ok());
  EXPECT_EQ(create_region(1, overlay()).code(), Code::already_exists);
  EXPECT_EQ(attach_region(1, kVpc, shown(RegionKind::cover)).code(), Code::invalid_argument);
  EXPECT_EQ(attach_region(1, {ChannelName::vpc, 0, 9}, shown(RegionKind::overlay)).code(),
            Code::not_found);
  EXPECT_EQ(attach_region(1, {ChannelName::vdec, 0, 0}, shown(RegionKind::overlay)).code(),
            Code::unsupported_feature);
  EXPECT_EQ(attach_region(2, kVpc, shown(RegionKind::overlay)).code(), Code::not_found);
  EXPECT_EQ(region_display(1, kVpc).status().code(), Code::not_found);
}

}  // namespace
}  // namespace anynpu::media
