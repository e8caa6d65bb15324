// SPDX-License-Identifier: Apache-2.0
#include "compile/option_texts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace anynpu::compile {
namespace {

using testing::HasSubstr;

// The values given, with the defaults of atc.
Status read(std::map<std::string, std::string> given, Options& options, bool caffe = false) {
  std::map<std::string, std::string> all = {
      {"input_format", "NCHW"}, {"precision_mode_v2", "origin"}, {"is_weight_clip", "1"}};
  for (const auto& [name, value] : given) all[name] = value;
  const OptionTexts texts = {
      [&all](std::string_view name) { return all[std::string(name)]; },
      [&given](std::string_view name) { return given.contains(std::string(name)); }};
  return read_model_options(texts, caffe, options);
}

std::string message_of(std::map<std::string, std::string> given, bool caffe = false) {
  Options options;
  const Status status = read(std::move(given), options, caffe);
  return status.ok() ? "" : status.to_string();
}

TEST(OptionTexts, ShapesGearsAndOutputsAreRead) {
  Options options;
  ASSERT_TRUE(read({{"input_shape", "x:-1,3"},
                    {"dynamic_batch_size", "1,2"},
                    {"out_nodes", "a:0;b:1"},
                    {"output_type", "FP16"}},
                   options)
                  .ok());
  EXPECT_EQ(options.gears.kind, om::GearKind::batch);
  EXPECT_EQ(options.out_nodes.size(), 2u);
}

TEST(OptionTexts, OptionsThatExcludeEachOtherAreNamed) {
  EXPECT_THAT(message_of({{"precision_mode", "force_fp16"}, {"precision_mode_v2", "fp16"}}),
              HasSubstr("--precision_mode_v2 exclude each other"));
  EXPECT_THAT(message_of({{"input_shape", "x:1"}, {"input_shape_range", "x:[1~2]"}}),
              HasSubstr("--input_shape_range excludes --input_shape"));
}

TEST(OptionTexts, WhatAnOptionNeedsIsNamed) {
  EXPECT_THAT(message_of({{"dynamic_batch_size", "1,2"}}), HasSubstr("--input_shape is missing"));
  EXPECT_THAT(message_of({{"input_shape", "x:-1,-1"}, {"dynamic_dims", "1,2;3,4"}}),
              HasSubstr("needs --input_format=ND"));
  EXPECT_THAT(message_of({{"is_input_adjust_hw_layout", "true"}}),
              HasSubstr("needs --input_fp16_nodes"));
}

TEST(OptionTexts, FormatsDependOnTheFramework) {
  EXPECT_EQ(message_of({{"input_format", "NHWC"}}), "");
  EXPECT_THAT(message_of({{"input_format", "NHWC"}}, true), HasSubstr("for Caffe"));
}

TEST(OptionTexts, AFileThatIsNotThereIsNamedWithItsOption) {
  EXPECT_THAT(message_of({{"fusion_switch_file", "/nowhere.cfg"}}),
              HasSubstr("--fusion_switch_file"));
}

}  // namespace
}  // namespace anynpu::compile
