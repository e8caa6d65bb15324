// SPDX-License-Identifier: Apache-2.0
// The section "dump" of acl.json (guide 7.12 and the dump pages of the API reference).
#include <algorithm>

#include "base/log.h"
#include "exec/dump_file.h"
#include "service/config/config.h"
#include "service/config/section_reader.h"

namespace anynpu::service {

namespace {

constexpr std::string_view kDumpModes[] = {"output", "input", "all"};
constexpr std::string_view kDumpLevels[] = {"op", "kernel", "all"};
constexpr std::string_view kDumpData[] = {"tensor", "stats"};
constexpr std::string_view kDumpScenes[] = {"aic_err_brief_dump", "aic_err_norm_dump",
                                            "aic_err_detail_dump", "lite_exception", "watcher"};
constexpr std::string_view kKernelData[] = {"all", "printf", "tensor", "assert", "timestamp"};
constexpr std::string_view kDumpKeys[] = {
    "dump_path",  "dump_list",  "dump_mode",  "dump_op_switch",   "dump_data",
    "dump_level", "dump_debug", "dump_scene", "dump_kernel_data", "dump_stats"};

DumpScene scene_of(std::string_view word) {
  if (word == "aic_err_brief_dump" || word == "lite_exception") return DumpScene::exception_brief;
  if (word == "aic_err_norm_dump") return DumpScene::exception_norm;
  if (word == "aic_err_detail_dump") return DumpScene::exception_detail;
  return word == "watcher" ? DumpScene::watcher : DumpScene::none;
}

Result<DumpTarget> read_target(const json::Value& item) {
  if (!item.object()) {
    return fail(Code::invalid_config,
                "dump: 'dump_list' holds {}; expected objects with 'model_name'",
                item.dump().substr(0, 80));
  }
  const SectionReader reader{item, "dump_list"};
  DumpTarget target;
  ANYNPU_ASSIGN(target.model, reader.text("model_name", ""));
  ANYNPU_ASSIGN(target.layers, reader.texts("layer"));
  ANYNPU_ASSIGN(target.watcher_nodes, reader.texts("watcher_nodes"));
  return target;
}

Status read_targets(const json::Value& section, DumpConfig& out) {
  const json::Value* list = section.find("dump_list");
  if (!list) return {};
  if (!list->array()) {
    return fail(Code::invalid_config, "dump: 'dump_list' is {}; expected a list of objects",
                list->kind());
  }
  for (const json::Value& item : *list->array()) {
    ANYNPU_ASSIGN(DumpTarget target, read_target(item));
    const bool bare = target.model.empty() && target.watcher_nodes.empty();
    if (bare && !out.single_ops) {
      return fail(Code::invalid_config,
                  "dump: an entry of 'dump_list' has no 'model_name'; expected one, or "
                  "\"dump_op_switch\": \"on\" for single operators");
    }
    if (!target.model.empty()) out.models = true;
    out.targets.push_back(std::move(target));
  }
  if (list->array()->empty()) out.models = true;
  return {};
}

// The documents name `dump_stats` without its words; those of later releases are known.
void drop_unknown_statistics(std::vector<std::string>& words) {
  const auto known = exec::statistics_words();
  std::erase_if(words, [&](const std::string& word) {
    if (std::find(known.begin(), known.end(), word) != known.end()) return false;
    ANYNPU_LOG(warning, "dump: 'dump_stats' has '{}', which is not known; ignored", word);
    return true;
  });
}

// Which kinds of dump exclude each other.
Status check_combination(const DumpConfig& dump) {
  const bool model_or_op = dump.models || dump.single_ops;
  const bool watcher = dump.scene == DumpScene::watcher;
  const bool exception = dump.scene != DumpScene::none && !watcher;
  const auto clash = [](const char* a, const char* b) {
    return fail(Code::invalid_config, "dump: {} and {} exclude each other; keep one of them", a, b);
  };
  if (dump.overflow && model_or_op) return clash("'dump_debug'", "a model or operator dump");
  if (exception && model_or_op)
    return clash("an exception 'dump_scene'", "a model or operator dump");
  if (watcher && dump.overflow) return clash("'dump_scene' watcher", "'dump_debug'");
  if (watcher && dump.single_ops) return clash("'dump_scene' watcher", "'dump_op_switch'");
  if (!dump.statistics.empty() && dump.scene != DumpScene::none) {
    return clash("'dump_stats'", "'dump_scene'");
  }
  if (watcher && dump.mode != "output") {
    return fail(Code::invalid_config, "dump: 'dump_mode' is '{}'; expected 'output' for watcher",
                dump.mode);
  }
  if (watcher && dump.targets.empty()) {
    return fail(Code::invalid_config,
                "dump: watcher needs 'dump_list' with 'layer' and 'watcher_nodes'; add it");
  }
  if (dump.path.empty() && dump.enabled() && !exception) {
    return fail(Code::invalid_config,
                "dump: 'dump_path' is missing; expected the folder to write to");
  }
  return {};
}

Status read_dump(const json::Value& section, DumpConfig& out) {
  if (!section.object()) {
    return fail(Code::invalid_config, "dump: the section is {}; expected an object",
                section.kind());
  }
  const SectionReader reader{section, "dump"};
  if (Status unknown = reader.only(kDumpKeys); !unknown.ok()) {
    ANYNPU_LOG(warning, "{}; ignored", unknown.message());
  }
  ANYNPU_ASSIGN(out.path, reader.text("dump_path", ""));
  ANYNPU_ASSIGN(out.mode, reader.word("dump_mode", "output", kDumpModes));
  ANYNPU_ASSIGN(out.level, reader.word("dump_level", "all", kDumpLevels));
  ANYNPU_ASSIGN(out.data, reader.word("dump_data", "tensor", kDumpData));
  ANYNPU_ASSIGN(out.single_ops, reader.on_off("dump_op_switch"));
  ANYNPU_ASSIGN(out.overflow, reader.on_off("dump_debug"));
  ANYNPU_ASSIGN(std::string scene, reader.word("dump_scene", "", kDumpScenes));
  out.scene = scene_of(scene);
  ANYNPU_ASSIGN(out.kernel_data, reader.words("dump_kernel_data", kKernelData));
  if (const json::Value* stats = section.find("dump_stats"); stats && stats->string()) {
    ANYNPU_ASSIGN(out.statistics, reader.words("dump_stats", {}));
  } else {
    ANYNPU_ASSIGN(out.statistics, reader.texts("dump_stats"));
  }
  drop_unknown_statistics(out.statistics);
  ANYNPU_TRY(read_targets(section, out));
  return check_combination(out);
}

}  // namespace

Result<DumpConfig> parse_dump(const json::Value& section) {
  DumpConfig config;
  ANYNPU_TRY(read_dump(section, config).with_code(Code::invalid_dump_config));
  return config;
}

}  // namespace anynpu::service
