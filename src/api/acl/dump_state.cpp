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
#include "base/env.h"
#include "base/program_path.h"
#include "exec/fault_observer.h"

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

bool is_exception(const DumpConfig& config) {
  return config.scene != DumpScene::none && config.scene != DumpScene::watcher;
}

// A relative path starts at the program's folder (guide 7.12).
std::string root_of(const DumpConfig& config) {
  std::string root = config.path;
  if (!root.starts_with('/')) {
    const std::string program = program_folder();
    root = (program.empty() ? std::string(".") : program) + "/" + root;
  }
  while (root.size() > 1 && root.back() == '/') root.pop_back();
  return root;
}

// The first of these variables that is set; else the path of the configuration.
std::string root_by(std::initializer_list<env::Name> names, const DumpConfig& config) {
  for (const env::Name name : names) {
    if (std::string root = env::text(name); !root.empty()) return root;
  }
  return config.path.empty() ? std::string(".") : root_of(config);
}

// "{root}/{time}/{device}".
std::string dump_folder(const std::string& root, int32_t device) {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  localtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof(text), "%Y%m%d%H%M%S", &parts);
  return format("{}/{}/{}", root, text, device);
}

// Exceptions go to the folder that the environment names, else to that of the configuration, else
// to the current one.
std::string exception_folder(const DumpConfig& config, int32_t device) {
  return format("{}/extra-info/data-dump/{}",
                root_by({env::Name::npu_collect_path, env::Name::work_path}, config), device);
}

exec::DumpOptions options_of(const DumpConfig& config, int32_t device) {
  exec::DumpOptions options;
  options.device = device;
  options.folder = is_exception(config) ? exception_folder(config, device)
                                        : dump_folder(root_of(config), device);
  options.inputs = config.mode == "input" || config.mode == "all";
  options.outputs = config.mode == "output" || config.mode == "all";
  options.statistics = config.data == "stats";
  options.columns = config.statistics;
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

namespace {

// Models that look for overflows do so without a dump, too: for aclrtGetOverflowStatus.
std::shared_ptr<exec::StepObserver> overflow_watch(const om::Meta& meta, int32_t device) {
  if (!checks_status(meta)) return nullptr;
  exec::DumpOptions options;
  options.device = device;
  return exec::make_overflow_dump(options);
}

std::shared_ptr<exec::StepObserver> watcher_of(const DumpConfig& config,
                                               exec::DumpOptions options) {
  for (const DumpTarget& target : config.targets) {
    options.layers.insert(options.layers.end(), target.layers.begin(), target.layers.end());
    options.watchers.insert(options.watchers.end(), target.watcher_nodes.begin(),
                            target.watcher_nodes.end());
  }
  return exec::make_watcher_dump(std::move(options));
}

std::shared_ptr<exec::StepObserver> dump_of_model(const DumpConfig& config, const om::Meta& meta,
                                                  int32_t device) {
  exec::DumpOptions options = options_of(config, device);
  if (is_exception(config)) return exec::make_exception_dump(options);
  options.model = meta.name;
  if (config.scene == DumpScene::watcher) return watcher_of(config, std::move(options));
  if (config.overflow) return checks_status(meta) ? exec::make_overflow_dump(options) : nullptr;
  if (!config.models) return nullptr;
  if (config.targets.empty()) return exec::make_dump(options);
  for (const DumpTarget& target : config.targets) {
    if (target.model != meta.name) continue;
    options.layers = target.layers;
    return exec::make_dump(options);
  }
  return nullptr;
}

}  // namespace

std::shared_ptr<exec::StepObserver> observer_for_model(const om::Meta& meta, int32_t device) {
  const auto config = active_dump();
  const bool finds_overflows = config && config->overflow;
  return exec::join_observers({config ? dump_of_model(*config, meta, device) : nullptr,
                               finds_overflows ? nullptr : overflow_watch(meta, device),
                               exec::make_fault_observer()});
}

KernelDumpTarget kernel_dump_target(int32_t device) {
  const auto config = active_dump();
  if (!config) return {};
  const bool by_default = config->kernel_data.empty() && (config->models || config->single_ops);
  const auto wants = [&](std::string_view word) {
    const auto& words = config->kernel_data;
    return by_default || std::any_of(words.begin(), words.end(),
                                     [&](const std::string& w) { return w == word || w == "all"; });
  };
  KernelDumpTarget target{{}, wants("printf"), wants("assert")};
  if (!target.prints && !target.assertions) return {};
  target.folder =
      dump_folder(root_by({env::Name::dump_path, env::Name::work_path}, *config), device);
  return target;
}

std::shared_ptr<exec::StepObserver> observer_for_operators(int32_t device) {
  const auto config = active_dump();
  std::shared_ptr<exec::StepObserver> dump;
  if (config && is_exception(*config))
    dump = exec::make_exception_dump(options_of(*config, device));
  if (config && config->single_ops) dump = exec::make_dump(options_of(*config, device));
  return exec::join_observers({std::move(dump), exec::make_fault_observer()});
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
