// SPDX-License-Identifier: Apache-2.0
#include "api/acl/dump_state.h"

#include <algorithm>
#include <ctime>
#include <fstream>
#include <mutex>
#include <sstream>

#include "acl/acl_dump.h"
#include "api/acl/config.h"
#include "api/acl/entry.h"
#include "base/program_path.h"

namespace anynpu::acl {

namespace {

struct DumpState {
  std::mutex mutex;
  bool started = false;           // between aclmdlInitDump and aclmdlFinalizeDump
  std::optional<DumpConfig> set;  // by aclmdlSetDump
};
DumpState& dump_state() {
  static auto* s = new DumpState;
  return *s;
}

void forget_dump() {
  const std::lock_guard lock(dump_state().mutex);
  dump_state().started = false;
  dump_state().set.reset();
}

std::optional<DumpConfig> active_dump() {
  {
    const std::lock_guard lock(dump_state().mutex);
    if (dump_state().set) return dump_state().set;
  }
  return current_config()->dump;
}

// "{dump_path}/{time}/{device}"; a relative path starts at the program's folder (guide 7.12).
std::string dump_folder(const DumpConfig& config, int32_t device) {
  std::string root = config.path;
  if (!root.starts_with('/')) {
    const std::string program = program_folder();
    root = (program.empty() ? std::string(".") : program) + "/" + root;
  }
  while (root.size() > 1 && root.back() == '/') root.pop_back();
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  localtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof(text), "%Y%m%d%H%M%S", &parts);
  return format("{}/{}/{}", root, text, device);
}

exec::DumpOptions options_of(const DumpConfig& config, int32_t device) {
  exec::DumpOptions options;
  options.folder = dump_folder(config, device);
  options.inputs = config.mode == "input" || config.mode == "all";
  options.outputs = config.mode == "output" || config.mode == "all";
  options.statistics = config.data == "stats";
  return options;
}

bool checks_status(const om::Meta& meta) {
  return std::any_of(meta.options.begin(), meta.options.end(), [](const auto& option) {
    return option.first == "status_check" && option.second == "1";
  });
}

Result<DumpConfig> read_dump_file(const char* path) {
  ANYNPU_TRY(check_pointer(path, "dumpCfgPath"));
  ANYNPU_ASSIGN(const std::string found, find_file(path));
  std::ifstream file(found, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file) return fail(Code::file_not_found, "'{}' cannot be read", found);
  ANYNPU_ASSIGN(const json::Value value, json::parse(text.str(), found));
  const json::Value* section = value.find("dump");
  if (!section) {
    return fail(Code::invalid_config, "{}: there is no section 'dump'; add one", found);
  }
  DumpConfig config;
  if (Failure failure = parse_dump(*section, config); !failure.ok()) return failure.status;
  return config;
}

// Failures of reading are those of a dump configuration, as in aclInit.
Failure config_failure(Status status) {
  if (status.code() != Code::invalid_config) return status;
  return {ACL_ERROR_INVALID_DUMP_CONFIG, std::move(status)};
}

}  // namespace

std::shared_ptr<exec::Dump> observer_for_model(const om::Meta& meta, int32_t device) {
  const auto config = active_dump();
  if (!config) return nullptr;
  exec::DumpOptions options = options_of(*config, device);
  options.model = meta.name;
  if (config->overflow) {
    return checks_status(meta) ? exec::make_overflow_dump(options) : nullptr;
  }
  if (!config->models || config->level == "kernel") return nullptr;
  if (config->targets.empty()) return exec::make_dump(options);
  for (const DumpTarget& target : config->targets) {
    if (target.model != meta.name) continue;
    options.layers = target.layers;
    return exec::make_dump(options);
  }
  return nullptr;
}

std::shared_ptr<exec::StepObserver> observer_for_operators(int32_t device) {
  const auto config = active_dump();
  if (!config || !config->single_ops) return nullptr;
  return exec::make_dump(options_of(*config, device));
}

}  // namespace anynpu::acl

using namespace anynpu;
using namespace anynpu::acl;

extern "C" {

aclError aclmdlInitDump(void) {
  return enter(__func__, []() -> Status {
    static const bool once = (on_finalize(forget_dump), true);
    (void)once;
    if (current_config()->dump && current_config()->dump->enabled()) {
      return fail(Code::bad_call_order,
                  "the configuration of aclInit has a section 'dump'; remove it, or leave out "
                  "aclmdlInitDump");
    }
    const std::lock_guard lock(dump_state().mutex);
    if (dump_state().started) {
      return fail(Code::bad_call_order,
                  "aclmdlInitDump was called already; call aclmdlFinalizeDump first");
    }
    dump_state().started = true;
    return {};
  });
}

aclError aclmdlSetDump(const char* dumpCfgPath) {
  return enter(__func__, [&]() -> Failure {
    {
      const std::lock_guard lock(dump_state().mutex);
      if (!dump_state().started) {
        return fail(Code::bad_call_order,
                    "aclmdlSetDump came before aclmdlInitDump; call it first");
      }
    }
    auto config = read_dump_file(dumpCfgPath);
    if (!config.ok()) return config_failure(config.status());
    const std::lock_guard lock(dump_state().mutex);
    dump_state().set = std::move(*config);
    return {};
  });
}

aclError aclmdlFinalizeDump(void) {
  return enter(__func__, []() -> Status {
    const std::lock_guard lock(dump_state().mutex);
    if (!dump_state().started) {
      return fail(Code::bad_call_order, "aclmdlFinalizeDump came without aclmdlInitDump");
    }
    dump_state().started = false;
    dump_state().set.reset();
    return {};
  });
}

}  // extern "C"
