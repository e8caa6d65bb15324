// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "import/caffe/net_for_test.h"

namespace anynpu::caffe {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(CaffeYolo, ChannelsAreBoxesTimesTheirEntries) {
  EXPECT_THAT(message_about("type: 'Yolo' yolo_param { boxes: 3 coords: 4 classes: 2 }"),
              HasSubstr("expected 21 channels"));
}

TEST(CaffeYolo, AMapKeepsItsShape) {
  EXPECT_EQ(
      import_layer("type: 'Yolo' yolo_param { boxes: 1 coords: 4 classes: 2 }", "1 7 8 8").shape,
      (Shape{1, 7, 8, 8}));
}

TEST(CaffeYolo, VersionsOfOthersAreRefused) {
  EXPECT_THAT(message_about("type: 'Yolo' yolo_param { boxes: 1 yolo_version: 'V9' }", "1 7 8 8"),
              HasSubstr("yolo_version is 'V9'"));
}

}  // namespace
}  // namespace anynpu::caffe
