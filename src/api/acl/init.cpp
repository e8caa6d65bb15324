// SPDX-License-Identifier: Apache-2.0
// aclInit, aclFinalize, aclFinalizeReference (guide 4.3).
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "acl/acl.h"
#include "api/acl/config.h"
#include "api/acl/entry.h"
#include "api/acl/profiling_start.h"
#include "base/env.h"
#include "base/log.h"
#include "base/program_path.h"
#include "device/runtime.h"

namespace anynpu::acl {

namespace {

constexpr off_t kMostConfigBytes = 8 << 20;

// The whole text of a regular file. Never blocks on pipes or devices.
Result<std::string> read_config_file(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) {
    return fail(Code::file_not_found, "'{}' cannot be opened: {}; check the path and its rights",
                path, std::string(strerror(errno)));
  }
  struct stat info;
  Result<std::string> text = std::string();
  if (::fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
    text = fail(Code::file_invalid, "'{}' is no regular file; pass the path of a JSON file", path);
  } else if (info.st_size > kMostConfigBytes) {
    text = fail(Code::file_invalid, "'{}' has {} bytes, expected at most {}; pass a JSON file",
                path, info.st_size, kMostConfigBytes);
  } else {
    char buffer[4096];
    for (ssize_t count; (count = ::read(fd, buffer, sizeof buffer)) > 0;) {
      text.value().append(buffer, static_cast<size_t>(count));
    }
  }
  ::close(fd);
  return text;
}

Failure load_config(const char* path, AclConfig& config) {
  if (!path || !*path) return {};
  ANYNPU_ASSIGN(std::string found, find_file(path));
  ANYNPU_ASSIGN(std::string text, read_config_file(found));
  return parse_config(text, found, config);
}

Status choose_default_device(const AclConfig& config) {
  if (!config.default_device) return {};
  auto& runtime = device::Runtime::instance();
  ANYNPU_TRY(runtime.device(*config.default_device).status(), "while reading 'defaultDevice'");
  runtime.set_default_device(*config.default_device);
  return {};
}

Failure initialise(const char* path) {
  service::LifeChange change;
  if (initialised()) {
    return fail(Code::already_initialized,
                "the library is initialised already; expected one aclInit per process: remove the "
                "second call, or call aclFinalize before it");
  }
  log::reload();  // a program may have set the variables after it loaded the library
  AclConfig config;
  Failure failure = load_config(path, config);
  if (!failure.ok()) return failure;
  for (const std::string& problem : env::check()) ANYNPU_LOG(warning, "{}", problem);
  if (Status status = choose_default_device(config); !status.ok()) return status;
  if (failure = start_configured_profiling(config); !failure.ok()) return failure;
  set_message_scope(config.message_scope);
  set_current_config(std::move(config));
  mark_runtime_used();
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

Status finalise() {
  service::LifeChange change;
  if (life() == Life::fresh) return detail::explain_uninitialised();
  if (life() == Life::finalised) {
    return fail(Code::already_finalized,
                "the library is finalised already; expected one aclFinalize for each aclInit");
  }
  // First the state: other threads get 100001 from here on instead of half-released objects.
  change.to(Life::finalised);
  run_finalizers();
  end_configured_profiling();
  device::Runtime::instance().reset_all();
  device::Runtime::instance().set_default_device(-1);
  set_current_config(AclConfig());
  log_leftovers();
  ANYNPU_LOG(event, "finalised");
  return {};
}

}  // namespace

}  // namespace anynpu::acl

using namespace anynpu;
using namespace anynpu::acl;

extern "C" {

aclError aclInit(const char* configPath) {
  return enter<When::before_init>(__func__, [&]() -> Failure { return initialise(configPath); });
}

aclError aclFinalize(void) {
  return enter<When::before_init>(__func__, []() -> Status { return finalise(); });
}

aclError aclFinalizeReference(uint64_t* refCount) {
  return enter<When::before_init>(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(refCount, "refCount"));
    ANYNPU_TRY(finalise());
    *refCount = 0;
    return {};
  });
}

}  // extern "C"
