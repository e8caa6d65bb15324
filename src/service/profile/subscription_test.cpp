// SPDX-License-Identifier: Apache-2.0
#include "service/profile/subscription.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "prof/ownership.h"
#include "service/model/model_for_test.h"

namespace anynpu::service {
namespace {

class SubscriptionTest : public ServiceTest {
 protected:
  void SetUp() override {
    ServiceTest::SetUp();
    ASSERT_EQ(::pipe(pipe_), 0);
    id_ = load_for_test(compile_relu());
  }
  void TearDown() override {
    ServiceTest::TearDown();
    ::close(pipe_[0]);
  }
  std::shared_ptr<prof::SubscribeConfig> config(int8_t times, uint32_t metrics) const {
    const auto fd = reinterpret_cast<const void*>(static_cast<uintptr_t>(pipe_[1]));
    return std::make_shared<prof::SubscribeConfig>(*make_subscribe_config(times, metrics, fd));
  }
  int pipe_[2] = {};
  uint32_t id_ = 0;
};

TEST_F(SubscriptionTest, EachCauseOfAFailureHasItsCode) {
  const HandleForTest<prof::SubscribeConfig> times(config(1, 255)), nothing(config(0, 255));
  EXPECT_EQ(subscribe_model(id_ + 1, times).code(), Code::model_not_found);
  EXPECT_EQ(subscribe_model(id_, 0).code(), Code::invalid_handle);
  EXPECT_EQ(subscribe_model(id_, nothing).code(), Code::invalid_argument);
  ASSERT_TRUE(prof::claim(prof::Owner::program));
  EXPECT_EQ(subscribe_model(id_, times).code(), Code::profiling_conflict);
  prof::release(prof::Owner::program);
  ASSERT_TRUE(subscribe_model(id_, times).ok());
  EXPECT_EQ(subscribe_model(id_, times).code(), Code::model_already_subscribed);
  EXPECT_TRUE(unsubscribe_model(id_).ok());
  EXPECT_EQ(unsubscribe_model(id_).code(), Code::model_not_found);
}

TEST_F(SubscriptionTest, ASubscriptionNeedsAPipeThatIsOpen) {
  EXPECT_FALSE(make_subscribe_config(1, 0, nullptr).ok());
  EXPECT_EQ(make_subscribe_config(2, 0, nullptr).status().message(),
            "timeInfoSwitch is 2; expected 0 or 1");
  ::close(pipe_[1]);
}

TEST_F(SubscriptionTest, ATextIsCutWhereItDoesNotFit) {
  char text[4] = {};
  EXPECT_TRUE(copy_text("MatMul", text, sizeof text).ok());
  EXPECT_STREQ(text, "Mat");
  EXPECT_FALSE(copy_text("MatMul", text, 0).ok());
  EXPECT_FALSE(copy_text("MatMul", nullptr, 4).ok());
  EXPECT_FALSE(record_name(text, 3, 0).ok());
  ::close(pipe_[1]);
}

}  // namespace
}  // namespace anynpu::service
