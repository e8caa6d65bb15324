// SPDX-License-Identifier: Apache-2.0
// acl.json, the file given to aclInit: parsed and validated into plain data. Every key of the
// documents is known; an unknown top-level or dump key is ignored with a warning in the log, an
// unknown profiler key is an error, as documented.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/failure_lines.h"
#include "base/json.h"
#include "base/recent_failure.h"

namespace anynpu::service {

struct DumpTarget {
  std::string model;                // empty: single operators, or the watcher form
  std::vector<std::string> layers;  // empty: all layers
  std::vector<std::string> watcher_nodes;
};

enum class DumpScene { none, exception_brief, exception_norm, exception_detail, watcher };

struct DumpConfig {
  std::string path;
  std::vector<DumpTarget> targets;
  bool models = false;      // dump_list names models, or is [] for all
  bool single_ops = false;  // dump_op_switch
  bool overflow = false;    // dump_debug
  std::string mode = "output";
  std::string level = "all";
  std::string data = "tensor";
  DumpScene scene = DumpScene::none;
  std::vector<std::string> kernel_data;
  std::vector<std::string> statistics;  // columns that dump_stats names; empty: all

  bool enabled() const {
    return models || single_ops || overflow || scene != DumpScene::none || !kernel_data.empty();
  }
};

struct ProfilerConfig {
  bool on = false;
  std::string output;                         // empty: the documented default
  std::map<std::string, std::string> values;  // every other key, as text
};

struct RuntimeConfig {
  std::optional<DumpConfig> dump;
  std::optional<ProfilerConfig> profiler;
  uint64_t max_opqueue_num = 20000;
  MessageScope message_scope = MessageScope::thread;
  std::optional<FailureLines> failure_lines;  // anynpu_errors, a key of our own
  std::optional<int32_t> default_device;
  uint64_t aicore_stack_size = 32768;
  uint64_t simt_stack_size = 1152;
  uint64_t simt_divergence_stack_size = 1024;
  uint64_t simt_printf_fifo_size = 2u << 20;
  uint64_t simd_printf_fifo_size_per_core = 32u << 10;
  std::string text{};  // of the file; empty without one
};

// `what` names the text in messages. Fails with parse_error, invalid_config,
// invalid_op_queue_config, or as the parsers of sections do.
Result<RuntimeConfig> parse_config(std::string_view text, std::string_view what);
// The file at `path`, relative to the program's folder; the defaults when `path` is null or empty.
Result<RuntimeConfig> load_config(const char* path);
// The section "dump" alone: also the grammar of the file given to aclmdlSetDump. Fails with
// invalid_dump_config.
Result<DumpConfig> parse_dump(const json::Value& section);
// Fails with invalid_profiler_config.
Result<ProfilerConfig> parse_profiler(const json::Value& section);

// What the library was initialised with; never null. Thread-safe.
std::shared_ptr<const RuntimeConfig> current_config();
void set_current_config(RuntimeConfig config);

}  // namespace anynpu::service
