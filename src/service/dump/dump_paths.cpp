// SPDX-License-Identifier: Apache-2.0
#include "service/dump/dump_paths.h"

#include <chrono>
#include <mutex>
#include <set>

#include "base/program_path.h"
#include "base/text.h"
#include "device/runtime.h"
#include "service/check_pointer.h"
#include "service/dump/dump_control.h"

namespace anynpu::service {

namespace {

// A text that lives forever.
const char* kept(const std::string& text) {
  static auto* mutex = new std::mutex;
  static auto* texts = new std::set<std::string>;
  const std::lock_guard lock(*mutex);
  return texts->insert(text).first->c_str();
}

DumpScene scene_of(int kind) {
  constexpr DumpScene kScenes[] = {DumpScene::exception_brief, DumpScene::exception_norm,
                                   DumpScene::exception_detail};
  return kScenes[kind - 1];
}

Status check_file(const char* file) {
  ANYNPU_TRY(check_pointer(file, "fileName"));
  const std::string_view name(file);
  bool leaves = name.empty() || name.front() == '/';
  for (std::string_view part : split(name, '/')) leaves |= part == "..";
  if (!leaves) return {};
  return fail(Code::invalid_argument,
              "fileName is '{}'; expected a relative path that stays in its folder", name);
}

}  // namespace

std::string root_by(std::initializer_list<env::Name> names, const DumpConfig& config) {
  for (const env::Name name : names) {
    if (std::string root = env::text(name); !root.empty()) return root;
  }
  return config.path.empty() ? std::string(".") : dump_root(config);
}

bool is_exception(const DumpConfig& config) {
  return config.scene != DumpScene::none && config.scene != DumpScene::watcher;
}

// A relative path starts at the program's folder (guide 7.12).
std::string dump_root(const DumpConfig& config) {
  std::string root = config.path;
  if (!root.starts_with('/')) {
    const std::string program = program_folder();
    root = (program.empty() ? std::string(".") : program) + "/" + root;
  }
  while (root.size() > 1 && root.back() == '/') root.pop_back();
  return root;
}

std::string exception_root(const DumpConfig& config) {
  return root_by({env::Name::npu_collect_path, env::Name::work_path}, config);
}

std::string exception_folder(const DumpConfig& config, int32_t device) {
  return format("{}/extra-info/data-dump/{}", exception_root(config), device);
}

Result<const char*> dump_path(int kind) {
  if (kind < 1 || kind > 5) {
    return fail(Code::invalid_argument, "dumpType is {}; expected 1 to 5", kind);
  }
  const auto config = DumpControl::instance().active();
  const char* const off = nullptr;
  if (!config) return off;
  if (kind <= 3) return config->scene == scene_of(kind) ? kept(exception_root(*config)) : off;
  const bool on = kind == 4 ? config->models || config->single_ops : config->overflow;
  return on ? kept(dump_root(*config)) : off;
}

Result<std::string> exception_path() {
  const auto config = DumpControl::instance().active();
  if (!config || !is_exception(*config)) {
    return fail(Code::bad_call_order,
                "no dump of exceptions is on; set dump_scene in acl.json or with aclmdlSetDump");
  }
  ANYNPU_ASSIGN(const auto context, device::Runtime::instance().current());
  return exception_folder(*config, context->device()->id()) + "/";
}

Status save_exception_dump(const char* file, const char* tag, const exec::OperatorDump& dump) {
  ANYNPU_TRY(check_file(file));
  ANYNPU_ASSIGN(const std::string folder, exception_path());
  const auto since = std::chrono::system_clock::now().time_since_epoch();
  const auto stamp = std::chrono::duration_cast<std::chrono::milliseconds>(since).count();
  const std::string path = format("{}{}.custom.{}", folder, file, stamp);
  const size_t slash = path.rfind('/');
  exec::OperatorDump named = dump;
  named.op_name = file;
  named.op_type = tag ? tag : "";
  return exec::write_file(path.substr(0, slash), path.substr(slash + 1),
                          exec::to_bytes(named, exec::dump_timestamp()));
}

}  // namespace anynpu::service
