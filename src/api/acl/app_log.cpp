// SPDX-License-Identifier: Apache-2.0
// aclAppLog: lines of the application in the same log, under the module APP.
#include <cstdarg>
#include <cstdio>
#include <string>

#include "acl/acl_base.h"
#include "base/log.h"

namespace anynpu::acl {

namespace {

// Levels that do not exist are not worth a failure: the function has no way to report one.
bool is_logged(aclLogLevel level) {
  return level >= ACL_DEBUG && level <= ACL_ERROR && log::enabled(static_cast<log::Level>(level));
}

std::string print(const char* format, va_list arguments) {
  va_list again;
  va_copy(again, arguments);
  const int length = std::vsnprintf(nullptr, 0, format, arguments);
  std::string text(length > 0 ? static_cast<size_t>(length) : 0, '\0');
  if (length > 0) std::vsnprintf(text.data(), text.size() + 1, format, again);
  va_end(again);
  return text;
}

struct LogSource {
  const char* function;
  const char* file;
  uint32_t line;
};

void log_line(aclLogLevel level, const LogSource& from, const char* format, va_list arguments) {
  try {
    std::string text = print(format, arguments);
    if (from.function && *from.function) text = std::string(from.function) + ": " + text;
    const std::string_view file =
        from.file ? log::detail::base_name(from.file) : std::string_view("");
    log::write(static_cast<log::Level>(level), "APP", file, static_cast<int>(from.line), text);
  } catch (...) {
    // A line that finds no memory is lost.
  }
}

}  // namespace

}  // namespace anynpu::acl

extern "C" void aclAppLog(aclLogLevel logLevel, const char* func, const char* file, uint32_t line,
                          const char* fmt, ...) {
  if (!fmt || !anynpu::acl::is_logged(logLevel)) return;
  va_list arguments;
  va_start(arguments, fmt);
  anynpu::acl::log_line(logLevel, {func, file, line}, fmt, arguments);
  va_end(arguments);
}
