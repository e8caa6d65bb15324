// SPDX-License-Identifier: Apache-2.0
#include "prof/config.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "base/text.h"

namespace anynpu::prof {

namespace {

constexpr std::string_view kMetricNames[] = {
    "ArithmeticUtilization", "PipeUtilization", "Memory",  "MemoryL0",
    "ResourceConflictRatio", "MemoryUB",        "L2Cache", "PipelineExecuteUtilization",
    "MemoryAccess"};

enum class Takes { storage, number, words, text, metrics };

struct Setting {
  int32_t type;
  std::string_view name;
  Takes takes;
  int64_t low = 0, high = 0;
  std::array<std::string_view, 6> words = {};
};

// The settings of set_config by their documented numbers.
constexpr Setting kSettings[] = {
    {1, "storage_limit", Takes::storage},
    {3, "sys_hardware_mem_freq", Takes::number, 1, 100},
    {4, "llc_profiling", Takes::words, 0, 0, {"read", "write"}},
    {5, "sys_io_sampling_freq", Takes::number, 1, 100},
    {6, "sys_interconnection_freq", Takes::number, 1, 50},
    {7, "dvpp_freq", Takes::number, 1, 100},
    {8, "host_sys", Takes::words, 0, 0, {"cpu", "mem", "disk", "network", "osrt", "numa"}},
    {9, "host_sys_usage", Takes::words, 0, 0, {"cpu", "mem"}},
    {10, "host_sys_usage_freq", Takes::number, 1, 50},
    {11, "sys_lp_freq", Takes::number, 1, 100},
    {12, "sys_mem_serviceflow", Takes::text},
    {13, "sys_cpu_freq", Takes::number, 1, 50},
    {14, "optype", Takes::text},
    {15, "nts_metrics", Takes::metrics},
    {16, "output", Takes::text},
};

std::optional<int64_t> parse_number(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

Status bad_value(const Setting& setting, std::string_view value, const std::string& expected) {
  return fail(Code::invalid_config, "the setting {} ({}) is '{}'; expected {}", setting.type,
              setting.name, value, expected);
}

Status check_words(const Setting& setting, std::string_view value) {
  std::string expected = "a comma list of";
  for (std::string_view word : setting.words) {
    if (!word.empty()) expected += " " + std::string(word);
  }
  for (std::string_view word : split(value, ',')) {
    if (word.empty() || !contains(setting.words, word)) return bad_value(setting, value, expected);
  }
  return {};
}

bool is_custom_metrics(std::string_view value) {
  if (!value.starts_with("Custom:")) return false;
  const auto events = split(value.substr(7), ',');
  return events.size() <= 10 && std::all_of(events.begin(), events.end(), [](auto text) {
           const auto event = parse_number(text);
           return event && *event >= 0 && *event <= 65535;
         });
}

Status check_setting(const Setting& setting, std::string_view value) {
  switch (setting.takes) {
    case Takes::storage: {
      const auto count =
          value.ends_with("MB") ? parse_number(value.substr(0, value.size() - 2)) : std::nullopt;
      if (count && *count >= 200 && *count <= 4294967295) return {};
      return bad_value(setting, value, "a size from 200MB to 4294967295MB, for example 500MB");
    }
    case Takes::number: {
      const auto number = parse_number(value);
      if (number && *number >= setting.low && *number <= setting.high) return {};
      return bad_value(setting, value, format("a number from {} to {}", setting.low, setting.high));
    }
    case Takes::words:
      return check_words(setting, value);
    case Takes::metrics:
      if (value == "PipeUtilization" || is_custom_metrics(value)) return {};
      return fail(
          Code::invalid_argument,
          "the setting {} ({}) is '{}'; expected PipeUtilization, or Custom: and one to ten "
          "events from 0 to 65535 with commas between them",
          setting.type, setting.name, value);
    case Takes::text:
      if (!value.empty()) return {};
      return bad_value(setting, value, "a text that is not empty");
  }
  return {};
}

}  // namespace

uint64_t with_implied(uint64_t types) {
  using namespace bits;
  if (types & kApiStats) return kAclApi | kApiStats;
  if (types & kTaskTimeL3) types |= kTaskTimeL2;
  if (types & (kTaskTimeL2 | kOpAttr)) types |= kTaskTime;
  if (types & kTaskTime) types |= kTaskTimeL0;
  if (types & kTaskTimeL0) types |= kTrainingTrace;
  return types;
}

trace::Mask categories_of(uint64_t types) {
  using trace::Category;
  types = with_implied(types);
  trace::Mask mask = 0;
  const auto add = [&](uint64_t wanted, std::initializer_list<Category> categories) {
    if (!(types & wanted)) return;
    for (Category category : categories) mask |= trace::bit(category);
  };
  add(bits::kAclApi, {Category::api, Category::copy, Category::callback});
  add(bits::kTaskTimeL0,
      {Category::task, Category::op, Category::copy, Category::media, Category::npc});
  add(bits::kRuntimeApi, {Category::copy, Category::memory});
  add(bits::kTaskMemory, {Category::memory, Category::counter});
  add(bits::kMsproftx, {Category::user});
  return mask;
}

std::string_view metrics_name(uint32_t metrics) {
  if (metrics == kNoMetrics) return "None";
  return metrics < std::size(kMetricNames) ? kMetricNames[metrics] : "";
}

bool chip_has_metrics(std::string_view soc, uint32_t metrics) {
  constexpr struct {
    std::string_view prefix;  // the first that fits counts
    uint32_t missing;         // a bit for each of the metrics
  } kChips[] = {
      {"Ascend310P", 1u << 6 | 1u << 7 | 1u << 8},
      {"Ascend310B", 1u << 8},
      {"Ascend910B1", 1u << 7},
      {"Ascend910B2", 1u << 7},
      {"Ascend910B3", 1u << 7},
      {"Ascend910B4", 1u << 7},
      {"Ascend910_9", 1u << 7},  // A3
      {"Ascend910", 1u << 6 | 1u << 7 | 1u << 8},
  };
  if (metrics == kNoMetrics) return true;
  for (const auto& chip : kChips) {
    if (soc.starts_with(chip.prefix)) return metrics < 32 && !(chip.missing >> metrics & 1);
  }
  return true;
}

Status add_setting(int32_t type, std::string_view value, Settings& settings) {
  for (const Setting& setting : kSettings) {
    if (setting.type != type) continue;
    ANYNPU_TRY(check_setting(setting, value));
    settings[std::string(setting.name)] = std::string(value);
    return {};
  }
  return fail(Code::invalid_argument,
              "the setting {} is not known; expected one of 1, 3 to 16 (ACL_PROF_STORAGE_LIMIT to "
              "ACL_PROF_PATH)",
              type);
}

uint64_t data_types_of(const Settings& switches) {
  const auto value = [&](const char* key, const char* otherwise) {
    const auto found = switches.find(key);
    return found == switches.end() ? std::string(otherwise) : found->second;
  };
  const auto on = [&](const char* key, const char* otherwise = "off") {
    return value(key, otherwise) == "on";
  };
  uint64_t types = 0;
  if (on("ascendcl", "on")) types |= bits::kAclApi;
  if (on("runtime_api", "on")) types |= bits::kRuntimeApi;
  if (on("msproftx")) types |= bits::kMsproftx;
  if (on("task_memory")) types |= bits::kTaskMemory;
  if (on("aicpu")) types |= bits::kAicpu;
  if (on("aicore_shape")) types |= bits::kAicoreShape;
  if (on("l2")) types |= bits::kL2Cache;
  if (on("hccl")) types |= bits::kHccl;
  const std::string level = value("task_time", value("task_trace", "on").c_str());
  if (level == "l0") types |= bits::kTaskTimeL0;
  if (level == "on" || level == "l1") types |= bits::kTaskTime;
  if (level == "l2") types |= bits::kTaskTimeL2;
  if (level == "l3") types |= bits::kTaskTimeL3;
  if (switches.contains("aic_metrics")) types |= bits::kAicoreMetrics;
  return with_implied(types);
}

json::Value sample_json(const SessionConfig& config, const std::string& result_dir) {
  std::string devices;
  for (int32_t id : config.devices) devices += (devices.empty() ? "" : ",") + std::to_string(id);
  json::Value out;
  out.set("app", config.app);
  out.set("devices", devices);
  out.set("result_dir", result_dir);
  out.set("dataTypeConfig", config.data_types);
  out.set("ai_core_profiling_mode", "task-based");
  out.set("ai_core_metrics", std::string(metrics_name(config.metrics)));
  out.set("ai_core_profiling_events", "");
  const struct {
    const char* key;
    uint64_t bit;
  } switches[] = {{"ascendcl", bits::kAclApi},
                  {"taskTime", bits::kTaskTimeL0},
                  {"opShapes", bits::kTaskTime | bits::kAicoreShape},
                  {"msproftx", bits::kMsproftx},
                  {"taskMemory", bits::kTaskMemory},
                  {"runtimeApi", bits::kRuntimeApi},
                  {"stepTrace", bits::kTrainingTrace},
                  {"apiStats", bits::kApiStats}};
  for (const auto& one : switches) out.set(one.key, config.data_types & one.bit ? "on" : "off");
  for (const auto& [key, value] : config.settings) out.set(key, value);
  return out;
}

}  // namespace anynpu::prof
