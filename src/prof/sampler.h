// SPDX-License-Identifier: Apache-2.0
// Values sampled over time: memory of the devices and of the process and, if the settings request
// it, CPU, memory, disk and network of the host. One JSON line per sample in
// host/data/samples.jsonl. One thread at a time.
#pragma once

#include <cstdint>
#include <cstdio>
#include <set>
#include <string>
#include <vector>

#include "prof/config.h"

namespace anynpu::prof {

class Sampler {
 public:
  Sampler(const SessionConfig& config, const std::string& folder);
  Sampler(const Sampler&) = delete;
  Sampler& operator=(const Sampler&) = delete;
  ~Sampler();

  // Samples when the interval is over.
  void rest();
  // The interval; forever when nothing is sampled.
  uint64_t pause_ns() const;
  // Takes a last sample; of the devices that had tasks, if none were named.
  void finish(const std::set<int32_t>& seen);

 private:
  void sample_devices();
  void sample_host();
  void sample_process(const std::string& process);
  std::vector<std::string> processes() const;
  void line(const json::Value& value);

  std::FILE* file_ = nullptr;
  std::vector<int32_t> devices_;
  std::string process_ = "self";  // a number, "self" or "all"
  std::string host_parts_;        // ",cpu,mem,"
  bool memory_ = false;
  uint64_t pause_ns_ = 0;
  uint64_t next_ns_ = 0;
};

}  // namespace anynpu::prof
