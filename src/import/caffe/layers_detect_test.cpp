// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "import/caffe/net_for_test.h"

namespace anynpu::caffe {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(CaffeDetect, PriorBoxesAreAConstant) {
  const Imported made =
      import_layer("type: 'PriorBox' bottom: 'x' prior_box_param { min_size: 2 }");
  EXPECT_EQ(made.shape, (Shape{1, 2, 8 * 8 * 4}));
}

TEST(CaffeDetect, PriorBoxesNeedASize) {
  EXPECT_THAT(message_about("type: 'PriorBox' bottom: 'x' prior_box_param { offset: 0.5 }"),
              HasSubstr("expected at least one min_size"));
  EXPECT_THAT(message_about("type: 'PriorBox' bottom: 'x' "
                            "prior_box_param { min_size: 2 aspect_ratio: -1 }"),
              HasSubstr("aspect_ratio is -1"));
}

}  // namespace
}  // namespace anynpu::caffe
