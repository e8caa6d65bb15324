// SPDX-License-Identifier: Apache-2.0
#include "service/graph_build/graph_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace anynpu::service {
namespace {

using testing::HasSubstr;

TEST(GraphOptions, StandForOptionsOfAtc) {
  const auto read = read_graph_options({{"input_shape", "x:1,3,8,8"},
                                        {"input_format", "NHWC"},
                                        {"ge.exec.precision_mode", "force_fp16"},
                                        {"ge.outputNodeName", "node:0"}});
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(read->input_shapes.size(), 1u);
  EXPECT_EQ(read->input_format, Format::nhwc);
  EXPECT_EQ(read->out_nodes, std::vector<std::string>{"node:0"});
}

TEST(GraphOptions, AnEmptyValueIsAnOptionThatWasNotGiven) {
  const auto read = read_graph_options({{"ge.exec.precision_mode", ""}, {"input_shape", ""}});
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_TRUE(read->input_shapes.empty());
}

TEST(GraphOptions, WhatSteersTheCardIsAccepted) {
  EXPECT_TRUE(read_graph_options(
                  {{"ge.opSelectImplmode", "high_precision"}, {"ge.optypelistForImplmode", "Gelu"}})
                  .ok());
}

TEST(GraphOptions, AnUnknownNameIsRefusedWithTheNearestOne) {
  const auto read = read_graph_options({{"ge.socVersoin", "Ascend310P3"}});
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.status().code(), Code::invalid_argument);
  EXPECT_THAT(read.status().message(), HasSubstr("did you mean 'ge.socVersion'"));
}

TEST(GraphOptions, ValuesAreCheckedAsAtcChecksThem) {
  EXPECT_FALSE(read_graph_options({{"ge.exec.precision_mode", "half"}}).ok());
  EXPECT_FALSE(read_graph_options({{"ge.dynamicBatchSize", "1,2"}}).ok()) << "without input_shape";
  EXPECT_FALSE(read_graph_options({{"input_format", "WCHN"}}).ok());
}

}  // namespace
}  // namespace anynpu::service
