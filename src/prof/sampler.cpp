// SPDX-License-Identifier: Apache-2.0
#include "prof/sampler.h"

#include <dirent.h>
#include <unistd.h>

#include <cstring>

#include "base/clock.h"
#include "base/quiet_write.h"
#include "device/runtime.h"

namespace anynpu::prof {

namespace {

std::string read_proc(const std::string& path) {
  std::string text;
  if (std::FILE* file = std::fopen(path.c_str(), "re")) {
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
    : file_(std::fopen((folder + "/samples.jsonl").c_str(), "wxe")),
      devices_(config.devices),
      host_parts_(","),
      memory_((config.data_types & bits::kTaskMemory) ||
              config.settings.contains("sys_hardware_mem_freq")),
      pause_ns_(pause_of(config.settings)) {
  for (const char* key : {"host_sys", "host_sys_usage"}) {
    const auto found = config.settings.find(key);
    if (found != config.settings.end()) host_parts_ += found->second + ",";
  }
  const auto process = config.settings.find("host_sys_pid");
  if (process != config.settings.end()) process_ = process->second;
}

Sampler::~Sampler() {
  const QuietWrite quiet;
  if (file_) std::fclose(file_);
}

uint64_t Sampler::pause_ns() const {
  return memory_ || host_parts_.size() > 1 ? pause_ns_ : UINT64_MAX;
}

void Sampler::rest() {
  if (!file_ || now_ns() < next_ns_) return;
  next_ns_ = now_ns() + pause_ns_;
  const QuietWrite quiet;
  if (memory_) sample_devices();
  if (host_parts_.size() > 1) sample_host();
  std::fflush(file_);  // a program that is killed keeps its samples
}

void Sampler::finish(const std::set<int32_t>& seen) {
  next_ns_ = 0;
  if (devices_.empty()) devices_.assign(seen.lower_bound(0), seen.end());
  rest();
}

void Sampler::line(const json::Value& value) {
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
    line(value);
  }
}

// The lines of /proc as they are: the exporter takes differences.
void Sampler::sample_host() {
  const struct {
    const char* part;
    const char* path;
  } sources[] = {{"cpu", "/proc/stat"},
                 {"mem", "/proc/meminfo"},
                 {"disk", "/proc/diskstats"},
                 {"network", "/proc/net/dev"}};
  for (const auto& source : sources) {
    if (!has_word(host_parts_, source.part)) continue;
    json::Value value;
    value.set("t", now_ns());
    value.set("kind", source.path);
    value.set("text", read_proc(source.path));
    line(value);
  }
  if (!has_word(host_parts_, "cpu") && !has_word(host_parts_, "mem")) return;
  for (const std::string& process : processes()) sample_process(process);
}

std::vector<std::string> Sampler::processes() const {
  if (process_ != "all") return {process_};
  std::vector<std::string> found;
  if (DIR* folder = ::opendir("/proc")) {
    while (const dirent* entry = ::readdir(folder)) {
      if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9') found.emplace_back(entry->d_name);
    }
    ::closedir(folder);
  }
  return found;
}

void Sampler::sample_process(const std::string& process) {
  const std::string stat = read_proc("/proc/" + process + "/stat");
  if (stat.empty()) return;  // it has ended
  json::Value value;
  value.set("t", now_ns());
  value.set("kind", "process");
  value.set("stat", stat);
  value.set("statm", read_proc("/proc/" + process + "/statm"));
  line(value);
}

}  // namespace anynpu::prof
