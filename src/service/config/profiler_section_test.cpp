// SPDX-License-Identifier: Apache-2.0
// The section "profiler" of acl.json.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "service/config/config.h"

namespace anynpu::service {
namespace {

using testing::HasSubstr;

// What parse_profiler makes of a section.
Result<ProfilerConfig> section(std::string_view text) {
  const auto value = json::parse(text, "acl.json");
  EXPECT_TRUE(value.ok()) << value.status().to_string();
  return parse_profiler(*value);
}
Code code_of(std::string_view text) { return section(text).status().code(); }
ProfilerConfig parsed(std::string_view text) {
  auto config = section(text);
  EXPECT_TRUE(config.ok()) << config.status().to_string();
  return config.ok() ? *config : ProfilerConfig();
}

TEST(ProfilerConfig, ReadsKeysAsText) {
  const ProfilerConfig config = parsed(R"({"switch":"on","output":"result","aic_metrics":
    "PipeUtilization","ascendcl":"on","storage_limit":"250MB","sys_cpu_freq":50})");
  ASSERT_TRUE(config.on);
  EXPECT_EQ(config.output, "result");
  EXPECT_EQ(config.values.at("aic_metrics"), "PipeUtilization");
  EXPECT_EQ(config.values.at("sys_cpu_freq"), "50");
}

TEST(ProfilerConfig, AnySwitchButOnTurnsItOff) {
  EXPECT_FALSE(parsed(R"({})").on);
  EXPECT_FALSE(parsed(R"({"switch":"ON","no_such_key":"x"})").on);
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
    EXPECT_EQ(code_of(bad), Code::invalid_profiler_config) << bad;
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
    const auto with = [&](const char* value) {
      return format(R"({{"switch":"on","{}":{}}})", key.key, value);
    };
    for (const char* good : key.good) EXPECT_EQ(code_of(with(good)), Code::ok) << good;
    for (const char* bad : key.bad) {
      const Status status = section(with(bad)).status();
      EXPECT_EQ(status.code(), Code::invalid_profiler_config) << with(bad);
      EXPECT_THAT(status.message(), HasSubstr(format("'{}'", key.key))) << with(bad);
    }
  }
}

}  // namespace
}  // namespace anynpu::service
