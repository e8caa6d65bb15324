// SPDX-License-Identifier: Apache-2.0
#include "service/library_life.h"

#include "base/env.h"
#include "base/failure_lines.h"
#include "base/fork_guard.h"
#include "base/handle_table.h"
#include "base/log.h"
#include "base/recent_failure.h"
#include "device/runtime.h"
#include "service/callback/life_callbacks.h"
#include "service/config/config.h"
#include "service/finalize.h"
#include "service/lifecycle.h"
#include "service/profile/configured.h"

namespace anynpu::service {

namespace {

Status choose_default_device(const RuntimeConfig& config) {
  if (!config.default_device) return {};
  auto& runtime = device::Runtime::instance();
  ANYNPU_TRY(runtime.device(*config.default_device).status(), "while reading 'defaultDevice'");
  runtime.set_default_device(*config.default_device);
  return {};
}

Status start(const char* path) {
  LifeChange change;
  if (initialised()) {
    count_initialisation();
    return fail(Code::already_initialized,
                "the library is initialised already, and its configuration stays; expected one "
                "aclInit per process: remove the second call, or call aclFinalize before it");
  }
  log::reload();  // a program may have set the variables after it loaded the library
  ANYNPU_ASSIGN(RuntimeConfig config, load_config(path));
  for (const std::string& problem : env::check()) ANYNPU_LOG(warning, "{}", problem);
  ANYNPU_TRY(choose_default_device(config));
  ANYNPU_TRY(start_configured_profiling(config));
  set_message_scope(config.message_scope);
  choose_failure_lines(config.failure_lines);
  set_current_config(std::move(config));
  mark_runtime_used();
  forget_initialisations();
  count_initialisation();
  change.to(Life::initialised);
  ANYNPU_LOG(event, "initialised, configuration '{}'", path ? path : "");
  return {};
}

// What a program forgot to destroy: no failure, but worth a line.
void log_leftovers() {
  for (int i = 2; i < static_cast<int>(HandleTag::count); ++i) {
    const auto tag = static_cast<HandleTag>(i);
    const size_t count = HandleTable::instance().live(tag);
    if (count > 0) {
      ANYNPU_LOG(warning,
                 "aclFinalize: {} {} objects were not destroyed; call their destroy functions",
                 count, name_of(tag));
    }
  }
}

Status check_alive() {
  if (life() == Life::fresh) return explain_uninitialised();
  if (life() == Life::finalised) {
    return fail(Code::already_finalized,
                "the library is finalised already; expected one aclFinalize for each aclInit");
  }
  return {};
}

}  // namespace

Status start_library(const char* config_path) {
  ANYNPU_TRY(start(config_path));
  run_init_callbacks();
  return {};
}

Status end_library() {
  if (initialised()) run_finalize_callbacks();
  LifeChange change;
  ANYNPU_TRY(check_alive());
  forget_initialisations();
  // First the state: other threads are refused from here on and see no half-released objects.
  change.to(Life::finalised);
  run_finalizers();
  end_configured_profiling();
  device::Runtime::instance().reset_all();
  device::Runtime::instance().set_default_device(-1);
  set_current_config(RuntimeConfig());
  log_leftovers();
  ANYNPU_LOG(event, "finalised");
  return {};
}

Status drop_library_start(uint64_t* left) {
  {
    const LifeChange change;
    ANYNPU_TRY(check_alive());
    *left = drop_initialisation();
  }
  return *left > 0 ? Status() : end_library();
}

}  // namespace anynpu::service
