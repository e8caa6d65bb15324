// SPDX-License-Identifier: Apache-2.0
// The section "profiler" of acl.json: checked by one table of keys and what they take.
#include "service/config/config.h"
#include "service/config/section_reader.h"

namespace anynpu::service {

namespace {

enum class Takes {
  text,
  filled_text,
  on_off,
  level,
  ge_level,
  metrics,
  storage,
  number,
  host_list,
  usage_list,
  read_write
};

struct ProfilerKey {
  std::string_view name;
  Takes takes;
  int64_t low = 0;
  int64_t high = 0;
};

constexpr ProfilerKey kProfilerKeys[] = {
    {"switch", Takes::text},
    {"output", Takes::text},
    {"app", Takes::text},  // this and the next three: what msprof passes on
    {"mstx_domain_include", Takes::text},
    {"mstx_domain_exclude", Takes::text},
    {"aicore_shape", Takes::on_off},
    {"storage_limit", Takes::storage},
    {"aic_metrics", Takes::metrics},
    {"aicpu", Takes::on_off},
    {"l2", Takes::on_off},
    {"hccl", Takes::on_off},
    {"msproftx", Takes::on_off},
    {"task_time", Takes::level},
    {"task_trace", Takes::level},
    {"ascendcl", Takes::on_off},
    {"runtime_api", Takes::on_off},
    {"ge_api", Takes::ge_level},
    {"task_memory", Takes::on_off},
    {"instr_profiling", Takes::on_off},
    {"instr_profiling_freq", Takes::number, 300, 30000},
    {"task_tsfw", Takes::on_off},
    {"sys_hardware_mem_freq", Takes::number, 1, 100},
    {"sys_mem_serviceflow", Takes::filled_text},
    {"llc_profiling", Takes::read_write},
    {"sys_io_sampling_freq", Takes::number, 1, 100},
    {"sys_interconnection_freq", Takes::number, 1, 50},
    {"sys_cpu_freq", Takes::number, 1, 50},
    {"dvpp_freq", Takes::number, 1, 100},
    {"host_sys", Takes::host_list},
    {"host_sys_usage", Takes::usage_list},
    {"host_sys_usage_freq", Takes::number, 1, 50},
    {"sys_lp_freq", Takes::number, 1, 100},
    {"optype", Takes::text},
};

constexpr std::string_view kProfilerLevels[] = {"on", "off", "l0", "l1", "l2", "l3"};
constexpr std::string_view kGeLevels[] = {"off", "l0", "l1"};
constexpr std::string_view kMetrics[] = {
    "ArithmeticUtilization", "PipeUtilization", "Memory",  "MemoryL0",
    "ResourceConflictRatio", "MemoryUB",        "L2Cache", "PipelineExecuteUtilization",
    "MemoryAccess"};
constexpr std::string_view kHostParts[] = {"cpu", "mem", "disk", "network", "osrt", "numa"};
constexpr std::string_view kUsageParts[] = {"cpu", "mem"};
constexpr std::string_view kReadWrite[] = {"read", "write"};
// What instruction profiling cannot be combined with.
constexpr std::string_view kNotWithInstructions[] = {
    "aicpu", "aic_metrics", "l2", "hccl", "task_time", "ascendcl", "runtime_api"};

Status check_storage(const SectionReader& reader, std::string_view key) {
  ANYNPU_ASSIGN(std::string value, reader.text(key, ""));
  if (value.ends_with("MB")) {
    const auto count = parse_decimal(std::string_view(value).substr(0, value.size() - 2));
    if (count && *count >= 200 && *count <= 4294967295) return {};
  }
  return fail(Code::invalid_config,
              "profiler: '{}' is '{}'; expected a size from 200MB to 4294967295MB", key, value);
}

Status check_metrics(const SectionReader& reader, std::string_view key) {
  ANYNPU_ASSIGN(std::string value, reader.text(key, ""));
  if (value.starts_with("Custom:") && value.size() > 7) return {};
  if (value.empty()) return {};  // as ais_bench writes it: the default
  return reader.word(key, "PipeUtilization", kMetrics).status();
}

Status check_filled(const SectionReader& reader, std::string_view key) {
  ANYNPU_ASSIGN(std::string value, reader.text(key, ""));
  if (!value.empty()) return {};
  return fail(Code::invalid_config, "profiler: '{}' is empty; expected a text", key);
}

Status check_value(const SectionReader& reader, const ProfilerKey& key) {
  switch (key.takes) {
    case Takes::text:
      return reader.text(key.name, "").status();
    case Takes::filled_text:
      return check_filled(reader, key.name);
    case Takes::on_off:
      return reader.on_off(key.name).status();
    case Takes::level:
      return reader.word(key.name, "off", kProfilerLevels).status();
    case Takes::ge_level:
      return reader.word(key.name, "off", kGeLevels).status();
    case Takes::metrics:
      return check_metrics(reader, key.name);
    case Takes::storage:
      return check_storage(reader, key.name);
    case Takes::number:
      return reader.number(key.name, key.low, key.low, key.high).status();
    case Takes::host_list:
      return reader.words(key.name, kHostParts).status();
    case Takes::usage_list:
      return reader.words(key.name, kUsageParts).status();
    case Takes::read_write:
      return reader.word(key.name, "read", kReadWrite).status();
  }
  return {};
}

Status check_output(std::string_view path) {
  const size_t at = path.find_first_of("\n\r\"'\\%><|&$;`");
  if (at == std::string_view::npos) return {};
  return fail(
      Code::invalid_config,
      "profiler: 'output' is {}, and the character at {} is not allowed in it; choose a folder "
      "without quotes and without any of \\ % > < | & $ ; `",
      json::quote(path), at);
}

Status read_profiler(const json::Value& section, ProfilerConfig& out) {
  if (!section.object()) {
    return fail(Code::invalid_config, "profiler: the section is {}; expected an object",
                section.kind());
  }
  const SectionReader reader{section, "profiler"};
  ANYNPU_ASSIGN(std::string power, reader.text("switch", "off"));
  out.on = power == "on";
  if (!out.on) return {};  // documented: anything else turns profiling off, whatever else is there
  std::vector<std::string_view> known;
  for (const ProfilerKey& key : kProfilerKeys) known.push_back(key.name);
  ANYNPU_TRY(reader.only(known));
  for (const ProfilerKey& key : kProfilerKeys) {
    const json::Value* value = section.find(key.name);
    if (!value) continue;
    ANYNPU_TRY(check_value(reader, key));
    out.values[std::string(key.name)] = value->string() ? *value->string() : value->dump();
  }
  out.output = out.values["output"];
  out.values.erase("output");
  out.values.erase("switch");
  ANYNPU_TRY(check_output(out.output));
  if (!section.find("instr_profiling_freq")) return {};
  for (std::string_view other : kNotWithInstructions) {
    if (!section.find(other)) continue;
    return fail(Code::invalid_config,
                "profiler: 'instr_profiling_freq' and '{}' exclude each other; keep one of them",
                other);
  }
  return {};
}

}  // namespace

Result<ProfilerConfig> parse_profiler(const json::Value& section) {
  ProfilerConfig config;
  ANYNPU_TRY(read_profiler(section, config).with_code(Code::invalid_profiler_config));
  return config;
}

}  // namespace anynpu::service
