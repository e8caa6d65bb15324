// SPDX-License-Identifier: Apache-2.0
#include "service/model/aipp_parameters.h"

#include <gtest/gtest.h>

#include <cmath>

namespace anynpu::service {
namespace {

TEST(AippParameters, ABatchHasOneToAsManyPicturesAsTheInputHolds) {
  EXPECT_EQ(AippParameters::create(0).status().code(), Code::invalid_argument);
  EXPECT_EQ(AippParameters::create(ops::kMostAippPictures + 1).status().code(),
            Code::invalid_argument);
  EXPECT_EQ(*AippParameters::bytes_of(2), ops::aipp_bytes(2));
  EXPECT_FALSE(AippParameters::bytes_of(0).ok());
}

TEST(AippParameters, ValuesOutsideTheirRangeAreNamedAndChangeNothing) {
  const auto set = *AippParameters::create(2);
  EXPECT_EQ(set->set_format(5).message(), "inputFormat is 5; expected 1 to 4 or 7 to 10");
  EXPECT_FALSE(set->set_rbuv_swap(2).ok());
  EXPECT_FALSE(set->set_ax_swap(-1).ok());
  EXPECT_FALSE(set->set_source_size(1, 8).ok());
  EXPECT_FALSE(set->set_scaling(0, {1, 0, 8, 8, 8}).ok());
  EXPECT_FALSE(set->set_crop(0, {1, 0, 0, 0, 8}).ok());
  EXPECT_FALSE(set->set_padding(0, {1, 33, 0, 0, 0}).ok());
  EXPECT_FALSE(set->set_minimum(0, {NAN, 0, 0, 0}).ok());
  EXPECT_FALSE(set->set_variance(0, {70000, 0, 0, 0}).ok());
  EXPECT_EQ(set->set_mean(2, {}).message(),
            "batchIndex is 2, the parameters are for 2 pictures; expected 0 to 1");
  EXPECT_TRUE(set->read([](const AippParameters::Values& values) -> Status {
                   EXPECT_EQ(values.header.source_w, 0);
                   EXPECT_EQ(values.pictures[0].crop, 0);
                   EXPECT_EQ(values.pictures[0].variance_of(0), 1.0f);
                   return {};
                 })
                  .ok());
}

TEST(AippParameters, EachPictureHasItsOwn) {
  const auto set = *AippParameters::create(2);
  ASSERT_TRUE(set->set_source_size(64, 32).ok());
  ASSERT_TRUE(set->set_crop(1, {1, 2, 3, 16, 8}).ok());
  ASSERT_TRUE(set->set_mean(1, {10, 20, 30, 40}).ok());
  EXPECT_TRUE(set->read([](const AippParameters::Values& values) -> Status {
                   EXPECT_EQ(values.header.source_h, 32);
                   EXPECT_EQ(values.pictures[0].crop, 0);
                   EXPECT_EQ(values.pictures[1].crop_w, 16);
                   EXPECT_EQ(values.pictures[1].mean[3], 40);
                   return {};
                 })
                  .ok());
}

}  // namespace
}  // namespace anynpu::service
