// SPDX-License-Identifier: Apache-2.0
#include "service/config/config.h"

#include <gtest/gtest.h>

namespace anynpu::service {
namespace {

Code code_of(std::string_view text) {
  const auto config = parse_config(text, "acl.json");
  if (config.ok()) return Code::ok;
  EXPECT_FALSE(config.status().message().empty());
  return config.status().code();
}

RuntimeConfig parsed(std::string_view text) {
  auto config = parse_config(text, "acl.json");
  EXPECT_TRUE(config.ok()) << config.status().to_string();
  return config.ok() ? *config : RuntimeConfig();
}

TEST(RuntimeConfig, AnEmptyObjectGivesTheDefaults) {
  const RuntimeConfig config = parsed("{}");
  EXPECT_FALSE(config.dump);
  EXPECT_FALSE(config.profiler);
  EXPECT_EQ(config.max_opqueue_num, 20000u);
  EXPECT_EQ(config.message_scope, MessageScope::thread);
  EXPECT_EQ(config.aicore_stack_size, 32768u);
}

TEST(RuntimeConfig, ReadsEveryTopLevelKey) {
  const RuntimeConfig config = parsed(R"({"max_opqueue_num":"10000","err_msg_mode":"1",
    "defaultDevice":{"default_device":"3"},"StackSize":{"aicore_stack_size":40000},
    "simt_printf_fifo_size":1048577,"simd_printf_fifo_size_per_core":1025,"unknown":1})");
  EXPECT_EQ(config.max_opqueue_num, 10000u);
  EXPECT_EQ(config.message_scope, MessageScope::process);
  EXPECT_EQ(config.default_device, 3);
  EXPECT_EQ(config.aicore_stack_size, 49152u);
  EXPECT_EQ(config.simt_printf_fifo_size, 1048584u);
  EXPECT_EQ(config.simd_printf_fifo_size_per_core, 1032u);
}

TEST(RuntimeConfig, TextThatIsNoJsonObjectIsAParseError) {
  for (const char* bad : {"", "{", "[]", "1", "{\"a\":}"}) {
    EXPECT_EQ(code_of(bad), Code::parse_error) << bad;
  }
  std::string deep;
  for (int i = 0; i < 11; ++i) deep += "{\"a\":";
  EXPECT_EQ(code_of(deep + "1" + std::string(11, '}')), Code::parse_error);
}

TEST(RuntimeConfig, ABadQueueLengthHasACauseOfItsOwn) {
  for (const char* bad :
       {"0", "-1", "\"0\"", "\"-5\"", "\"many\"", "10000", "\"99999999999999999999\""}) {
    EXPECT_EQ(code_of(format("{{\"max_opqueue_num\":{}}}", bad)), Code::invalid_op_queue_config)
        << bad;
  }
}

TEST(RuntimeConfig, OtherBadValuesAreAnInvalidConfig) {
  for (const char* bad : {R"({"err_msg_mode":"2"})", R"({"err_msg_mode":1})",
                          R"({"defaultDevice":{"default_device":"-1"}})",
                          R"({"defaultDevice":"0"})", R"({"StackSize":{"aicore_stack_size":-1}})",
                          R"({"StackSize":[]})", R"({"simt_printf_fifo_size":1})"}) {
    EXPECT_EQ(code_of(bad), Code::invalid_config) << bad;
  }
}

TEST(RuntimeConfig, WhatTheLibraryWasInitialisedWithStaysUntilItIsSetAgain) {
  RuntimeConfig config;
  config.default_device = 3;
  set_current_config(config);
  const auto before = current_config();
  set_current_config({});
  EXPECT_EQ(before->default_device, 3);
  EXPECT_FALSE(current_config()->default_device);
}

TEST(RuntimeConfig, NoFileGivesTheDefaultsAndAMissingOneFails) {
  ASSERT_TRUE(load_config(nullptr).ok());
  ASSERT_TRUE(load_config("").ok());
  EXPECT_EQ(load_config("")->max_opqueue_num, 20000u);
  EXPECT_EQ(load_config("/no/such/acl.json").status().code(), Code::file_not_found);
}

TEST(RuntimeConfig, SectionsAreReadAndTheirFailuresKeepTheirCause) {
  const RuntimeConfig config =
      parsed(R"({"dump":{"dump_path":"o","dump_list":[]},"profiler":{"switch":"on"}})");
  EXPECT_TRUE(config.dump && config.dump->models);
  EXPECT_TRUE(config.profiler && config.profiler->on);
  EXPECT_EQ(code_of(R"({"dump":{"dump_debug":"on"}})"), Code::invalid_dump_config);
  EXPECT_EQ(code_of(R"({"profiler":{"no_such_key":"x"},"dump":{}})"), Code::ok)
      << "a profiler that is off is not looked at";
  EXPECT_EQ(code_of(R"({"profiler":{"switch":"on","no_such_key":"x"}})"),
            Code::invalid_profiler_config);
}

}  // namespace
}  // namespace anynpu::service
