// SPDX-License-Identifier: Apache-2.0
#include "service/profile/tensor_range.h"

#include <gtest/gtest.h>

#include <array>
#include <thread>
#include <vector>

#include "service/model/model_for_test.h"
#include "trace/registry.h"
#include "trace/trace.h"

namespace anynpu::service {
namespace {

// Names of the operators that were recorded.
class OpNames : public trace::DrainVisitor {
 public:
  void on_events(const trace::ThreadInfo&, std::span<const trace::Event> events) override {
    for (const trace::Event& event : events) {
      if (event.category() != trace::Category::op || event.phase() == trace::Phase::detail)
        continue;
      names.emplace_back(trace::name_of(event.name));
    }
  }
  std::vector<std::string> names;
};

class TensorRangeTest : public ServiceTest {
 protected:
  void SetUp() override {
    ServiceTest::SetUp();
    range_.op_name = trace::intern("my_add");
    range_.op_type = trace::intern("Add");
  }
  void TearDown() override {
    trace::set_mask(0);
    trace::discard();
    ServiceTest::TearDown();
  }
  TensorRange range_;
};

TEST_F(TensorRangeTest, TensorsAreListedAsAProfileHasThem) {
  const std::array<uint32_t, 2> shape{2, 3};
  TensorList list;
  EXPECT_EQ(list.text(), "\t\t");
  list.add(shape, DType::f32, Format::nd);
  list.add({}, DType::i64, Format::nchw);
  EXPECT_EQ(list.text(), "2,3;\tfloat32;int64\tND;NCHW");
}

TEST_F(TensorRangeTest, RangesNestInOneThread) {
  EXPECT_EQ(pop_tensor_range().code(), Code::stamp_not_recorded);
  EXPECT_TRUE(push_tensor_range(range_).ok());
  EXPECT_TRUE(push_tensor_range(range_).ok());
  std::thread([] { EXPECT_EQ(pop_tensor_range().code(), Code::stamp_not_recorded); }).join();
  EXPECT_TRUE(pop_tensor_range().ok());
  EXPECT_TRUE(pop_tensor_range().ok());
  EXPECT_EQ(pop_tensor_range().code(), Code::stamp_not_recorded);
}

TEST_F(TensorRangeTest, NamesAreThoseThatWereGivenOut) {
  range_.op_name = UINT64_MAX;
  EXPECT_EQ(push_tensor_range(range_).code(), Code::invalid_argument);
  range_.op_name = range_.op_type;
  range_.op_type = UINT64_MAX;
  EXPECT_EQ(push_tensor_range(range_).code(), Code::invalid_argument);
  EXPECT_EQ(pop_tensor_range().code(), Code::stamp_not_recorded) << "nothing was opened";
}

TEST_F(TensorRangeTest, ARangeIsRecordedWithTheOperators) {
  trace::discard();
  ASSERT_TRUE(push_tensor_range(range_).ok());
  ASSERT_TRUE(pop_tensor_range().ok());
  OpNames off;
  trace::drain(off);
  EXPECT_TRUE(off.names.empty()) << "operators are not collected";
  trace::set_mask(trace::bit(trace::Category::op));
  ASSERT_TRUE(push_tensor_range(range_).ok());
  ASSERT_TRUE(pop_tensor_range().ok());
  OpNames on;
  trace::drain(on);
  ASSERT_FALSE(on.names.empty());
  EXPECT_EQ(on.names[0], "my_add");
}

}  // namespace
}  // namespace anynpu::service
