// SPDX-License-Identifier: Apache-2.0
// What a session collects: the documented data type bits and those they imply, the names of the AI
// Core metrics, and the settings given as text (set_config, acl.json, msprof).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "trace/event.h"

namespace anynpu::prof {

namespace bits {
constexpr uint64_t kAclApi = 0x1, kTaskTime = 0x2, kAicoreMetrics = 0x4, kAicpu = 0x8,
                   kL2Cache = 0x10, kHccl = 0x20, kTrainingTrace = 0x40, kMsproftx = 0x80,
                   kRuntimeApi = 0x100, kGeApiL0 = 0x200, kTaskTimeL0 = 0x800, kTaskMemory = 0x1000,
                   kTaskTimeL2 = 0x2000, kOpAttr = 0x4000, kTaskTimeL3 = 0x8000,
                   kGeApiL1 = 0x01000000, kApiStats = 0x400000000, kAicoreShape = 0x800000000;
constexpr uint64_t kAll = kAclApi | kTaskTime | kAicoreMetrics | kAicpu | kL2Cache | kHccl |
                          kTrainingTrace | kMsproftx | kRuntimeApi | kGeApiL0 | kTaskTimeL0 |
                          kTaskMemory | kTaskTimeL2 | kOpAttr | kTaskTimeL3 | kGeApiL1 | kApiStats |
                          kAicoreShape;
}  // namespace bits

constexpr uint32_t kNoMetrics = 0xFF;

// The given bits and those they imply.
uint64_t with_implied(uint64_t data_types);
// Which trace events they need.
trace::Mask categories_of(uint64_t data_types);
// "PipeUtilization"; "" for numbers that no metric has.
std::string_view metrics_name(uint32_t metrics);
// Whether a chip ("Ascend310P3") supports the metrics; unknown chips support all.
bool chip_has_metrics(std::string_view soc, uint32_t metrics);

// Settings by their names in acl.json: "sys_hardware_mem_freq" -> "15".
using Settings = std::map<std::string, std::string>;
// Checks one setting of set_config (its number in the documents) and adds it. Fails with
// invalid_argument for numbers that no setting has, with invalid_config for values.
Status add_setting(int32_t type, std::string_view value, Settings& settings);
// The bits that the switches of acl.json or msprof stand for.
uint64_t data_types_of(const Settings& switches);

struct SessionConfig {
  std::string output;
  std::vector<int32_t> devices;  // empty: all that are used
  uint64_t data_types = 0;
  uint32_t metrics = kNoMetrics;
  Settings settings;
  std::string app;
};

// As it stands in sample.json.
json::Value sample_json(const SessionConfig& config, const std::string& result_dir);

}  // namespace anynpu::prof
