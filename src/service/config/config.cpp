// SPDX-License-Identifier: Apache-2.0
#include "service/config/config.h"

#include <algorithm>
#include <limits>
#include <mutex>

#include "base/align.h"
#include "base/log.h"
#include "base/program_path.h"
#include "service/config/config_file.h"
#include "service/config/section_reader.h"

namespace anynpu::service {

namespace {

constexpr std::string_view kTopKeys[] = {
    "dump",          "profiler",  "max_opqueue_num",       "err_msg_mode",
    "defaultDevice", "StackSize", "simt_printf_fifo_size", "simd_printf_fifo_size_per_core",
    "anynpu_errors"};

constexpr int64_t kMost = std::numeric_limits<int64_t>::max() / 2;

Status read_opqueue(const SectionReader& root, RuntimeConfig& out) {
  const json::Value* value = root.object.find("max_opqueue_num");
  if (!value) return {};
  const std::string* text = value->string();
  const auto number = text ? parse_decimal(*text) : std::nullopt;
  if (!number || *number < 1) {
    return fail(
        Code::invalid_op_queue_config,
        "acl.json: 'max_opqueue_num' is {}; expected a positive whole number in quotes, such "
        "as \"10000\"",
        value->dump().substr(0, 80));
  }
  out.max_opqueue_num = static_cast<uint64_t>(*number);
  return {};
}

Status read_default_device(const SectionReader& root, RuntimeConfig& out) {
  const json::Value* section = root.object.find("defaultDevice");
  if (!section) return {};
  const json::Value* value = section->find("default_device");
  const std::string* text = value ? value->string() : nullptr;
  const auto number = text ? parse_decimal(*text) : std::nullopt;
  if (!number || *number > std::numeric_limits<int32_t>::max()) {
    return fail(
        Code::invalid_config,
        "acl.json: 'defaultDevice' is {}; expected {{\"default_device\": \"0\"}} with a device id",
        section->dump().substr(0, 80));
  }
  out.default_device = static_cast<int32_t>(*number);
  return {};
}

Status read_sizes(const SectionReader& root, RuntimeConfig& out) {
  if (const json::Value* section = root.object.find("StackSize")) {
    if (!section->object()) {
      return fail(Code::invalid_config, "acl.json: 'StackSize' is {}; expected an object",
                  section->kind());
    }
    const SectionReader reader{*section, "StackSize"};
    ANYNPU_ASSIGN(int64_t aicore, reader.number("aicore_stack_size", 32768, 0, kMost));
    ANYNPU_ASSIGN(int64_t simt, reader.number("simt_stack_size", 1152, 0, kMost));
    ANYNPU_ASSIGN(int64_t divergence, reader.number("simt_divergence_stack_size", 1024, 0, kMost));
    out.aicore_stack_size = std::max<uint64_t>(round_up(aicore, 16384), 32768);
    out.simt_stack_size = round_up(simt, 128);
    out.simt_divergence_stack_size = round_up(divergence, 128);
  }
  ANYNPU_ASSIGN(int64_t simt_fifo,
                root.number("simt_printf_fifo_size", 2 << 20, 1 << 20, 64 << 20));
  ANYNPU_ASSIGN(int64_t simd_fifo,
                root.number("simd_printf_fifo_size_per_core", 32 << 10, 1 << 10, 64 << 20));
  out.simt_printf_fifo_size = round_up(simt_fifo, 8);
  out.simd_printf_fifo_size_per_core = round_up(simd_fifo, 8);
  return {};
}

// Nothing is accepted in silence: what cannot act yet is named in the log.
void log_without_effect(const SectionReader& root) {
  for (std::string_view key : {"max_opqueue_num", "StackSize", "simt_printf_fifo_size",
                               "simd_printf_fifo_size_per_core"}) {
    if (root.object.find(key)) {
      ANYNPU_LOG(info, "acl.json: '{}' is kept, but has no effect on this device", key);
    }
  }
}

struct CurrentConfig {
  std::mutex mutex;
  std::shared_ptr<const RuntimeConfig> config = std::make_shared<const RuntimeConfig>();
};

CurrentConfig& current() {
  static auto* one = new CurrentConfig;  // never destroyed: read until the process ends
  return *one;
}

}  // namespace

namespace {

Status read_sections(const json::Value& root, RuntimeConfig& out) {
  if (const json::Value* section = root.find("dump")) {
    ANYNPU_ASSIGN(out.dump, parse_dump(*section));
  }
  if (const json::Value* section = root.find("profiler")) {
    ANYNPU_ASSIGN(out.profiler, parse_profiler(*section));
  }
  return {};
}

Status read_message_scope(const SectionReader& root, RuntimeConfig& out) {
  static constexpr std::string_view kMessageModes[] = {"0", "1"};
  ANYNPU_ASSIGN(const std::string mode, root.word("err_msg_mode", "0", kMessageModes));
  out.message_scope = mode == "1" ? MessageScope::process : MessageScope::thread;
  return {};
}

Status read_failure_lines(const SectionReader& root, RuntimeConfig& out) {
  static constexpr std::string_view kModes[] = {"off", "first", "all"};
  if (!root.object.find("anynpu_errors")) return {};
  ANYNPU_ASSIGN(const std::string mode, root.word("anynpu_errors", "first", kModes));
  out.failure_lines = failure_lines_named(mode);
  return {};
}

}  // namespace

Result<RuntimeConfig> parse_config(std::string_view text, std::string_view what) {
  const json::Limits limits{.max_objects_deep = 10, .max_arrays_deep = 10, .max_bytes = 8u << 20};
  ANYNPU_ASSIGN(const json::Value parsed, json::parse(text, what, limits));
  if (!parsed.object()) {
    return fail(Code::parse_error, "{}: the text is {}; expected an object in {{ }}", what,
                parsed.kind());
  }
  const SectionReader root{parsed, "acl.json"};
  if (Status unknown = root.only(kTopKeys); !unknown.ok()) {
    ANYNPU_LOG(warning, "{}; ignored", unknown.message());
  }
  RuntimeConfig out;
  ANYNPU_TRY(read_sections(parsed, out));
  ANYNPU_TRY(read_opqueue(root, out));
  ANYNPU_TRY(read_message_scope(root, out));
  ANYNPU_TRY(read_failure_lines(root, out));
  ANYNPU_TRY(read_default_device(root, out));
  ANYNPU_TRY(read_sizes(root, out));
  if (out.dump && out.dump->enabled() && out.profiler && out.profiler->on) {
    ANYNPU_LOG(warning,
               "acl.json: dump and profiler are both on; the measured times include the dump");
  }
  log_without_effect(root);
  return out;
}

Result<RuntimeConfig> load_config(const char* path) {
  if (!path || !*path) return RuntimeConfig();
  ANYNPU_ASSIGN(const std::string found, find_file(path));
  ANYNPU_ASSIGN(std::string text, read_config_file(found));
  ANYNPU_ASSIGN(RuntimeConfig config, parse_config(text, found));
  config.text = std::move(text);
  return config;
}

std::shared_ptr<const RuntimeConfig> current_config() {
  std::lock_guard lock(current().mutex);
  return current().config;
}

void set_current_config(RuntimeConfig config) {
  auto shared = std::make_shared<const RuntimeConfig>(std::move(config));
  std::lock_guard lock(current().mutex);
  current().config = std::move(shared);
}

}  // namespace anynpu::service
