// SPDX-License-Identifier: Apache-2.0
#include "service/model/gears.h"

#include <gtest/gtest.h>

#include "service/model/execute.h"
#include "service/model/model_desc.h"
#include "service/model/model_for_test.h"

namespace anynpu::service {
namespace {

using om::GearKind;

om::Model relu_with_batches() {
  compile::Options options;
  options.input_shapes = *compile::parse_input_shapes("x:-1,2");
  options.gears = *compile::parse_gears("1,2,4", "", "");
  return compile_relu({-1, 2}, options);
}

class GearsTest : public ServiceTest {
 protected:
  void SetUp() override {
    ServiceTest::SetUp();
    id_ = load_for_test(relu_with_batches());
    ASSERT_TRUE(inputs_->add(data_).ok());
    ASSERT_TRUE(inputs_->add(gear_).ok());
    ASSERT_TRUE(desc_->fill(id_).ok());
  }

  std::array<float, 8> x_{-1, 2, -3, 4, -5, 6, -7, 8}, y_{};
  int64_t number_ = 0;
  HandleForTest<DataBuffer> data_{std::make_shared<DataBuffer>(DataBuffer{&x_, sizeof x_})};
  HandleForTest<DataBuffer> gear_{
      std::make_shared<DataBuffer>(DataBuffer{&number_, sizeof number_})};
  HandleForTest<Dataset> inputs_{std::make_shared<Dataset>()};
  OneBuffer outputs_{&y_, sizeof y_};
  HandleForTest<ModelDesc> desc_{std::make_shared<ModelDesc>()};
  uint32_t id_ = 0;
};

TEST_F(GearsTest, TheChosenGearIsWrittenAndExecuted) {
  const Status status = set_gear(id_, inputs_, 1, GearKind::batch, {2});
  ASSERT_TRUE(status.ok()) << status.to_string();
  EXPECT_EQ(number_, 2);
  EXPECT_EQ(current_output_shape(desc_, 0)->shape, (Shape{2, 2}));
  ASSERT_TRUE(execute({id_, inputs_, outputs_}).ok());
  EXPECT_EQ(y_, (std::array<float, 8>{0, 2, 0, 4}));
}

TEST_F(GearsTest, TheLargestCountsBeforeOneIsChosen) {
  EXPECT_EQ(current_output_shape(desc_, 0)->shape, (Shape{4, 2}));
  ASSERT_TRUE(execute({id_, inputs_, outputs_}).ok());
  EXPECT_EQ(y_[7], 8);
}

TEST_F(GearsTest, EachCauseOfAFailureHasItsCode) {
  EXPECT_EQ(set_gear(id_, inputs_, 1, GearKind::batch, {3}).code(), Code::gear_not_found);
  EXPECT_EQ(set_gear(id_, inputs_, 0, GearKind::batch, {2}).code(), Code::invalid_argument);
  EXPECT_EQ(set_gear(id_, inputs_, 1, GearKind::image, {2, 2}).code(), Code::invalid_argument);
  EXPECT_EQ(set_gear(id_ + 1, inputs_, 1, GearKind::batch, {2}).code(), Code::model_not_found);
  *resolve<DataBuffer>(gear_).value() = {&number_, 4};
  EXPECT_EQ(set_gear(id_, inputs_, 1, GearKind::batch, {2}).code(), Code::parameter_input_size);
  const uint32_t plain = load_for_test(compile_relu());
  EXPECT_EQ(set_gear(plain, inputs_, 1, GearKind::batch, {2}).code(), Code::model_has_no_gears);
  EXPECT_EQ(number_, 0);
}

TEST_F(GearsTest, GearsAndRangesAreListed) {
  EXPECT_EQ(gears_of(desc_, GearKind::batch)->size(), 3u);
  EXPECT_TRUE(gears_of(desc_, GearKind::dims)->empty());
  EXPECT_EQ(dims_gears(desc_, 9).status().code(), Code::invalid_argument);
  const auto ranges = input_ranges(desc_, 0);
  ASSERT_TRUE(ranges.ok());
  EXPECT_EQ(ranges->ranges, (std::vector<om::Range>{{1, 4}, {2, 2}}));
}

}  // namespace
}  // namespace anynpu::service
