// SPDX-License-Identifier: Apache-2.0
#include "service/model/aipp.h"

#include <gtest/gtest.h>

#include "service/model/aipp_parameters.h"
#include "service/model/model_for_test.h"

namespace anynpu::service {
namespace {

class AippTest : public ServiceTest {
 protected:
  void SetUp() override {
    ServiceTest::SetUp();
    id_ = load_for_test(compile_relu());
  }
  std::array<float, 4> x_{};
  OneBuffer inputs_{&x_, sizeof x_};
  HandleForTest<AippParameters> parameters_{*AippParameters::create(1)};
  uint32_t id_ = 0;
};

TEST_F(AippTest, AModelWithoutAippHasNone) {
  EXPECT_EQ(aipp_of_input(id_, 0)->kind, AippKind::none);
  EXPECT_FALSE(aipp_of_input(id_, 0)->parameter_index);
  EXPECT_EQ(aipp_of_input(id_, 1).status().code(), Code::invalid_argument);
  EXPECT_EQ(fixed_aipp_of_input(id_, 0).status().code(), Code::no_static_aipp);
  EXPECT_EQ(fixed_aipp_of_input(id_ + 1, 0).status().code(), Code::model_not_found);
}

TEST_F(AippTest, ParametersNeedAnInputWithDynamicAipp) {
  for (AippIndex kind : {AippIndex::pictures, AippIndex::parameters}) {
    EXPECT_EQ(set_aipp(id_, inputs_, kind, 0, parameters_).code(), Code::no_dynamic_aipp);
  }
  EXPECT_EQ(set_aipp(id_, inputs_, AippIndex::pictures, 0, 0).code(), Code::invalid_handle);
  EXPECT_EQ(set_aipp(id_, 0, AippIndex::pictures, 0, parameters_).code(), Code::invalid_handle);
  EXPECT_EQ(set_aipp(id_ + 1, inputs_, AippIndex::pictures, 0, parameters_).code(),
            Code::model_not_found);
}

}  // namespace
}  // namespace anynpu::service
