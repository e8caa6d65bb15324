// SPDX-License-Identifier: Apache-2.0
#include "import/caffe/fields.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "import/caffe/net_for_test.h"

namespace anynpu::caffe {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(CaffeFields, AFieldThatNobodyKnowsComesWithTheNearestOne) {
  EXPECT_THAT(message_about("type: 'Pooling' pooling_param { kernal_size: 2 }"),
              HasSubstr("did you mean 'kernel_size'?"));
}

TEST(CaffeFields, AFieldOfTheNetIsCheckedToo) {
  const auto graph = import_memory("nmae: 'net'", {}, {}, {}, "net.prototxt");
  EXPECT_THAT(graph.status().to_string(), HasSubstr("'nmae'"));
}

}  // namespace
}  // namespace anynpu::caffe
