// SPDX-License-Identifier: Apache-2.0
#include "service/config/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "service/config/section_reader.h"

namespace anynpu::service {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

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

TEST(DumpConfig, ReadsAModelDump) {
  const RuntimeConfig config = parsed(R"({"dump":{"dump_list":[{"model_name":"resnet50"},
    {"model_name":"other","layer":["conv1","pool1"]}],"dump_path":"./output","dump_mode":"all",
    "dump_level":"op","dump_data":"tensor"}})");
  ASSERT_TRUE(config.dump && config.dump->enabled());
  EXPECT_TRUE(config.dump->models);
  EXPECT_EQ(config.dump->mode, "all");
  ASSERT_EQ(config.dump->targets.size(), 2u);
  EXPECT_THAT(config.dump->targets[1].layers, ElementsAre("conv1", "pool1"));
}

TEST(DumpConfig, ReadsTheOtherKindsOfDump) {
  EXPECT_TRUE(parsed(R"({"dump":{"dump_path":"o","dump_debug":"on"}})").dump->overflow);
  EXPECT_TRUE(parsed(R"({"dump":{"dump_path":"o","dump_list":[{}],"dump_op_switch":"on"}})")
                  .dump->single_ops);
  EXPECT_TRUE(parsed(R"({"dump":{"dump_path":"o","dump_list":[]}})").dump->models);
  EXPECT_EQ(parsed(R"({"dump":{"dump_scene":"lite_exception"}})").dump->scene,
            DumpScene::exception_brief);
  EXPECT_THAT(
      parsed(R"({"dump":{"dump_path":"o","dump_kernel_data":"printf,tensor"}})").dump->kernel_data,
      ElementsAre("printf", "tensor"));
  EXPECT_FALSE(parsed(R"({"dump":{}})").dump->enabled());
}

TEST(DumpConfig, BadSectionsAreAnInvalidDumpConfig) {
  for (
      const char* bad : {
          R"("on")",
          R"({"dump_list":[{"model_name":"m"}]})",
          R"({"dump_path":"o","dump_list":[{"model_name":"m"}],"dump_mode":"both"})",
          R"({"dump_path":"o","dump_list":[{}]})",
          R"({"dump_path":"o","dump_list":{}})",
          R"({"dump_path":"o","dump_list":[{"model_name":"m","layer":"x"}]})",
          R"({"dump_path":"o","dump_debug":"on","dump_list":[{"model_name":"m"}]})",
          R"({"dump_path":"o","dump_debug":"on","dump_op_switch":"on"})",
          R"({"dump_path":"o","dump_debug":true})",
          R"({"dump_path":1,"dump_debug":"on"})",
          R"({"dump_debug":"on"})",
          R"({"dump_scene":"sometimes"})",
          R"({"dump_path":"o","dump_scene":"aic_err_brief_dump","dump_op_switch":"on"})",
          R"({"dump_path":"o","dump_scene":"watcher"})",
          R"({"dump_path":"o","dump_scene":"watcher","dump_mode":"all","dump_list":[{"layer":["a"],"watcher_nodes":["b"]}]})",
          R"({"dump_path":"o","dump_kernel_data":"printf,everything"})",
          R"({"dump_scene":"aic_err_norm_dump","dump_stats":["Max"]})",
      }) {
    EXPECT_EQ(code_of(format("{{\"dump\":{}}}", bad)), Code::invalid_dump_config) << bad;
  }
}

TEST(ProfilerConfig, ReadsKeysAsText) {
  const RuntimeConfig config = parsed(R"({"profiler":{"switch":"on","output":"result","aic_metrics":
    "PipeUtilization","ascendcl":"on","storage_limit":"250MB","sys_cpu_freq":50}})");
  ASSERT_TRUE(config.profiler && config.profiler->on);
  EXPECT_EQ(config.profiler->output, "result");
  EXPECT_EQ(config.profiler->values.at("aic_metrics"), "PipeUtilization");
  EXPECT_EQ(config.profiler->values.at("sys_cpu_freq"), "50");
}

TEST(ProfilerConfig, AnySwitchButOnTurnsItOff) {
  EXPECT_FALSE(parsed(R"({"profiler":{}})").profiler->on);
  EXPECT_FALSE(parsed(R"({"profiler":{"switch":"ON","no_such_key":"x"}})").profiler->on);
}

TEST(ProfilerConfig, BadSectionsAreAnInvalidProfilerConfig) {
  for (const char* bad :
       {R"([])", R"({"switch":true})", R"({"switch":"on","output":"a;b"})",
        R"({"switch":"on","output":"a`b"})", R"({"switch":"on","output":"a\nb"})",
        R"({"switch":"on","aicpu":"yes"})", R"({"switch":"on","aic_metrics":"Everything"})",
        R"({"switch":"on","storage_limit":"250"})", R"({"switch":"on","storage_limit":"1MB"})",
        R"({"switch":"on","instr_profiling_freq":299})", R"({"switch":"on","no_such_key":"x"})",
        R"({"switch":"on","instr_profiling_freq":1000,"l2":"on"})",
        R"({"switch":"on","host_sys":"cpu,moon"})", R"({"switch":"on","sys_cpu_freq":"fast"})"}) {
    EXPECT_EQ(code_of(format("{{\"profiler\":{}}}", bad)), Code::invalid_profiler_config) << bad;
  }
}

struct ProfilerValues {
  const char* key;
  std::vector<const char*> good, bad;  // as JSON
};

TEST(ProfilerConfig, EveryKeyTakesItsValuesAndNoOthers) {
  const std::vector<const char*> on_off = {R"("on")", R"("off")"};
  const std::vector<const char*> not_on_off = {R"("yes")", R"("")", "1", "true", "null", "[]"};
  const std::vector<ProfilerValues> keys = {
      {"output", {R"("o")", R"("a/b-c.d")", R"("")"}, {"1", "null", R"("a;b")", R"("a|b")"}},
      {"aic_metrics",
       {R"("ArithmeticUtilization")", R"("PipeUtilization")", R"("Memory")", R"("MemoryL0")",
        R"("ResourceConflictRatio")", R"("MemoryUB")", R"("L2Cache")",
        R"("PipelineExecuteUtilization")", R"("MemoryAccess")", R"("Custom:0x49,0x8")", R"("")"},
       {R"("Everything")", R"("Custom:")", "1"}},
      {"aicpu", on_off, not_on_off},
      {"l2", on_off, not_on_off},
      {"hccl", on_off, not_on_off},
      {"msproftx", on_off, not_on_off},
      {"ascendcl", on_off, not_on_off},
      {"runtime_api", on_off, not_on_off},
      {"task_time",
       {R"("on")", R"("off")", R"("l0")", R"("l1")", R"("l2")", R"("l3")"},
       {R"("l4")", R"("")", "1"}},
      {"task_trace", {R"("on")", R"("off")"}, {R"("l4")", R"("")", "1"}},
      {"task_tsfw", on_off, not_on_off},
      {"ge_api", {R"("off")", R"("l0")", R"("l1")"}, {R"("on")", R"("l2")", R"("")", "0"}},
      {"task_memory", on_off, not_on_off},
      {"storage_limit",
       {R"("200MB")", R"("4294967295MB")"},
       {R"("199MB")", R"("4294967296MB")", R"("200")", R"("MB")", R"("-1MB")", "200"}},
      {"instr_profiling", on_off, not_on_off},
      {"instr_profiling_freq", {"300", "30000"}, {"299", "30001", "-1", "300.5", R"("fast")"}},
      {"sys_hardware_mem_freq", {"1", "100"}, {"0", "101", "-1", "1.5", R"("fast")", "null"}},
      {"llc_profiling", {R"("read")", R"("write")"}, {R"("both")", R"("")", "1"}},
      {"sys_io_sampling_freq", {"1", "100"}, {"0", "101", R"("fast")"}},
      {"sys_interconnection_freq", {"1", "50"}, {"0", "51", R"("fast")"}},
      {"sys_cpu_freq", {"1", "50"}, {"0", "51", R"("fast")"}},
      {"dvpp_freq", {"1", "100"}, {"0", "101", R"("fast")"}},
      {"host_sys",
       {R"("cpu")", R"("cpu,mem,disk,network,osrt,numa")"},
       {R"("gpu")", R"("cpu,,mem")", R"("")", "1"}},
      {"host_sys_usage", {R"("cpu")", R"("cpu,mem")"}, {R"("disk")", R"("")", "1"}},
      {"host_sys_usage_freq", {"1", "50"}, {"0", "51", R"("fast")"}},
      {"sys_mem_serviceflow", {R"("x")"}, {R"("")", "1"}},
      {"sys_lp_freq", {"1", "100"}, {"0", "101", R"("fast")"}},
      {"optype", {R"("Conv,MatMul")"}, {"1", "[]"}},
  };
  for (const ProfilerValues& key : keys) {
    const auto section = [&](const char* value) {
      return format(R"({{"profiler":{{"switch":"on","{}":{}}}}})", key.key, value);
    };
    for (const char* good : key.good) EXPECT_EQ(code_of(section(good)), Code::ok) << good;
    for (const char* bad : key.bad) {
      const Status status = parse_config(section(bad), "acl.json").status();
      EXPECT_EQ(status.code(), Code::invalid_profiler_config) << section(bad);
      EXPECT_THAT(status.message(), HasSubstr(format("'{}'", key.key))) << section(bad);
    }
  }
}

TEST(RuntimeConfig, MessagesNameTheKeyItsValueAndWhatIsExpected) {
  const Status status =
      parse_config(R"({"dump":{"dump_path":"o","dump_mode":"both"}})", "acl.json").status();
  EXPECT_EQ(status.message(), "dump: 'dump_mode' is 'both'; expected one of: output, input, all");
}

}  // namespace
}  // namespace anynpu::service
