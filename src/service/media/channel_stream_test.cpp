// SPDX-License-Identifier: Apache-2.0
#include "service/media/channel_stream.h"

#include "service/media/media_for_test.h"

namespace anynpu::media {
namespace {

class ChannelStreamTest : public MediaTest {
 protected:
  static int streams() { return (*device::Runtime::instance().current())->device()->streams(); }
};

TEST_F(ChannelStreamTest, it_ends_with_the_channel_and_does_its_work_before) {
  constinit static device::TaskKind kind{"test work", device::Engine::control};
  const int before = streams();
  bool done = false;
  {
    auto stream = ChannelStream::make();
    ASSERT_TRUE(stream.ok()) << stream.status().to_string();
    EXPECT_EQ(streams(), before + 1);
    ASSERT_TRUE((*stream)
                    ->submit(kind,
                             [&]() -> Status {
                               done = true;
                               return {};
                             })
                    .ok());
  }
  EXPECT_TRUE(done);
  EXPECT_EQ(streams(), before);
}

TEST_F(ChannelStreamTest, moving_hands_the_stream_over) {
  const int before = streams();
  auto made = ChannelStream::make();
  ASSERT_TRUE(made.ok());
  {
    ChannelStream owner = std::move(*made);
    EXPECT_NE(owner.operator->(), nullptr);
    EXPECT_EQ(streams(), before + 1);
  }
  EXPECT_EQ(streams(), before);
}

TEST_F(ChannelStreamTest, it_is_made_in_the_current_context) {
  device::Runtime::instance().reset_all();
  EXPECT_EQ(ChannelStream::make().status().code(), Code::no_context);
}

}  // namespace
}  // namespace anynpu::media
