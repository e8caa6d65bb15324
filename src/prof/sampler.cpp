// SPDX-License-Identifier: Apache-2.0
#include "prof/sampler.h"

#include <unistd.h>

#include <cstring>

#include "base/clock.h"
#include "device/runtime.h"

namespace anynpu::prof {

namespace {

std::string read_proc(const char* path) {
  std::string text;
  if (std::FILE* file = std::fopen(path, "re")) {
    char buffer[4096];
    for (size_t count; (count = std::fread(buffer, 1, sizeof buffer, file)) > 0;)
      text.append(buffer, count);
    std::fclose(file);
  }
  return text;
}

bool has_word(const std::string& list, const char* word) {
  return list.find("," + std::string(word) + ",") != std::string::npos;
}

uint64_t pause_of(const Settings& settings) {
  for (const char* key : {"host_sys_usage_freq", "sys_hardware_mem_freq", "sys_cpu_freq"}) {
    const auto found = settings.find(key);
    if (found == settings.end()) continue;
    const long frequency = std::strtol(found->second.c_str(), nullptr, 10);
    if (frequency > 0) return 1'000'000'000u / static_cast<uint64_t>(frequency);
  }
  return 100'000'000u;
}

}  // namespace

Sampler::Sampler(const SessionConfig& config, const std::string& folder)
    : file_(std::fopen((folder + "/samples.jsonl").c_str(), "we")),
      devices_(config.devices),
      host_parts_(","),
      memory_((config.data_types & bits::kTaskMemory) ||
              config.settings.contains("sys_hardware_mem_freq")),
      pause_ns_(pause_of(config.settings)) {
  for (const char* key : {"host_sys", "host_sys_usage"}) {
    const auto found = config.settings.find(key);
    if (found != config.settings.end()) host_parts_ += found->second + ",";
  }
}

Sampler::~Sampler() {
  if (file_) std::fclose(file_);
}

void Sampler::rest() {
  if (!file_ || now_ns() < next_ns_) return;
  next_ns_ = now_ns() + pause_ns_;
  if (memory_) sample_devices();
  if (host_parts_.size() > 1) sample_host();
}

void Sampler::finish(const std::set<int32_t>& seen) {
  next_ns_ = 0;
  if (devices_.empty()) devices_.assign(seen.lower_bound(0), seen.end());
  rest();
  if (file_) std::fflush(file_);
}

void Sampler::line(json::Value value) {
  const std::string text = value.dump() + "\n";
  std::fwrite(text.data(), 1, text.size(), file_);
}

void Sampler::sample_devices() {
  auto& runtime = device::Runtime::instance();
  std::vector<int32_t> ids = devices_;
  for (int32_t id = 0; devices_.empty() && id < runtime.device_count(); ++id) {
    if (runtime.uses(id) > 0) ids.push_back(id);
  }
  for (int32_t id : ids) {
    const auto device = runtime.device(id);
    if (!device.ok()) continue;
    json::Value value;
    value.set("t", now_ns());
    value.set("kind", "npu_mem");
    value.set("device", id);
    value.set("bytes", static_cast<uint64_t>((*device)->memory_used()));
    line(std::move(value));
  }
}

// The lines of /proc as they are: the exporter takes differences.
void Sampler::sample_host() {
  const struct {
    const char* part;
    const char* path;
  } sources[] = {{"cpu", "/proc/stat"},       {"mem", "/proc/meminfo"},
                 {"disk", "/proc/diskstats"}, {"network", "/proc/net/dev"},
                 {"cpu", "/proc/self/stat"},  {"mem", "/proc/self/statm"}};
  for (const auto& source : sources) {
    if (!has_word(host_parts_, source.part)) continue;
    json::Value value;
    value.set("t", now_ns());
    value.set("kind", source.path);
    value.set("text", read_proc(source.path));
    line(std::move(value));
  }
}

}  // namespace anynpu::prof
