// SPDX-License-Identifier: Apache-2.0
#include "service/profile/stamps.h"

#include <gtest/gtest.h>

#include "service/model/model_for_test.h"

namespace anynpu::service {
namespace {

class StampsTest : public ServiceTest {
 protected:
  HandleForTest<prof::Stamp> stamp_{std::make_shared<prof::Stamp>()};
};

TEST_F(StampsTest, NothingIsRecordedWhileNobodyProfiles) {
  EXPECT_EQ(make_stamp().status().code(), Code::bad_call_order);
  EXPECT_EQ(mark(stamp_).code(), Code::stamp_not_recorded);
  EXPECT_EQ(push_range(stamp_).code(), Code::stamp_not_recorded);
  EXPECT_EQ(pop_range().code(), Code::stamp_not_recorded);
  uint32_t range = 0;
  EXPECT_EQ(start_range(stamp_, &range).code(), Code::stamp_not_recorded);
  EXPECT_EQ(stop_range(1).code(), Code::stamp_not_recorded);
  EXPECT_EQ(mark_on_stream("m", 1, 0).code(), Code::stamp_not_recorded);
}

TEST_F(StampsTest, AMessageHasAsManyBytesAsItsLengthSays) {
  EXPECT_TRUE(set_stamp_message(stamp_, "mark", 4).ok());
  EXPECT_EQ(set_stamp_message(stamp_, "mark", 5).code(), Code::stamp_not_recorded);
  EXPECT_EQ(set_stamp_message(stamp_, nullptr, 4).code(), Code::stamp_not_recorded);
  EXPECT_EQ(set_stamp_message(stamp_, "mark", 0).code(), Code::stamp_not_recorded);
  const Status none = set_stamp_message(0, "mark", 4);
  EXPECT_EQ(none.code(), Code::stamp_not_recorded);
  EXPECT_NE(none.message().find("0x80"), std::string::npos) << "before the handle";
  EXPECT_EQ(name_category(1, nullptr).code(), Code::invalid_argument);
  EXPECT_TRUE(name_category(1, "phase").ok());
  EXPECT_TRUE(set_stamp_category(stamp_, 1).ok());
}

TEST_F(StampsTest, AStepHasOneStartAndOneEnd) {
  const HandleForTest<ProfilingStep> step(std::make_shared<ProfilingStep>());
  EXPECT_EQ(stamp_step(step, StepTag::end, 0).code(), Code::invalid_argument);
  EXPECT_TRUE(stamp_step(step, StepTag::start, 0).ok());
  EXPECT_EQ(stamp_step(step, StepTag::start, 0).code(), Code::invalid_argument);
  EXPECT_TRUE(stamp_step(step, StepTag::end, 0).ok());
  EXPECT_EQ(stamp_step(step, StepTag::end, 0).code(), Code::invalid_argument);
  EXPECT_EQ(stamp_step(step, static_cast<StepTag>(2), 0).code(), Code::invalid_argument);
}

}  // namespace
}  // namespace anynpu::service
