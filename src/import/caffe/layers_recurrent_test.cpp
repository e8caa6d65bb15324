// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "import/caffe/net_for_test.h"

namespace anynpu::caffe {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(CaffeRecurrent, AnLstmNeedsTheSizeOfItsState) {
  EXPECT_FALSE(message_about("type: 'LSTM' bottom: 'x'", "3 2 4").empty());
  EXPECT_THAT(message_about("type: 'LSTM' bottom: 'x'", "3 2 4"), HasSubstr("'l'"));
}

}  // namespace
}  // namespace anynpu::caffe
