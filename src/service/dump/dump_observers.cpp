// SPDX-License-Identifier: Apache-2.0
// The observers of models and operators for the active dump.
#include <algorithm>
#include <ctime>

#include "base/env.h"
#include "base/program_path.h"
#include "base/whole_file.h"
#include "exec/fault_observer.h"
#include "service/dump/dump_control.h"
#include "service/dump/dump_paths.h"

namespace anynpu::service {

namespace {

// "{root}/{time}/{device}".
std::string dump_folder(const std::string& root, int32_t device) {
  remove_leftovers_of_runs(root);
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  localtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof(text), "%Y%m%d%H%M%S", &parts);
  return format("{}/{}/{}", root, text, device);
}

exec::DumpOptions options_of(const DumpConfig& config, int32_t device) {
  exec::DumpOptions options;
  options.device = device;
  options.folder = is_exception(config) ? exception_folder(config, device)
                                        : dump_folder(dump_root(config), device);
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

// Models that look for overflows do so without a dump, too: for aclrtGetOverflowStatus.
std::shared_ptr<exec::StepObserver> overflow_watch(const om::Meta& meta, int32_t device) {
  if (!checks_status(meta)) return nullptr;
  exec::DumpOptions options;
  options.device = device;
  return exec::make_overflow_dump(options);
}

std::shared_ptr<exec::StepObserver> watcher_dump(const DumpConfig& config,
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
  if (config.scene == DumpScene::watcher) return watcher_dump(config, std::move(options));
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
  const auto config = DumpControl::instance().active();
  const bool finds_overflows = config && config->overflow;
  return exec::join_observers({config ? dump_of_model(*config, meta, device) : nullptr,
                               finds_overflows ? nullptr : overflow_watch(meta, device),
                               exec::make_fault_observer()});
}

KernelDumpTarget kernel_dump_target(int32_t device) {
  const auto config = DumpControl::instance().active();
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
  const auto config = DumpControl::instance().active();
  std::shared_ptr<exec::StepObserver> dump;
  if (config && is_exception(*config))
    dump = exec::make_exception_dump(options_of(*config, device));
  if (config && config->single_ops) dump = exec::make_dump(options_of(*config, device));
  return exec::join_observers({std::move(dump), exec::make_fault_observer()});
}

}  // namespace anynpu::service
