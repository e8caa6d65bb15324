// SPDX-License-Identifier: Apache-2.0
// aclInit, aclFinalize, aclFinalizeReference (guide 4.3).

#include "acl/acl.h"
#include "api/acl/entry.h"
#include "base/env.h"
#include "base/failure_lines.h"
#include "base/log.h"
#include "device/runtime.h"
#include "service/callback/life_callbacks.h"
#include "service/config/config.h"
#include "service/profile/configured.h"

namespace anynpu::acl {

namespace {

Status choose_default_device(const service::RuntimeConfig& config) {
  if (!config.default_device) return {};
  auto& runtime = device::Runtime::instance();
  ANYNPU_TRY(runtime.device(*config.default_device).status(), "while reading 'defaultDevice'");
  runtime.set_default_device(*config.default_device);
  return {};
}

Status initialise(const char* path) {
  service::LifeChange change;
  if (initialised()) {
    service::count_initialisation();
    return fail(Code::already_initialized,
                "the library is initialised already, and its configuration stays; expected one "
                "aclInit per process: remove the second call, or call aclFinalize before it");
  }
  log::reload();  // a program may have set the variables after it loaded the library
  ANYNPU_ASSIGN(service::RuntimeConfig config, service::load_config(path));
  for (const std::string& problem : env::check()) ANYNPU_LOG(warning, "{}", problem);
  ANYNPU_TRY(choose_default_device(config));
  ANYNPU_TRY(service::start_configured_profiling(config));
  set_message_scope(config.message_scope);
  choose_failure_lines(config.failure_lines);
  service::set_current_config(std::move(config));
  mark_runtime_used();
  service::forget_initialisations();
  service::count_initialisation();
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
  if (life() == Life::fresh) return detail::explain_uninitialised();
  if (life() == Life::finalised) {
    return fail(Code::already_finalized,
                "the library is finalised already; expected one aclFinalize for each aclInit");
  }
  return {};
}

Status finalise() {
  if (initialised()) service::run_finalize_callbacks();
  service::LifeChange change;
  ANYNPU_TRY(check_alive());
  service::forget_initialisations();
  // First the state: other threads get 100001 from here on instead of half-released objects.
  change.to(Life::finalised);
  run_finalizers();
  service::end_configured_profiling();
  device::Runtime::instance().reset_all();
  device::Runtime::instance().set_default_device(-1);
  service::set_current_config(service::RuntimeConfig());
  log_leftovers();
  ANYNPU_LOG(event, "finalised");
  return {};
}

// One initialisation less; the last one ends the library.
Status drop_reference(uint64_t* left) {
  {
    const service::LifeChange change;
    ANYNPU_TRY(check_alive());
    *left = service::drop_initialisation();
  }
  return *left > 0 ? Status() : finalise();
}

}  // namespace

}  // namespace anynpu::acl

using namespace anynpu;
using namespace anynpu::acl;

extern "C" {

aclError aclInit(const char* configPath) {
  return enter<When::before_init>(__func__, [&]() -> Status {
    ANYNPU_TRY(initialise(configPath));
    service::run_init_callbacks();
    return {};
  });
}

aclError aclFinalize(void) {
  return enter<When::before_init>(__func__, []() -> Status { return finalise(); });
}

aclError aclFinalizeReference(uint64_t* refCount) {
  return enter<When::before_init>(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(refCount, "refCount"));
    return drop_reference(refCount);
  });
}

}  // extern "C"
