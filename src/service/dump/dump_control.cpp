// SPDX-License-Identifier: Apache-2.0
#include "service/dump/dump_control.h"

#include "base/program_path.h"
#include "service/check_pointer.h"
#include "service/config/config_file.h"
#include "service/finalize.h"

namespace anynpu::service {

namespace {

Result<DumpConfig> read_dump_file(const char* path) {
  ANYNPU_TRY(check_pointer(path, "dumpCfgPath"));
  ANYNPU_ASSIGN(const std::string found, find_file(path));
  ANYNPU_ASSIGN(const std::string text, read_config_file(found));
  ANYNPU_ASSIGN(const json::Value value, json::parse(text, found));
  if (const json::Value* section = value.find("dump")) return parse_dump(*section);
  return fail(Code::invalid_dump_config, "{}: there is no section 'dump'; add one", found);
}

}  // namespace

DumpControl& DumpControl::instance() {
  static DumpControl* one = [] {
    on_finalize([] { instance().forget(); });
    return new DumpControl;  // never destroyed: used until the process ends
  }();
  return *one;
}

void DumpControl::forget() {
  const std::lock_guard lock(mutex_);
  started_ = false;
  set_.reset();
}

std::optional<DumpConfig> DumpControl::active() const {
  {
    const std::lock_guard lock(mutex_);
    if (set_) return set_;
  }
  return current_config()->dump;
}

Status DumpControl::check_started(const char* otherwise) const {
  const std::lock_guard lock(mutex_);
  if (started_) return {};
  return fail(Code::bad_call_order, "{}", otherwise);
}

Status DumpControl::start() {
  const auto config = current_config();
  if (config->dump && config->dump->enabled()) {
    return fail(Code::bad_call_order,
                "the configuration of aclInit has a section 'dump'; remove it, or leave out "
                "aclmdlInitDump");
  }
  const std::lock_guard lock(mutex_);
  if (started_) {
    return fail(Code::bad_call_order,
                "aclmdlInitDump was called already; call aclmdlFinalizeDump first");
  }
  started_ = true;
  return {};
}

Status DumpControl::set_file(const char* path) {
  ANYNPU_TRY(check_started("aclmdlSetDump came before aclmdlInitDump; call it first"));
  ANYNPU_ASSIGN(DumpConfig config, read_dump_file(path));
  const std::lock_guard lock(mutex_);
  set_ = std::move(config);
  return {};
}

Status DumpControl::finish() {
  ANYNPU_TRY(check_started("aclmdlFinalizeDump came without aclmdlInitDump"));
  forget();
  return {};
}

}  // namespace anynpu::service
